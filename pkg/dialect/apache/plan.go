package apache

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// The labels that the Apache operator puts on the pods of an application.
const (
	LabelOperator    = "spark.operator/name"
	LabelApplication = "spark.operator/spark-app-name"
)

// OperatorName is the value of LabelOperator, the Apache operator's default.
const OperatorName = "spark-kubernetes-operator"

const (
	useDriverPodIPKey = "spark.kubernetes.executor.useDriverPodIP"
	// The properties that name Spark's container in a template.
	driverContainerKey   = "spark.kubernetes.driver.podTemplateContainerName"
	executorContainerKey = "spark.kubernetes.executor.podTemplateContainerName"
)

// Plan returns what an attempt of the application submits. It fails if the spec asks for something that the Apache operator
// does and Firesteel cannot do. The error names the field.
func Plan(app *sparkv1.SparkApplication, attempt v1alpha1.Attempt, defaults Defaults) (submission.Plan, error) {
	version := app.Spec.RuntimeVersions.SparkVersion
	image := defaults.Image
	if image == "" && version != "" {
		image = "apache/spark:" + version
	}
	resource, _ := mainResource(app.Spec)
	own := Names(app, attempt.ID)
	plan := submission.Plan{
		Namespace:        app.Namespace,
		SparkVersion:     version,
		Properties:       properties(app, defaults, own.AppID),
		MainClass:        app.Spec.MainClass,
		Resource:         resource,
		Arguments:        app.Spec.DriverArgs,
		ProxyUser:        app.Spec.ProxyUser,
		DriverTemplate:   template(app.Spec.DriverSpec),
		ExecutorTemplate: template(app.Spec.ExecutorSpec),
		DefaultImage:     submission.WithVersion(image, version),
		Names:            own,
		// It must be the same before and after the record was stored, in any time zone: the launch ID is a hash of the plan.
		SubmitTime:     attempt.Since.UTC().Truncate(time.Microsecond),
		WithoutService: dialect.WithoutService(app, defaults.Settings),
		OneConfigMap:   dialect.OneConfigMap(app, defaults.Settings),
	}
	return plan, slices.Concat(unfitID(app), checkVolumes(app), invalidDriver(app, plan), dialect.CheckTemplates(plan, API.Fields)).Err()
}

// checkVolumes refuses volumes of the templates whose source is misspelt.
func checkVolumes(app *sparkv1.SparkApplication) finding.List {
	check := func(field string, spec *sparkv1.PodSpecTemplate) finding.List {
		if template := template(spec); template != nil {
			return dialect.CheckVolumes(field+".spec.volumes", template.Spec.Volumes, app.UnknownFields)
		}
		return nil
	}
	return slices.Concat(check(API.Fields.DriverTemplate, app.Spec.DriverSpec), check(API.Fields.ExecutorTemplate, app.Spec.ExecutorSpec))
}

// invalidDriver returns the values in the driver's template that the API server refuses.
func invalidDriver(app *sparkv1.SparkApplication, plan submission.Plan) finding.List {
	return dialect.CheckTemplateValues(API.Fields.DriverTemplate, template(app.Spec.DriverSpec), plan.Properties[driverContainerKey])
}

// invalidExecutors warns of the values in the executors' template that the API server refuses.
func invalidExecutors(app *sparkv1.SparkApplication, defaults Defaults) finding.List {
	return dialect.NoExecutors(dialect.CheckTemplateValues(
		API.Fields.ExecutorTemplate, template(app.Spec.ExecutorSpec), property(app, defaults, executorContainerKey)))
}

// unfitID refuses a user's ID that cannot begin the names of an attempt's objects.
func unfitID(app *sparkv1.SparkApplication) finding.List {
	id := app.Spec.SparkConf[appIDKey]
	if id == "" || len(id) <= maxLabel && len(validation.IsDNS1123Subdomain(id)) == 0 {
		return nil
	}
	return finding.List{{
		Severity: finding.Error, Field: finding.Entry("spec.sparkConf", appIDKey), Value: id, Message: "cannot begin the names of objects",
		Remedy: "write lower-case letters, digits and hyphens, at most 63, or leave it out",
	}}
}

// mainResource picks the main resource as the Apache operator does. A jar wins over Python and R. With PythonRunner as the
// main class, the first Python file is the application and the others are its modules.
func mainResource(spec sparkv1.ApplicationSpec) (resource submission.Resource, pyFiles string) {
	switch {
	case spec.Jars != "":
		return submission.Resource{Kind: submission.Java, URI: spec.Jars}, spec.PyFiles
	case spec.MainClass == submission.PythonRunner && spec.PyFiles != "":
		first, rest, _ := strings.Cut(spec.PyFiles, ",")
		return submission.Resource{Kind: submission.Python, URI: strings.TrimSpace(first)}, rest
	case spec.PyFiles != "":
		return submission.Resource{Kind: submission.Python, URI: spec.PyFiles}, spec.PyFiles
	case spec.SparkRFiles != "":
		return submission.Resource{Kind: submission.R, URI: spec.SparkRFiles}, ""
	default:
		return submission.Resource{Kind: submission.Java}, ""
	}
}

