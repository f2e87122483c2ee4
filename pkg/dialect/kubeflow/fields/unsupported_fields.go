package fields

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// messageList are what is said of an application.
type messageList []string

// maxMessages is how many are said. Nobody reads more, and a condition holds fewer.
const maxMessages = 64

func (s *messageList) add(format string, values ...any) {
	if len(*s) < maxMessages {
		*s = append(*s, text.Format(format, values...)+".")
	}
}

// UnsupportedFields names what the spec asks for and does not get, one sentence each. The application runs all the same; what
// would run the wrong code is refused by Plan instead.
func UnsupportedFields(app *v1beta2.SparkApplication, defaults settings.Defaults) []string {
	var messages messageList
	version := app.Spec.SparkVersion
	if rules, known := submission.RulesFor(version); !known {
		messages.add("spec.sparkVersion %q is not known, and submitted as Spark %d.%d submits: write the image's, such as 4.1.0",
			version, rules.Major, rules.Minor)
	}
	messages = slices.Concat(messages, overruled(app, defaults), unsupportedForExecutors(app, defaults), invalidForExecutors(app))
	for _, r := range []names.Role{names.Driver, names.Executor} {
		messages = append(messages, unsupportedInPods(app, r)...)
	}
	messages = append(messages, unsupportedInApplication(app, defaults)...)
	messages = append(messages, dialect.BoundWarnings(app)...)
	for _, unknown := range app.UnknownFields {
		messages.add("%s is dropped: correct its spelling", unknown)
	}
	return messages
}

// overruled speaks of properties whose value another gets: a field's, or the operator's.
func overruled(app *v1beta2.SparkApplication, defaults settings.Defaults) []string {
	var messages messageList
	p := propertiesOf(app, defaults)
	for _, key := range sortedKeys(app.Spec.SparkConf) {
		if len(messages) >= maxMessages {
			return messages
		}
		given := app.Spec.SparkConf[key]
		effective, set := p[key]
		shown := func(value string) string { return redact.Value(key, value) }
		switch {
		case !strings.HasPrefix(key, "spark."):
			messages.add("spec.sparkConf %q is dropped, Spark reads only what begins with spark.: leave it out, or write it into spec.hadoopConf "+
				"if it is a property of Hadoop's", key)
		case defaults.Discourages(key):
			messages.add("spec.sparkConf %s %q works here, though newer versions of the Kubeflow operator refuse it: %s", key, shown(given), insteadOf(key))
		case !set:
			messages.add("spec.sparkConf %s %q has no effect, another field gives executors that variable: leave one of them out", key, shown(given))
		case effective.value == given, strings.HasPrefix(effective.value, given+" "): // as Java options with an agent
		case effective.field == "metadata":
			messages.add("spec.sparkConf %s %q has no effect, it is always %q: leave it out", key, shown(given), shown(effective.value))
		default:
			messages.add("spec.sparkConf %s %q has no effect, %s says %q: leave one of them out", key, shown(given), effective.field, shown(effective.value))
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
				messages.add("%s %s %q has no effect, it is always %q: leave it out", labelled.field, key, labelled.labels[key], value)
			}
		}
	}
	return messages
}

// unsupportedForExecutors speaks of what Spark gives to no executor, whatever a template says.
func unsupportedForExecutors(app *v1beta2.SparkApplication, defaults settings.Defaults) []string {
	var messages messageList
	spec, p := app.Spec.Executor, propertiesOf(app, defaults)
	executors, err := submission.PlannedExecutors(submission.Plan{
		SparkVersion: app.Spec.SparkVersion, Properties: p.values(), Resource: mainResource(app.Spec),
	})
	if err != nil {
		messages.add("the driver will fail to make executors: %s", Refusal(err, app, defaults))
	}
	if given := spec.MemoryLimit; given != "" && !isExecutorMemory(executors, given) {
		messages.add("spec.executor.memoryLimit %q has no effect, Spark limits executors to the memory that they request: "+
			"raise spec.executor.memoryOverhead instead", given)
	}
	if spec.Lifecycle != nil && strings.EqualFold(p[decommissionKey].value, "true") {
		messages.add("spec.executor.lifecycle has no effect with %s, by which Spark sets one of its own: leave one of them out", decommissionKey)
	}
	return append(messages, unsupportedVariables(spec.Env, p)...)
}

