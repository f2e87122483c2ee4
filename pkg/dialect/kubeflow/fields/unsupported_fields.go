package fields

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// UnsupportedFields returns what the spec asks for and Firesteel does not do. The application runs anyway. If that would run
// the wrong code, Plan refuses the application instead.
func UnsupportedFields(app *v1beta2.SparkApplication, defaults settings.Defaults) finding.List {
	return unsupportedFields(app, defaults, oldImages(app))
}

// UnsupportedBesidesImages is UnsupportedFields of an application whose images the caller has judged by their names.
func UnsupportedBesidesImages(app *v1beta2.SparkApplication, defaults settings.Defaults) finding.List {
	return unsupportedFields(app, defaults, nil)
}

func unsupportedFields(app *v1beta2.SparkApplication, defaults settings.Defaults, ofImages finding.List) finding.List {
	var found finding.List
	version := sparkVersion(app)
	if rules, known := submission.RulesFor(version); !known {
		found.Warn("spec.sparkVersion", version, fmt.Sprintf("is not known, and submitted as Spark %d.%d submits", rules.Major, rules.Minor),
			"write the image's, such as 4.1.0")
	}
	found.Add(ofImages...)
	found = slices.Concat(found, overruled(app, defaults), unsupportedForExecutors(app, defaults), invalidForExecutors(app))
	for _, r := range []names.Role{names.Driver, names.Executor} {
		found = append(found, unsupportedInPods(app, r)...)
	}
	found = append(found, unsupportedInApplication(app, defaults)...)
	found = append(found, dialect.AnnotationWarnings(app)...)
	found.WarnOfUnknown(app.UnknownFields, app)
	return found
}

// overruled warns of properties whose value is overridden by a field or by the operator.
func overruled(app *v1beta2.SparkApplication, defaults settings.Defaults) finding.List {
	var found finding.List
	p := propertiesOf(app, defaults)
	for _, key := range sortedKeys(app.Spec.SparkConf) {
		if len(found) >= finding.Max {
			return found
		}
		given := app.Spec.SparkConf[key]
		effective, set := p[key]
		shown := redact.Value(key, effective.value)
		switch {
		case !strings.HasPrefix(key, "spark."):
			found.Warn(finding.Entry("spec.sparkConf", key), nil, policy.KubeflowForeign.Message, policy.KubeflowForeign.Remedy)
		case defaults.Discourages(key):
			found.Warn(finding.Entry("spec.sparkConf", key), given, "works here, though newer versions of the Kubeflow operator refuse it", insteadOf(key))
		case !set:
			found.Warn(finding.Entry("spec.sparkConf", key), given, "has no effect, another field gives executors that variable", "leave one of them out")
		case effective.value == given, strings.HasPrefix(effective.value, given+" "): // a Java agent was added to the options
		case effective.field == "metadata":
			found.Warn(finding.Entry("spec.sparkConf", key), given, text.Format("has no effect, it is always %q", shown), "leave it out")
		default:
			found.Warn(finding.Entry("spec.sparkConf", key), given, text.Format("has no effect, %s says %q", cmp.Or(effective.field, effective.source), shown), "leave one of them out")
		}
	}
	for _, labelled := range []struct {
		field  string
		labels map[string]string
		role   names.Role
	}{
		{"metadata.labels", app.Labels, names.Driver},
		{"spec.driver.labels", app.Spec.Driver.Labels, names.Driver},
		{"spec.executor.labels", app.Spec.Executor.Labels, names.Executor},
	} {
		own := names.OwnLabels(app, labelled.role)
		for _, key := range sortedKeys(labelled.labels) {
			if value := own[key]; value != "" && labelled.labels[key] != value {
				found.Warn(finding.Entry(labelled.field, key), labelled.labels[key], text.Format("has no effect, it is always %q", value), "leave it out")
			}
		}
	}
	return found
}

// unsupportedForExecutors warns of what Spark gives to no executor, whatever a template says.
func unsupportedForExecutors(app *v1beta2.SparkApplication, defaults settings.Defaults) finding.List {
	var found finding.List
	spec, p := app.Spec.Executor, propertiesOf(app, defaults)
	executors, err := submission.PlannedExecutors(submission.Plan{
		SparkVersion: sparkVersion(app), Properties: p.values(), Resource: mainResource(app.Spec),
	})
	if err != nil {
		found.Add(dialect.NoExecutors(Refusals(err, app, defaults))...)
	}
	if given := spec.MemoryLimit; given != "" && !isExecutorMemory(executors, given) {
		found.Warn("spec.executor.memoryLimit", given, "has no effect, Spark limits executors to the memory that they request",
			"raise spec.executor.memoryOverhead instead")
	}
	if spec.Lifecycle != nil && strings.EqualFold(p[decommissionKey].value, "true") {
		found.Warn("spec.executor.lifecycle", nil, "has no effect with "+decommissionKey+", by which Spark sets one of its own",
			"leave one of them out")
	}
	return append(found, unsupportedVariables(spec.Env, p)...)
}

