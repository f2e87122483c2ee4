package sparksubmit

import (
	"cmp"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// FromApache returns what spark-submit would submit for an application of the Apache operator's API, without the properties that the operator adds to
// each application. The findings are what spark-submit cannot express.
func FromApache(app *sparkv1.SparkApplication) (*Submission, finding.List) {
	spec := app.Spec
	s := &Submission{
		Name: app.Name, Named: true, Namespace: app.Namespace, SparkVersion: spec.RuntimeVersions.SparkVersion,
		Arguments: spec.DriverArgs, ProxyUser: spec.ProxyUser, Properties: map[string]string{}, Client: map[string]string{}, origins: map[string]string{},
		DriverTemplate: templateOf(spec.DriverSpec), ExecutorTemplate: templateOf(spec.ExecutorSpec),
	}
	if spec.Files != "" {
		s.Properties[filesKey] = spec.Files
	}
	s.setMain(spec)
	maps.Copy(s.Properties, spec.SparkConf)
	for _, key := range []string{nameKey, NamespaceKey, deployModeKey} {
		delete(s.Properties, key) // the operator sets it
	}
	if master, set := s.take(MasterKey); set {
		if url, problem := masterURL(master); problem == "" {
			s.Client[MasterKey] = url
		}
	}
	if cmp.Or(s.Properties[imageKey], s.Properties[driverImageKey]) == "" && s.SparkVersion != "" {
		s.Properties[imageKey] = "apache/spark:" + s.SparkVersion // as the dialect chooses it
	}
	return s, lost(app)
}

func templateOf(spec *sparkv1.PodSpecTemplate) *corev1.PodTemplateSpec {
	if spec == nil {
		return nil
	}
	return spec.PodTemplateSpec
}

// setMain sets the application file, with the rest of its list, and the main class.
func (s *Submission) setMain(spec sparkv1.ApplicationSpec) {
	file, rest := submission.NoResource, ""
	list := jarsKey
	switch {
	case spec.Jars != "":
		file, rest, _ = strings.Cut(spec.Jars, ",")
		if spec.PyFiles != "" {
			s.Properties[pyFilesKey] = spec.PyFiles
		}
	case spec.PyFiles != "":
		list = pyFilesKey
		file, rest, _ = strings.Cut(spec.PyFiles, ",")
	case spec.SparkRFiles != "":
		file = spec.SparkRFiles
	}
	s.Resource = strings.TrimSpace(file)
	if KindOf(s.Resource) == submission.Java && spec.MainClass != submission.PythonRunner {
		s.MainClass = spec.MainClass
	}
	if rest = strings.TrimSpace(rest); rest != "" {
		s.Properties[list] = rest
	}
}

// lost returns warnings about what only an operator does.
func lost(app *sparkv1.SparkApplication) finding.List {
	var found finding.List
	for _, part := range []struct {
		field string
		given bool
	}{
		{"metadata.labels", len(app.Labels) > 0},
		{"metadata.annotations", len(app.Annotations) > 0},
		{"spec.applicationTolerations", app.Spec.ApplicationTolerations != nil},
		{"spec.driverServiceIngressList", len(app.Spec.DriverServiceIngressList) > 0},
		{"spec.driverHttpRouteList", len(app.Spec.DriverHTTPRouteList) > 0},
		{"spec.driverGrpcRouteList", len(app.Spec.DriverGRPCRouteList) > 0},
		{"spec.configMapSpecs", len(app.Spec.ConfigMapSpecs) > 0},
		{"spec.suspend", app.Spec.Suspend},
	} {
		if part.given {
			found.Warn(part.field, nil, "is lost: spark-submit has no option for it", "keep the manifest if you need it")
		}
	}
	return found
}