// isExecutorMemory says that a limit is what Spark sets by itself.
func isExecutorMemory(executors submission.Executors, given string) bool {
	limit, err := memoryLimit(given)
	return err == nil && limit.Cmp(executors.Requests["memory"]) == 0
}

// unsupportedInPods speaks of what says nothing that a Pod could have.
func unsupportedInPods(app *v1beta2.SparkApplication, r names.Role) []string {
	var messages messageList
	spec := r.Pods(&app.Spec)
	if gpu := spec.GPU; gpu != nil && (gpu.Name == "" || gpu.Quantity <= 0) {
		messages.add("%s %q of %d has no effect: write the name of a resource such as nvidia.com/gpu, and how many", r.Field("gpu"), gpu.Name, gpu.Quantity)
	}
	for i, secret := range spec.Secrets {
		if !slices.Contains(secretTypes, secret.Type) {
			messages.add("%s %q is not known, so that the secret %q is mounted and no environment variable leads to it: write one of %s",
				r.Field(fmt.Sprintf("secrets[%d].secretType", i)), secret.Type, secret.Name, secretTypes[1:])
		}
	}
	volumes, inTemplate := volumesByName(app), volumesOfTemplate(spec)
	for i, mount := range spec.VolumeMounts {
		if volumes[mount.Name] == nil && !inTemplate[mount.Name] {
			messages.add("%s %q is not mounted, spec.volumes has no such volume: add it", r.Field(fmt.Sprintf("volumeMounts[%d]", i)), mount.Name)
		}
	}
	if spec.Template != nil {
		if sentence := podtemplate.FinalizersDropped(r.Field("template.metadata.finalizers"), spec.Template.Finalizers); sentence != "" {
			messages.add("%s", sentence)
		}
	}
	if name := app.Spec.BatchScheduler; name != "" && spec.SchedulerName != "" && spec.SchedulerName != name {
		messages.add("%s %q has no effect, spec.batchScheduler says %q: leave one of them out", r.Field("schedulerName"), spec.SchedulerName, name)
	}
	return messages
}

// secretTypes are the values of secretType, of which none is Generic.
var secretTypes = []v1beta2.SecretType{"", v1beta2.GenericSecret, v1beta2.GCPServiceAccountSecret, v1beta2.HadoopDelegationTokenSecret}

// volumesOfTemplate returns the names of the volumes of the user's template.
func volumesOfTemplate(spec *v1beta2.SparkPodSpec) map[string]bool {
	if spec.Template == nil {
		return nil
	}
	return volumeNames(spec.Template.Spec.Volumes)
}

// unsupportedInApplication speaks of what the operator's settings do not allow, and of what has nothing to act on.
func unsupportedInApplication(app *v1beta2.SparkApplication, defaults settings.Defaults) []string {
	var messages messageList
	if isTrue(app.Spec.DriverPodDisruptionBudget) && !defaults.DriverPodDisruptionBudget {
		messages.add("spec.driverPodDisruptionBudget true has no effect, the operator's settings do not allow it: leave it out")
	}
	if app.Spec.BatchSchedulerOptions != nil && configuredScheduler(app, defaults) == "" {
		messages.add("spec.batchSchedulerOptions has no effect but for its priorityClassName, the operator's settings know no batch scheduler %q: "+
			"leave it out, or have that scheduler added to them", batchScheduler(app, defaults))
	}
	if app.Spec.Monitoring != nil && !exposes(app, names.Driver) && !exposes(app, names.Executor) {
		messages.add("spec.monitoring exposes nothing: set exposeDriverMetrics or exposeExecutorMetrics, and prometheus or metricsProperties")
	}
	messages = slices.Concat(messages, unsupportedUIOptions(app.Spec.SparkUIOptions, defaults), unsupportedRetries(app.Spec.RestartPolicy),
		unmountedVolumes(app.Spec), unsupportedSinceLong(app.Spec))
	if app.Spec.Mode != "" && app.Spec.DeployMode != "" && app.Spec.Mode != app.Spec.DeployMode {
		messages.add("spec.deployMode %q has no effect, spec.mode is its newer spelling and says %q: leave it out", app.Spec.DeployMode, app.Spec.Mode)
	}
	return messages
}

