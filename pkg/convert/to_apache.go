package convert

import (
	"math"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const (
	appNameKey = "spark.app.name"
	imageKey   = "spark.kubernetes.container.image"
	jarsKey    = "spark.jars"
	pyFilesKey = "spark.submit.pyFiles"
	filesKey   = "spark.files"
)

// kubeflowSettings returns the default settings of that API without denied properties: each cluster denies others.
func kubeflowSettings() settings.Defaults {
	defaults := settings.NewDefaults()
	defaults.DeniedProperties = nil
	return defaults
}

// planOfKubeflow returns the plan of an application, or an error if the application would be refused.
func planOfKubeflow(app *v1beta2.SparkApplication) (submission.Plan, error) {
	defaults := kubeflowSettings()
	plan, err := fields.Plan(app, v1alpha1.Attempt{}, defaults)
	refused := append(fields.Invalid(app, defaults), fields.Refusals(err, app, defaults)...)
	return plan, refused.Err()
}

// toApache converts an application of the Kubeflow operator's API.
func toApache(app *v1beta2.SparkApplication) (*sparkv1.SparkApplication, finding.List, error) {
	plan, err := planOfKubeflow(app)
	if err != nil {
		return nil, nil, err
	}
	if plan.SparkVersion == "" {
		return nil, nil, &finding.Finding{Field: "spec.sparkVersion", Message: finding.Missing, Remedy: "write the version of Spark, which spark.apache.org needs"}
	}
	driver, executor := fields.DriverTemplate(app), plan.ExecutorTemplate
	conf := userProperties(plan.Properties, app.Name, labelsOfKubeflow)
	conf[appNameKey] = app.Name // without it, Spark chooses the name
	for role, template := range map[names.Role]*corev1.PodTemplateSpec{names.Driver: driver, names.Executor: executor} {
		setContainerName(conf, role, template)
	}
	simplifyImages(conf)
	made := &sparkv1.SparkApplication{ObjectMeta: metadataOf(app)}
	made.Spec = sparkv1.ApplicationSpec{
		RuntimeVersions: sparkv1.RuntimeVersions{SparkVersion: plan.SparkVersion},
		MainClass:       plan.MainClass, ProxyUser: plan.ProxyUser, DriverArgs: plan.Arguments, Suspend: app.Spec.Suspend,
		DriverSpec: podTemplate(driver), ExecutorSpec: podTemplate(executor),
		ApplicationTolerations: tolerationsOf(app),
	}
	setResource(&made.Spec, plan.Resource, conf)
	if metrics := fields.MetricsConfigMap(app); metrics != nil {
		made.Spec.ConfigMapSpecs = []sparkv1.ConfigMapSpec{{Name: metrics.Name, Data: metrics.Data}}
	}
	lost := lostOfKubeflow(app, lostInApache)
	lost.Add(lostRestarts(app)...)
	var planned map[string]string
	made.Spec.SparkConf, planned, err = sparkConf(conf, func(conf map[string]string) (map[string]string, error) {
		made.Spec.SparkConf = conf
		plan, err := apache.Plan(made, v1alpha1.Attempt{}, apache.Defaults{Settings: dialect.NewSettings()})
		return plan.Properties, err
	})
	if err != nil {
		return nil, nil, err
	}
	lost.Add(addedBy("spark.apache.org", conf, userProperties(planned, app.Name, labelsOfApache))...)
	return made, lost, nil
}

// setContainerName names Spark's container in a template with several. The plan names it for the user's own templates.
func setContainerName(conf map[string]string, role names.Role, template *corev1.PodTemplateSpec) {
	key := role.KubernetesProperty("podTemplateContainerName")
	if _, named := conf[key]; !named && template != nil && len(template.Spec.Containers) > 1 {
		conf[key] = role.Container()
	}
}

// simplifyImages replaces the images of both roles by one property if they are the same.
func simplifyImages(conf map[string]string) {
	driver, executor := conf[names.Driver.KubernetesProperty("container.image")], conf[names.Executor.KubernetesProperty("container.image")]
	if driver == "" || driver != executor {
		return
	}
	conf[imageKey] = driver
	delete(conf, names.Driver.KubernetesProperty("container.image"))
	delete(conf, names.Executor.KubernetesProperty("container.image"))
}

func podTemplate(template *corev1.PodTemplateSpec) *sparkv1.PodSpecTemplate {
	if template == nil {
		return nil
	}
	return &sparkv1.PodSpecTemplate{PodTemplateSpec: template}
}

// setResource sets the field of the main resource. In pyFiles, Python modules follow the main resource.
func setResource(spec *sparkv1.ApplicationSpec, resource submission.Resource, conf map[string]string) {
	switch {
	case resource.URI == "" || resource.URI == submission.NoResource:
	case strings.HasSuffix(resource.URI, ".py"):
		spec.MainClass, spec.PyFiles = submission.PythonRunner, resource.URI
		if modules := conf[pyFilesKey]; modules != "" {
			spec.PyFiles += "," + modules
		}
	case strings.HasSuffix(strings.ToLower(resource.URI), ".r"):
		spec.SparkRFiles = resource.URI
	default:
		spec.Jars = resource.URI
	}
	spec.Files = conf[filesKey]
}

// tolerationsOf returns the tolerations that make an application behave as with the Kubeflow operator, which bounds no wait and retains each driver
// Pod.
func tolerationsOf(app *v1beta2.SparkApplication) *sparkv1.ApplicationTolerations {
	policy := fields.Policy(app, kubeflowSettings())
	tolerations := &sparkv1.ApplicationTolerations{
		ResourceRetainPolicy: sparkv1.RetainAlways,
		ApplicationTimeoutConfig: &sparkv1.ApplicationTimeoutConfig{
			DriverStartTimeoutMillis: millis(policy.Timeouts.DriverStart), DriverReadyTimeoutMillis: millis(0),
			ExecutorStartTimeoutMillis: millis(policy.Timeouts.ExecutorStart),
		},
	}
	if policy.TTL >= 0 {
		tolerations.TTLAfterStopMillis = millis(policy.TTL)
	}
	if restart := policy.Restart; restart.Policy != lifecycle.RestartNever {
		tolerations.RestartConfig = &sparkv1.RestartConfig{
			RestartPolicy: sparkv1.RestartPolicy(restart.Policy), MaxRestartAttempts: ptr.To[int64](math.MaxInt32), RestartBackoffMillis: millis(restart.Backoff),
			MaxRestartOnFailure: restart.OnFailure.MaxAttempts, RestartBackoffMillisForFailure: optionalMillis(restart.OnFailure.Backoff),
			MaxRestartOnSchedulingFailure:            restart.OnSchedulingFailure.MaxAttempts,
			RestartBackoffMillisForSchedulingFailure: optionalMillis(restart.OnSchedulingFailure.Backoff),
		}
	}
	return tolerations
}

func millis(duration time.Duration) *int64 { return ptr.To(duration.Milliseconds()) }

func optionalMillis(duration *time.Duration) *int64 {
	if duration == nil {
		return nil
	}
	return millis(*duration)
}

// lostRestarts returns warnings about restarts and suspend, which work in another way.
func lostRestarts(app *v1beta2.SparkApplication) finding.List {
	var lost finding.List
	if policy := fields.Policy(app, kubeflowSettings()); policy.Restart.Policy != lifecycle.RestartNever {
		lost.Warn("spec.restartPolicy", nil, "has intervals that grow with each failure, and spark.apache.org has constant ones",
			"choose spec.applicationTolerations.restartConfig.restartBackoffMillisForFailure")
	}
	if app.Spec.Suspend {
		lost.Warn("spec.suspend", true, "stops a running driver, and in spark.apache.org holds the next launch only", "stop the application first")
	}
	return lost
}
