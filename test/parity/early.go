package parity

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Early is the early operator's API.
const Early = "early"

// InEarly reports whether a case can be given in that API: it has no field for templates, and none for another user.
func (c Case) InEarly() bool { return c.Driver == "" && c.Executor == "" && c.ProxyUser == "" }

// EarlyManifest returns the case as a user of the early operator's API writes it, with today's properties.
func (c Case) EarlyManifest(version, namespace string) ([]byte, error) {
	conf := maps.Clone(c.Conf)
	delete(conf, "spark.kubernetes.namespace") // the application's own
	return yaml.Marshal(Object{
		"apiVersion": "spark-operator.k8s.io/v1alpha1", "kind": "SparkApplication",
		"metadata": Object{
			"name": appName, "namespace": namespace, "annotations": Object{early.AnnotationSparkVersion: version},
		},
		"spec": Object{"mainClass": c.Class, "mainApplicationFile": c.Resource, "arguments": c.Args, "sparkConf": conf},
	})
}

// DecodeEarly reads such a manifest as the controller reads what the API server has of it.
func DecodeEarly(manifest []byte) (*v1alpha1.SparkApplication, error) {
	app := &v1alpha1.SparkApplication{}
	return app, decode(manifest, app, &app.UnknownFields)
}

// earlySettings deny nothing.
func earlySettings() early.Settings {
	s := early.NewSettings()
	s.DeniedProperties = nil
	return s
}

// RefusalInEarly is what the condition of the application says of a refusal, if there is one.
func RefusalInEarly(refusal error, app *v1alpha1.SparkApplication) string {
	if refusal == nil {
		return ""
	}
	return early.Refusals(refusal, app, earlySettings()).String()
}

// placeInEarly is where in a manifest of the early operator's API the refused field is.
func (c Case) placeInEarly() string {
	switch field, _, _ := strings.Cut(c.Refused, "."); {
	case c.Refused == imageKey && c.Conf[c.Refused] == "":
		return "spec.driver.image"
	case field == "spark":
		return finding.Entry("spec.sparkConf", c.Refused)
	case field == "resource":
		return "spec.mainApplicationFile"
	default:
		return "spec." + c.Refused
	}
}

// BuildEarly returns the objects that Firesteel makes of an application that a case is, but for the Service of the UI, or the refusal. The
// names of the objects are Spark's, so that those of a recording are the same.
func (c Case) BuildEarly(app *v1alpha1.SparkApplication) ([]Object, error) {
	s := earlySettings()
	if refused := early.Policy(app, s).Refused; refused != nil {
		return nil, errors.New(refused.Message)
	}
	plan, err := early.Plan(app, firesteelv1alpha1.Attempt{Since: metav1.NewMicroTime(time.UnixMilli(0))}, s)
	if err != nil {
		return nil, err
	}
	return c.build(plan, app.Namespace, func(built *submission.Objects) error {
		err := early.Complete(app, s, built)
		built.Owned = slices.DeleteFunc(built.Owned, func(object submission.Object) bool { return object == built.UI.Service })
		return err
	})
}

// Early returns the expected objects of the case as an application of the early operator's API: those of the recording, with what
// that API adds to them. If the case names no number of executors, it has that of Spark.
func (r *Recording) Early(c Case, app *v1alpha1.SparkApplication) *Recording {
	if r.RefusedBy != "" {
		return r
	}
	return &Recording{Fields: r.named(c, properties{early.LabelAppID: early.AppID(app), early.LabelApplication: appName}, "2")}
}