// unsupportedSinceLong speaks of fields that the Kubeflow operator's oldest documents have and its present code does not read.
func unsupportedSinceLong(spec v1beta2.SparkApplicationSpec) []string {
	var messages messageList
	download := "no Spark since 2.3 has an init container that downloads, the driver and executors fetch by themselves: leave it out"
	retries := "the Kubeflow operator does not read it either: write spec.restartPolicy"
	for _, old := range []struct {
		field string
		given bool
		why   string
	}{
		{"spec.initContainerImage", spec.InitContainerImage != "", download},
		{"spec.deps.jarsDownloadDir", spec.Deps.JarsDownloadDir != "", download},
		{"spec.deps.filesDownloadDir", spec.Deps.FilesDownloadDir != "", download},
		{"spec.deps.downloadTimeout", spec.Deps.DownloadTimeout != nil, download},
		{"spec.deps.maxSimultaneousDownloads", spec.Deps.MaxSimultaneousDownloads != nil, download},
		{"spec.failureRetries", spec.FailureRetries != nil, retries},
		{"spec.retryInterval", spec.RetryInterval != nil, retries},
	} {
		if old.given {
			messages.add("%s has no effect, %s", old.field, old.why)
		}
	}
	return messages
}

// unsupportedUIOptions speaks of what is in front of the UI where the operator's settings have nothing there.
func unsupportedUIOptions(options *v1beta2.SparkUIConfiguration, defaults settings.Defaults) []string {
	var messages messageList
	switch {
	case options == nil:
	case !defaults.UIService:
		messages.add("spec.sparkUIOptions has no effect, the operator's settings have no Service for the UI: leave it out")
	case defaults.Ingress.URLFormat == "" && (len(options.IngressAnnotations) > 0 || len(options.IngressTLS) > 0):
		messages.add("spec.sparkUIOptions.ingressAnnotations and ingressTLS have no effect, the operator's settings have no Ingress for the UI: " +
			"leave them out, or have the address of one added to them")
	}
	return messages
}

// unsupportedRetries speaks of numbers of retries of an application that is not tried again.
func unsupportedRetries(policy v1beta2.RestartPolicy) []string {
	var messages messageList
	if types := []v1beta2.RestartPolicyType{"", v1beta2.RestartNever, v1beta2.RestartAlways, v1beta2.RestartOnFailure}; !slices.Contains(types, policy.Type) {
		messages.add("spec.restartPolicy.type %q is not known and counts as %s: write one of %s", policy.Type, v1beta2.RestartNever, types[1:])
		return messages
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
			messages.add("spec.restartPolicy.%s %d has no effect, what is to be tried again needs spec.restartPolicy.type %s: write it",
				retries.field, *retries.given, v1beta2.RestartOnFailure)
		}
	}
	return messages
}

// unmountedVolumes speaks of volumes that no container of the spec mounts.
func unmountedVolumes(spec v1beta2.SparkApplicationSpec) []string {
	var messages messageList
	mounted := map[string]bool{}
	for _, r := range []names.Role{names.Driver, names.Executor} {
		pods := r.Pods(&spec)
		for _, mount := range slices.Concat(pods.VolumeMounts, mountsOf(pods.InitContainers), mountsOf(pods.Sidecars)) {
			mounted[mount.Name] = true
		}
	}
	for i, volume := range spec.Volumes {
		if !mounted[volume.Name] {
			messages.add("spec.volumes[%d] %q is in no Pod, neither driver nor executor mounts it: add it to their volumeMounts, or leave it out",
				i, volume.Name)
		}
	}
	return messages
}
