package apache

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// Defaults are the operator's settings for what applications leave out. They are not part of the application's spec: a
// change of them does not count as an edit of any application.
type Defaults struct {
	dialect.Settings
	// Image is used by applications that name none. {{SPARK_VERSION}} stands for the version of the application. Empty means
	// apache/spark:<sparkVersion>.
	Image string
	// Properties are Spark properties. Those of the application override them.
	Properties map[string]string
	// Tolerations are tolerations. Those of the application override them.
	Tolerations sparkv1.ApplicationTolerations
	// ActiveDeadline bounds the time that all attempts of an application may take together. Zero means no bound.
	ActiveDeadline time.Duration
	// UIServiceType is the type of the Service of a driver's UI: ClusterIP or NodePort. Empty means no Service, as in the Apache operator.
	UIServiceType corev1.ServiceType
	// BatchSchedulers are those that get the requirements of the applications that name them: volcano, yunikorn, and names
	// of schedulers with the coscheduling plugin of Kubernetes' scheduler-plugins.
	BatchSchedulers []string
}

// tolerationsOf returns the application's tolerations, completed by the operator's defaults.
func tolerationsOf(app *sparkv1.SparkApplication, defaults Defaults) sparkv1.ApplicationTolerations {
	if app.Spec.ApplicationTolerations == nil {
		return defaults.Tolerations
	}
	return TolerationsOver(*app.Spec.ApplicationTolerations, defaults.Tolerations)
}

// TolerationsOver returns the given tolerations, completed by others.
func TolerationsOver(given, base sparkv1.ApplicationTolerations) sparkv1.ApplicationTolerations {
	return sparkv1.ApplicationTolerations{
		RestartConfig:                restartOver(given.RestartConfig, base.RestartConfig),
		ApplicationTimeoutConfig:     timeoutsOver(given.ApplicationTimeoutConfig, base.ApplicationTimeoutConfig),
		InstanceConfig:               cmp.Or(given.InstanceConfig, base.InstanceConfig), // its fields have no meaning alone
		ResourceRetainPolicy:         cmp.Or(given.ResourceRetainPolicy, given.ResourceRetentionPolicy, base.ResourceRetainPolicy),
		ResourceRetainDurationMillis: cmp.Or(nilIfDefault(given.ResourceRetainDurationMillis), base.ResourceRetainDurationMillis),
		TTLAfterStopMillis:           cmp.Or(nilIfDefault(given.TTLAfterStopMillis), base.TTLAfterStopMillis),
	}
}

func restartOver(given, base *sparkv1.RestartConfig) *sparkv1.RestartConfig {
	if given == nil || base == nil {
		return cmp.Or(given, base)
	}
	return &sparkv1.RestartConfig{
		RestartPolicy:                  cmp.Or(given.RestartPolicy, base.RestartPolicy),
		MaxRestartAttempts:             cmp.Or(given.MaxRestartAttempts, base.MaxRestartAttempts),
		RestartBackoffMillis:           cmp.Or(given.RestartBackoffMillis, base.RestartBackoffMillis),
		RestartCounterResetMillis:      cmp.Or(nilIfDefault(given.RestartCounterResetMillis), base.RestartCounterResetMillis),
		MaxRestartOnFailure:            cmp.Or(given.MaxRestartOnFailure, base.MaxRestartOnFailure),
		RestartBackoffMillisForFailure: cmp.Or(given.RestartBackoffMillisForFailure, base.RestartBackoffMillisForFailure),
		MaxRestartOnSchedulingFailure:  cmp.Or(given.MaxRestartOnSchedulingFailure, base.MaxRestartOnSchedulingFailure),
		RestartBackoffMillisForSchedulingFailure: cmp.Or(
			given.RestartBackoffMillisForSchedulingFailure, base.RestartBackoffMillisForSchedulingFailure),
	}
}

func timeoutsOver(given, base *sparkv1.ApplicationTimeoutConfig) *sparkv1.ApplicationTimeoutConfig {
	if given == nil || base == nil {
		return cmp.Or(given, base)
	}
	return &sparkv1.ApplicationTimeoutConfig{
		DriverStartTimeoutMillis:   cmp.Or(given.DriverStartTimeoutMillis, base.DriverStartTimeoutMillis),
		DriverReadyTimeoutMillis:   cmp.Or(given.DriverReadyTimeoutMillis, base.DriverReadyTimeoutMillis),
		ExecutorStartTimeoutMillis: cmp.Or(given.ExecutorStartTimeoutMillis, base.ExecutorStartTimeoutMillis),
		ForceTerminationGracePeriodMillis: cmp.Or(
			given.ForceTerminationGracePeriodMillis, base.ForceTerminationGracePeriodMillis),
		TerminationRequeuePeriodMillis: cmp.Or(given.TerminationRequeuePeriodMillis, base.TerminationRequeuePeriodMillis),
	}
}

// nilIfDefault returns nil for -1, and any other value as it is. The API server writes -1 into a field that the user left
// out, so -1 may not be the user's choice. A value below -1 means never.
func nilIfDefault(millis *int64) *int64 {
	if millis != nil && *millis == never {
		return nil
	}
	return millis
}

// property returns a Spark property of the application, or else the operator's default. It is empty if neither sets it.
func property(app *sparkv1.SparkApplication, defaults Defaults, key string) string {
	if value, set := app.Spec.SparkConf[key]; set {
		return value
	}
	return defaults.Properties[key]
}