// isExecutorMemory reports whether a limit equals the one that Spark sets by itself.
func isExecutorMemory(executors submission.Executors, given string) bool {
	limit, err := memoryLimit(given)
	return err == nil && limit.Cmp(executors.Requests["memory"]) == 0
}

// unsupportedInPods warns of values that have no meaning for a Pod.
func unsupportedInPods(app *v1beta2.SparkApplication, r names.Role) finding.List {
	var found finding.List
	spec := r.Pods(&app.Spec)
	if gpu := spec.GPU; gpu != nil && (gpu.Name == "" || gpu.Quantity <= 0) {
		found.Warn(r.Field("gpu"), gpu.Name, fmt.Sprintf("of %d has no effect", gpu.Quantity),
			"write the name of a resource such as nvidia.com/gpu, and how many")
	}
	for i, secret := range spec.Secrets {
		if !slices.Contains(secretTypes, secret.Type) {
			found.Warn(r.Field(fmt.Sprintf("secrets[%d].secretType", i)), secret.Type,
				text.Format("is not known, so that the secret %q is mounted and no environment variable leads to it", secret.Name),
				fmt.Sprintf("write one of %s", secretTypes[1:]))
		}
		if secret.Path == "" && mountedBySpark(secret) {
			found.Warn(r.Field(fmt.Sprintf("secrets[%d].path", i)), nil, text.Format("is missing, and the secret %q is not mounted", secret.Name), "set it")
		}
	}
	volumes, inTemplate := volumesByName(app), volumesOfTemplate(spec)
	for i, mount := range spec.VolumeMounts {
		if volumes[mount.Name] == nil && !inTemplate[mount.Name] {
			found.Warn(r.Field(fmt.Sprintf("volumeMounts[%d]", i)), mount.Name, "is not mounted, spec.volumes has no such volume", "add it")
		}
	}
	if spec.Template != nil {
		found.Add(podtemplate.FinalizersDropped(r.Field("template.metadata.finalizers"), spec.Template.Finalizers)...)
	}
	if name := app.Spec.BatchScheduler; name != "" && spec.SchedulerName != "" && spec.SchedulerName != name {
		found.Warn(r.Field("schedulerName"), spec.SchedulerName, text.Format("has no effect, spec.batchScheduler says %q", name), "leave one of them out")
	}
	return found
}

// secretTypes are the values of secretType. An empty value means Generic.
var secretTypes = []v1beta2.SecretType{"", v1beta2.GenericSecret, v1beta2.GCPServiceAccountSecret, v1beta2.HadoopDelegationTokenSecret}

// volumesOfTemplate returns the names of the volumes of the user's template.
func volumesOfTemplate(spec *v1beta2.SparkPodSpec) map[string]bool {
	if spec.Template == nil {
		return nil
	}
	return volumeNames(spec.Template.Spec.Volumes)
}

// unsupportedInApplication warns of what the operator's settings do not allow, and of what has nothing to act on.
func unsupportedInApplication(app *v1beta2.SparkApplication, defaults settings.Defaults) finding.List {
	var found finding.List
	first := volumesByName(app)
	for i := range app.Spec.Volumes {
		if volume := &app.Spec.Volumes[i]; first[volume.Name] != volume {
			found.Warn(fmt.Sprintf("spec.volumes[%d].name", i), volume.Name, "is the name of an earlier volume, and this one has no effect", "choose another")
		}
	}
	if isTrue(app.Spec.DriverPodDisruptionBudget) && !defaults.DriverPodDisruptionBudget {
		found.Warn("spec.driverPodDisruptionBudget", true, "has no effect, the operator's settings do not allow it", "leave it out")
	}
	if app.Spec.BatchSchedulerOptions != nil && gangOf(app, defaults).Scheduler == "" {
		found.Warn("spec.batchSchedulerOptions", nil, text.Format(
			"has no effect but for its priorityClassName, the operator's settings know no batch scheduler %q", batchScheduler(app, defaults)),
			"leave it out, or have that scheduler added to them")
	}
	if app.Spec.Monitoring != nil && !exposes(app, names.Driver) && !exposes(app, names.Executor) {
		found.Warn(metricsField, nil, "exposes nothing", "set exposeDriverMetrics or exposeExecutorMetrics, and prometheus or metricsProperties")
	}
	found = slices.Concat(found, unsupportedUIOptions(app.Spec.SparkUIOptions, defaults), unsupportedRetries(app.Spec.RestartPolicy),
		unmountedVolumes(app.Spec), unsupportedSinceLong(app.Spec), prefixedTwice(app.Spec.HadoopConf))
	if version := app.Spec.PythonVersion; version != nil && version.String() == pythonTwo {
		found.Warn(pythonVersionField, pythonTwo, "has no effect, no Spark since 3.1 has Python 2, and the application runs with Python 3", "leave it out")
	}
	if app.Spec.Mode != "" && app.Spec.DeployMode != "" && app.Spec.Mode != app.Spec.DeployMode {
		found.Warn("spec.deployMode", app.Spec.DeployMode, text.Format("has no effect, spec.mode is its newer spelling and says %q", app.Spec.Mode),
			"leave it out")
	}
	return found
}

