package apache

import (
	"cmp"
	"time"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// The Apache operator's defaults. Times are in milliseconds.
const (
	defaultMaxRestartAttempts   = 3
	defaultRestartBackoffMillis = 30_000
	defaultTimeoutMillis        = 300_000
	never                       = -1
)

// Policy returns what a spec asks of the lifecycle. What the spec leaves out comes from the operator's defaults, and then
// from the Apache operator's.
func Policy(app *sparkv1.SparkApplication, defaults Defaults) lifecycle.Policy {
	tolerations, bounds := tolerationsOf(app, defaults), boundsOf(app, defaults)
	return lifecycle.Policy{
		Restart:        restart(tolerations.RestartConfig),
		Timeouts:       timeouts(tolerations.ApplicationTimeoutConfig, bounds),
		ActiveDeadline: bounds.activeDeadline.Limit,
		Sources: lifecycle.Sources{
			DriverStart: bounds.driverStart.Source, ExecutorStart: bounds.executorStart.Source, ActiveDeadline: bounds.activeDeadline.Source,
		},
		Executors:     executors(app, defaults, tolerations.InstanceConfig, bounds),
		Retain:        retain(tolerations.ResourceRetainPolicy),
		RetainFor:     millis(tolerations.ResourceRetainDurationMillis, never),
		TTL:           millis(tolerations.TTLAfterStopMillis, never),
		MainContainer: property(app, defaults, driverContainerKey),
		Suspend:       app.Spec.Suspend,
		Refused:       dialect.Refused(invalid(app)),
	}
}

// invalid returns why a spec can never run, in the Apache operator's words if it has some.
func invalid(app *sparkv1.SparkApplication) finding.List {
	var found finding.List
	for _, missing := range missingInRoutes(app.Spec) {
		found.Add(finding.Finding{Severity: finding.Error, Reason: "IncompleteRoute", Field: "spec." + missing, Text: missing + " is required."})
	}
	if app.Spec.DeploymentMode == sparkv1.ClientMode {
		found.Add(finding.Finding{
			Severity: finding.Error, Reason: "ClientModeUnsupported", Field: "spec.deploymentMode", Value: app.Spec.DeploymentMode,
			Text: "Client mode is not supported yet.", Remedy: "Remove spec.deploymentMode, which is ClientMode, or set it to ClusterMode",
		})
	}
	return found
}

func restart(config *sparkv1.RestartConfig) lifecycle.Restart {
	if config == nil {
		config = &sparkv1.RestartConfig{}
	}
	policy := lifecycle.RestartNever
	if config.RestartPolicy != "" {
		policy = lifecycle.RestartPolicy(config.RestartPolicy)
	}
	return lifecycle.Restart{
		Policy:      policy,
		MaxAttempts: orDefault(config.MaxRestartAttempts, defaultMaxRestartAttempts),
		Backoff:     millis(config.RestartBackoffMillis, defaultRestartBackoffMillis),
		ResetAfter:  millis(config.RestartCounterResetMillis, never),
		OnFailure: lifecycle.Limit{
			MaxAttempts: config.MaxRestartOnFailure,
			Backoff:     optionalMillis(config.RestartBackoffMillisForFailure),
		},
		OnSchedulingFailure: lifecycle.Limit{
			MaxAttempts: config.MaxRestartOnSchedulingFailure,
			Backoff:     optionalMillis(config.RestartBackoffMillisForSchedulingFailure),
		},
	}
}

func timeouts(config *sparkv1.ApplicationTimeoutConfig, bounds bounds) lifecycle.Timeouts {
	if config == nil {
		config = &sparkv1.ApplicationTimeoutConfig{}
	}
	return lifecycle.Timeouts{
		DriverStart:      bounds.driverStart.Limit,
		DriverReady:      millis(config.DriverReadyTimeoutMillis, defaultTimeoutMillis),
		ExecutorStart:    bounds.executorStart.Limit,
		ForceTermination: millis(config.ForceTerminationGracePeriodMillis, defaultTimeoutMillis),
	}
}

// executors returns the executors that instanceConfig asks for. If no instanceConfig gives a number, an annotation that
// bounds the wait for executors makes the application wait for them.
func executors(
	app *sparkv1.SparkApplication, defaults Defaults, config *sparkv1.ExecutorInstanceConfig, bounds bounds,
) lifecycle.Executors {
	asked := lifecycle.Executors{
		Dynamic: submission.DynamicAllocation(func(key string) string { return property(app, defaults, key) }),
	}
	if config != nil {
		asked.Init, asked.Min, asked.Max = int(config.InitExecutors), int(config.MinExecutors), int(config.MaxExecutors)
	}
	if !asked.Requested() && bounds.executorStart.Source != "" && bounds.executorStart.Limit > 0 {
		asked = lifecycle.Executors{Dynamic: asked.Dynamic, Init: dialect.WantedExecutors(
			func(key string) string { return property(app, defaults, key) }, submission.DefaultExecutors)}
	}
	return asked
}

func retain(policy sparkv1.RetainPolicy) lifecycle.Retain {
	return lifecycle.Retain(cmp.Or(policy, sparkv1.RetainNever))
}

func orDefault(value *int64, fallback int64) int64 {
	if value == nil {
		return fallback
	}
	return *value
}

// maxMillis prevents the overflow of a wait that a user meant to last for ever.
const maxMillis = int64(100*365*24*time.Hour) / int64(time.Millisecond)

// millis returns a duration that is not below never. All values below zero mean the same, and must not overflow either.
func millis(value *int64, fallback int64) time.Duration {
	return time.Duration(max(min(orDefault(value, fallback), maxMillis), never)) * time.Millisecond
}

func optionalMillis(value *int64) *time.Duration {
	if value == nil {
		return nil
	}
	duration := millis(value, 0)
	return &duration
}