// properties returns the Spark properties of an attempt, with those that name its group for a batch scheduler.
func properties(app *sparkv1.SparkApplication, defaults Defaults, appID string) map[string]string {
	conf := propertiesWithoutGang(app, defaults)
	maps.Copy(conf, gangProperties(gangOf(app, defaults, conf, appID)))
	return conf
}

// propertiesWithoutGang returns the Spark properties of an attempt. Those that only the operator can set win. Then come the
// application's, then the operator's defaults, then the Apache operator's defaults.
func propertiesWithoutGang(app *sparkv1.SparkApplication, defaults Defaults) map[string]string {
	upstream, fixed := upstreamProperties(app, defaults), fixedProperties(app)
	conf := make(map[string]string, len(upstream)+len(defaults.Properties)+len(app.Spec.SparkConf)+len(fixed))
	maps.Copy(conf, upstream)
	if dialect.WithoutService(app, defaults.Settings) {
		maps.DeleteFunc(conf, ofService)
		maps.DeleteFunc(fixed, ofService)
	}
	maps.Copy(conf, defaults.Properties)
	_, pyFiles := mainResource(app.Spec)
	maps.Copy(conf, specProperties(app, pyFiles))
	maps.Copy(conf, app.Spec.SparkConf)
	if _, named := conf[appNameKey]; !named {
		delete(fixed, appNameKey) // the Apache operator leaves the name to Spark then
	}
	maps.Copy(conf, fixed)
	return conf
}

// ofService reports whether a property has a meaning only for a driver with a Service.
func ofService(key, _ string) bool {
	return strings.HasPrefix(key, submission.ServicePrefix) || key == useDriverPodIPKey
}

// fixedProperties are those that only the operator can set. A manifest that sets one is accepted, as in the Apache operator.
// UnsupportedFields warns that it has no effect.
func fixedProperties(app *sparkv1.SparkApplication) map[string]string {
	fixed := map[string]string{
		"spark.kubernetes.namespace": app.Namespace,
		"spark.submit.deployMode":    "cluster",
		appNameKey:                   app.Name,
	}
	for _, role := range []string{"driver.label", "driver.service.label", "executor.label"} {
		fixed["spark.kubernetes."+role+"."+LabelOperator] = OperatorName
		fixed["spark.kubernetes."+role+"."+LabelApplication] = applicationLabel(app)
	}
	return fixed
}

// specProperties returns the properties that fields of the spec stand for.
func specProperties(app *sparkv1.SparkApplication, pyFiles string) map[string]string {
	conf := map[string]string{
		"spark.jars":           app.Spec.Jars,
		"spark.submit.pyFiles": pyFiles,
		"spark.files":          app.Spec.Files,
	}
	maps.DeleteFunc(conf, func(_, value string) bool { return value == "" || value == submission.NoResource })
	return conf
}

// upstreamProperties are the Apache operator's defaults.
func upstreamProperties(app *sparkv1.SparkApplication, defaults Defaults) map[string]string {
	conf := map[string]string{
		"spark.authenticate":                                       "true",
		"spark.io.encryption.enabled":                              "true",
		"spark.kubernetes.driver.annotateExitException":            "true",
		"spark.kubernetes.driver.service.publishNotReadyAddresses": "true",
		useDriverPodIPKey:                                          "true",
	}
	if policy := Policy(app, defaults); !policy.Executors.Dynamic && policy.Restart.Policy == lifecycle.RestartNever {
		conf["spark.kubernetes.executor.deleteOnTermination"] = "false"
	}
	return conf
}

// applicationLabel returns the application's name. It is shortened if it is not a valid label value.
func applicationLabel(app *sparkv1.SparkApplication) string {
	return shortened(app.Name, maxLabel, app.Namespace, app.Name)
}

func template(spec *sparkv1.PodSpecTemplate) *corev1.PodTemplateSpec {
	if spec == nil {
		return nil
	}
	return spec.PodTemplateSpec
}

// Decorate changes the objects of an attempt as the Apache operator does after Spark's builder. All objects that the driver
// owns get the driver's labels. No container of the driver may gain privileges, with two exceptions: its template decides
// it, or its template makes it privileged, which Kubernetes does not allow together with that.
func Decorate(objects *submission.Objects) {
	for _, owned := range objects.Owned {
		labels := maps.Clone(objects.Driver.Labels)
		maps.Copy(labels, owned.GetLabels())
		owned.SetLabels(labels)
	}
	for _, containers := range [][]corev1.Container{objects.Driver.Spec.InitContainers, objects.Driver.Spec.Containers} {
		for i := range containers {
			forbidEscalation(&containers[i])
		}
	}
}

func forbidEscalation(container *corev1.Container) {
	if container.SecurityContext == nil {
		container.SecurityContext = &corev1.SecurityContext{}
	}
	if context := container.SecurityContext; context.AllowPrivilegeEscalation == nil && !podsecurity.Privileged(context) {
		forbidden := false
		context.AllowPrivilegeEscalation = &forbidden
	}
}
