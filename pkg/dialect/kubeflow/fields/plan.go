package fields

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podvalidation"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Plan returns what an attempt of the application submits. It fails if the spec asks for something that the Kubeflow
// operator does and Firesteel cannot do. The error names the field.
func Plan(app *v1beta2.SparkApplication, attempt v1alpha1.Attempt, defaults settings.Defaults) (submission.Plan, error) {
	own := names.OfAttempt(app, attempt.ID)
	p := propertiesOf(app, defaults)
	p.setProxy(app, defaults, own.AppID)
	plan := submission.Plan{
		Namespace:        app.Namespace,
		SparkVersion:     sparkVersion(app),
		Properties:       p.values(),
		MainClass:        app.Spec.MainClass,
		Resource:         mainResource(app.Spec),
		Arguments:        app.Spec.Arguments,
		ProxyUser:        app.Spec.ProxyUser,
		DriverTemplate:   driverTemplate(app),
		ExecutorTemplate: executorTemplate(app),
		Names:            own,
		// It must be the same before and after the record was stored, in any time zone: the launch ID is a hash of the plan.
		SubmitTime:     attempt.Since.UTC().Truncate(time.Microsecond),
		WithoutService: dialect.WithoutService(app, defaults.Settings),
		OneConfigMap:   dialect.OneConfigMap(app, defaults.Settings),
	}
	for r, template := range map[names.Role]*corev1.PodTemplateSpec{names.Driver: plan.DriverTemplate, names.Executor: plan.ExecutorTemplate} {
		if template != nil {
			plan.Properties[r.KubernetesProperty("podTemplateContainerName")] = r.Container()
		}
	}
	return plan, slices.Concat(checkSpec(app), checkHostname(app, plan), besideRemoteTemplates(app, plan), dialect.CheckTemplates(plan, Paths)).Err()
}

// mainResource returns the file that runs. Its suffix determines the language, as in Spark. If there is neither a file nor a class, the type does:
// the refusal then asks for what is missing.
func mainResource(spec v1beta2.SparkApplicationSpec) submission.Resource {
	resource := submission.Resource{URI: spec.MainApplicationFile}
	if resource.URI == "" && spec.MainClass == "" {
		resource.Kind = map[v1beta2.SparkApplicationType]submission.ResourceKind{
			v1beta2.PythonApplication: submission.Python, v1beta2.RApplication: submission.R,
		}[spec.Type]
	}
	return resource
}

// besideRemoteTemplates refuses templates that properties name by a URL if fields need a template of their own.
func besideRemoteTemplates(app *v1beta2.SparkApplication, plan submission.Plan) finding.List {
	var found finding.List
	templates := map[names.Role]*corev1.PodTemplateSpec{names.Driver: plan.DriverTemplate, names.Executor: plan.ExecutorTemplate}
	for _, r := range []names.Role{names.Driver, names.Executor} {
		key := r.KubernetesProperty("podTemplateFile")
		if location, named := plan.Properties[key]; named && r.Pods(&app.Spec).Template == nil && templates[r] != nil {
			found.Refuse(finding.Entry(confField, key), location, "cannot go with fields of spec."+string(r)+" that no Spark property stands for",
				"write the template into "+r.Field("template"))
		}
	}
	return found
}

// checkHostname refuses a variable that would override the one of submission.Build. With another value, executors would not
// find a driver without a Service.
func checkHostname(app *v1beta2.SparkApplication, plan submission.Plan) finding.List {
	var found finding.List
	for i, variable := range app.Spec.Driver.Env {
		if plan.WithoutService && variable.Name == submission.HostnameVariable {
			found.Add(submission.OtherHostname(names.Driver.Field(fmt.Sprintf("env[%d]", i)), variable.Value))
		}
	}
	return found
}

// checkSpec refuses what neither Spark nor the Kubeflow operator could do.
func checkSpec(app *v1beta2.SparkApplication) finding.List {
	var found finding.List
	volumes := volumesByName(app)
	for _, r := range []names.Role{names.Driver, names.Executor} {
		spec := r.Pods(&app.Spec)
		for i, mount := range spec.VolumeMounts {
			if isLocalDir(mount) && volumes[mount.Name] == nil {
				found.Refuse(r.Field(fmt.Sprintf("volumeMounts[%d].name", i)), mount.Name, "names no volume of spec.volumes", "add the volume")
			}
		}
		if spec.Cores != nil && !(*spec.Cores > 0 && *spec.Cores < 1<<31) {
			found.Refuse(r.Field("cores"), fmt.Sprint(*spec.Cores), "is no number of cores", "write one such as 1")
		}
	}
	found.Add(checkExecutorMetadata(app.Spec.Executor)...)
	found.Add(podvalidation.Volumes("spec.volumes", app.Spec.Volumes)...)
	found.Add(invalidPods(app, names.Driver)...)
	found.Add(dialect.CheckVolumes("spec.volumes", app.Spec.Volumes, app.UnknownFields)...)
	for _, r := range []names.Role{names.Driver, names.Executor} {
		if template := r.Pods(&app.Spec).Template; template != nil {
			found.Add(dialect.CheckVolumes(r.Field("template.spec.volumes"), template.Spec.Volumes, app.UnknownFields)...)
		}
	}
	if _, err := memoryLimit(app.Spec.Driver.MemoryLimit); err != nil {
		found.Refuse("spec.driver.memoryLimit", app.Spec.Driver.MemoryLimit, "is not a size", "write one such as 2g or 2Gi")
	}
	return found
}

// checkExecutorMetadata refuses labels and annotations for which the API server would refuse all executors, as long as the
// driver asks for them. submission.Build checks those of the driver.
func checkExecutorMetadata(spec v1beta2.ExecutorSpec) finding.List {
	var found finding.List
	refuse := func(field, key, value, problem string, problems []string) {
		if len(problems) > 0 {
			found.Refuse(finding.Entry(names.Executor.Field(field), key), value, problem, "correct it: "+strings.Join(problems, ", "))
		}
	}
	for _, key := range sortedKeys(spec.Labels) {
		refuse("labels", key, key, "is no label key", validation.IsQualifiedName(key))
		refuse("labels", key, spec.Labels[key], "is no label value", validation.IsValidLabelValue(spec.Labels[key]))
	}
	for _, key := range sortedKeys(spec.Annotations) {
		refuse("annotations", key, key, "is no annotation key", validation.IsQualifiedName(strings.ToLower(key)))
	}
	return found
}