// prefixedTwice warns of keys of spec.hadoopConf with the prefix of Spark properties, which is put before each key.
func prefixedTwice(conf v1beta2.Properties) finding.List {
	var found finding.List
	for _, key := range sortedKeys(conf) {
		if name, prefixed := strings.CutPrefix(key, hadoopPrefix); prefixed && len(found) < finding.Max {
			found.Warn(finding.Entry("spec.hadoopConf", key), conf[key], text.Format("becomes the property %q, from which Hadoop reads no %s", hadoopPrefix+key, name),
				"write the key "+name)
		}
	}
	return found
}

// unsupportedSinceLong warns of fields that the Kubeflow operator's oldest documents have and its present code does not
// read.
func unsupportedSinceLong(spec v1beta2.SparkApplicationSpec) finding.List {
	var found finding.List
	given := map[string]bool{
		"initContainerImage": spec.InitContainerImage != "", "deps.jarsDownloadDir": spec.Deps.JarsDownloadDir != "",
		"deps.filesDownloadDir": spec.Deps.FilesDownloadDir != "", "deps.downloadTimeout": spec.Deps.DownloadTimeout != nil,
		"deps.maxSimultaneousDownloads": spec.Deps.MaxSimultaneousDownloads != nil,
		"failureRetries":                spec.FailureRetries != nil, "retryInterval": spec.RetryInterval != nil,
	}
	for _, old := range policy.KubeflowNoEffect {
		if given[old.Field] {
			found.Warn("spec."+old.Field, nil, old.Message, old.Remedy)
		}
	}
	return found
}

// unsupportedUIOptions warns of options for the UI's Service or Ingress if the operator's settings create none.
func unsupportedUIOptions(options *v1beta2.SparkUIConfiguration, defaults settings.Defaults) finding.List {
	var found finding.List
	switch {
	case options == nil:
	case !defaults.UIService:
		found.Warn("spec.sparkUIOptions", nil, "has no effect, the operator's settings have no Service for the UI", "leave it out")
	case defaults.Ingress.Gateway != nil && (len(options.IngressAnnotations) > 0 || len(options.IngressTLS) > 0):
		found.Warn("spec.sparkUIOptions.ingressAnnotations", nil, "and ingressTLS have no effect, the operator's settings have a Gateway and no Ingress for the UI",
			"leave them out, and have the Gateway do what they ask for")
	case defaults.Ingress.URLFormat == "" && (len(options.IngressAnnotations) > 0 || len(options.IngressTLS) > 0):
		found.Warn("spec.sparkUIOptions.ingressAnnotations", nil, "and ingressTLS have no effect, the operator's settings have no Ingress for the UI",
			"leave them out, or have the address of one added to them")
	}
	return found
}

// unsupportedRetries warns of numbers of retries of an application that is not retried.
func unsupportedRetries(policy v1beta2.RestartPolicy) finding.List {
	var found finding.List
	if types := []v1beta2.RestartPolicyType{"", v1beta2.RestartNever, v1beta2.RestartAlways, v1beta2.RestartOnFailure}; !slices.Contains(types, policy.Type) {
		found.Warn("spec.restartPolicy.type", policy.Type, "is not known and counts as Never", "write one of Never, Always, OnFailure")
		return found
	}
	if policy.Type != "" && policy.Type != v1beta2.RestartNever {
		return nil
	}
	for _, retries := range []struct {
		field string
		given *int32
	}{
		{"onFailureRetries", policy.OnFailureRetries},
		{"onSubmissionFailureRetries", policy.OnSubmissionFailureRetries},
	} {
		if retries.given != nil && *retries.given > 0 {
			found.Warn("spec.restartPolicy."+retries.field, *retries.given,
				fmt.Sprintf("has no effect, what is to be tried again needs spec.restartPolicy.type %s", v1beta2.RestartOnFailure), "write it")
		}
	}
	return found
}

// unmountedVolumes warns of volumes that no container of the spec mounts.
func unmountedVolumes(spec v1beta2.SparkApplicationSpec) finding.List {
	var found finding.List
	mounted := map[string]bool{}
	for _, r := range []names.Role{names.Driver, names.Executor} {
		pods := r.Pods(&spec)
		for _, mount := range slices.Concat(pods.VolumeMounts, mountsOf(pods.InitContainers), mountsOf(pods.Sidecars)) {
			mounted[mount.Name] = true
		}
	}
	for i, volume := range spec.Volumes {
		if !mounted[volume.Name] {
			found.Warn(fmt.Sprintf("spec.volumes[%d]", i), volume.Name, "is in no Pod, neither driver nor executor mounts it",
				"add it to their volumeMounts, or leave it out")
		}
	}
	return found
}
