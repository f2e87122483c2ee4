package fields

import (
	"cmp"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// defaultRetryInterval is the Kubeflow operator's default, in seconds.
const defaultRetryInterval = 5

// never is a duration that does not end.
const never = -1 * time.Second

// Policy returns what a spec asks of the lifecycle. The Kubeflow operator bounds no wait and retains every driver Pod until
// the next run or the application's deletion. Annotations and the operator's settings bound waits.
func Policy(app *v1beta2.SparkApplication, defaults settings.Defaults) lifecycle.Policy {
	driver := boundOf(app, dialect.AnnotationDriverStart, "driver-start-timeout", defaults.DriverStartTimeout)
	executors := boundOf(app, dialect.AnnotationExecutorsStart, "executors-start-timeout", defaults.ExecutorsStartTimeout)
	active := boundOf(app, dialect.AnnotationActiveDeadline, "active-deadline", defaults.ActiveDeadline)
	return lifecycle.Policy{
		Restart: restart(&app.Spec),
		Timeouts: lifecycle.Timeouts{
			DriverStart: driver.Limit, ExecutorStart: executors.Limit, ForceTermination: defaults.ForceTerminationGrace,
		},
		ActiveDeadline:         active.Limit,
		Sources:                lifecycle.Sources{DriverStart: driver.Source, ExecutorStart: executors.Source, ActiveDeadline: active.Source},
		Executors:              wantedExecutors(app, defaults, executors.Limit),
		ReportNoExecutorsAfter: executorsWithin(app),

		ExecutorsFromStart: true,
		ReleasesTimedOut:   true,

		Retain:            lifecycle.RetainAlways,
		RetainFor:         never,
		TTL:               timeToLive(app.Spec.TimeToLiveSeconds, defaults),
		MainContainer:     mainContainerName(app),
		Suspend:           app.Spec.Suspend,
		Spec:              SpecOf(app),
		Interrupts:        true,
		PersistsEachState: true,
		HasUnknown:        true,
		Refused:           dialect.Refused(Invalid(app, defaults)),
	}
}

// boundOf returns a time limit of an application: its annotation's, else the setting's.
func boundOf(app *v1beta2.SparkApplication, annotation, setting string, limit time.Duration) dialect.Bound {
	return dialect.BoundOf(app, annotation, dialect.Bound{Limit: limit, Source: setting + " of the ConfigMap config-kubeflow"})
}

// wantedExecutors returns the executors that a run waits for, if that wait has a limit.
func wantedExecutors(app *v1beta2.SparkApplication, defaults settings.Defaults, limit time.Duration) lifecycle.Executors {
	if limit <= 0 {
		return lifecycle.Executors{}
	}
	properties := propertiesOf(app, defaults)
	return lifecycle.Executors{Init: dialect.WantedExecutors(func(key string) string { return properties[key].value }, 0)}
}

// executorsWithin returns how long a run may be without executors before that is reported. With dynamic allocation, Spark
// chooses their number.
func executorsWithin(app *v1beta2.SparkApplication) time.Duration {
	dynamic := app.Spec.DynamicAllocation
	if dynamic != nil && dynamic.Enabled || submission.DynamicAllocation(func(key string) string { return app.Spec.SparkConf[key] }) {
		return 0
	}
	return 2 * time.Minute
}

// restart bounds retries after a failed run and after a failed submission separately. An application that succeeded runs
// again at once. In v1alpha1, submissions are repeated whatever the restart policy.
func restart(spec *v1beta2.SparkApplicationSpec) lifecycle.Restart {
	policy := spec.RestartPolicy
	submissions := cmp.Or(policy.OnSubmissionFailureRetries, spec.MaxSubmissionRetries)
	result := lifecycle.Restart{
		Policy:              lifecycle.RestartNever,
		MaxAttempts:         lifecycle.Unlimited,
		Linear:              true,
		CountsApart:         true,
		ResetAfter:          never,
		OnFailure:           retries(policy.OnFailureRetries, policy.OnFailureRetryInterval),
		OnSchedulingFailure: retries(submissions, cmp.Or(policy.OnSubmissionFailureRetryInterval, spec.SubmissionRetryInterval)),
	}
	switch policy.Type {
	case v1beta2.RestartAlways:
		result.Policy = lifecycle.RestartAlways
		result.OnFailure.MaxAttempts, result.OnSchedulingFailure.MaxAttempts = nil, nil
	case v1beta2.RestartOnFailure:
		result.Policy = lifecycle.RestartOnFailure
	default:
		if again := spec.MaxSubmissionRetries; again != nil && *again > 0 {
			result.Policy = lifecycle.RestartOnFailure
			result.OnFailure = retries(nil, nil)
			result.OnSchedulingFailure = retries(again, spec.SubmissionRetryInterval)
		}
	}
	return result
}

func retries(number *int32, interval *int64) lifecycle.Limit {
	var most int64
	if number != nil {
		most = int64(*number)
	}
	wait := int64(defaultRetryInterval)
	if interval != nil {
		wait = *interval
	}
	backoff := inSeconds(wait)
	return lifecycle.Limit{MaxAttempts: &most, Backoff: &backoff}
}

func timeToLive(given *int64, defaults settings.Defaults) time.Duration {
	switch {
	case given != nil:
		return inSeconds(*given)
	case defaults.TimeToLive > 0:
		return defaults.TimeToLive
	default:
		return never
	}
}

// inSeconds returns a duration that is neither negative nor large enough to overflow.
func inSeconds(number int64) time.Duration {
	const most = math.MaxInt32 // 68 years
	return time.Duration(max(0, min(number, most))) * time.Second
}

// mainContainerName returns the name of Spark's container, which a template may set.
func mainContainerName(app *v1beta2.SparkApplication) string {
	template := app.Spec.Driver.Template
	if template == nil {
		return names.DriverContainer
	}
	pod := corev1.PodSpec{Containers: template.Spec.Containers}
	at := sparkContainer(&pod, names.Driver)
	if name := pod.Containers[at].Name; name != "" {
		return name
	}
	return names.DriverContainer
}
