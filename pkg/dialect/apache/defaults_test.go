package apache_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// patient are defaults that say something else than the Apache operator's about everything.
func patient() apache.Defaults {
	return apache.Defaults{Tolerations: sparkv1.ApplicationTolerations{
		RestartConfig: &sparkv1.RestartConfig{
			RestartPolicy: sparkv1.RestartAlways, MaxRestartAttempts: ptr(int64(11)), RestartBackoffMillis: ptr(int64(12)),
			RestartCounterResetMillis: ptr(int64(13)), MaxRestartOnFailure: ptr(int64(14)),
			RestartBackoffMillisForFailure: ptr(int64(15)), MaxRestartOnSchedulingFailure: ptr(int64(16)),
			RestartBackoffMillisForSchedulingFailure: ptr(int64(17)),
		},
		ApplicationTimeoutConfig: &sparkv1.ApplicationTimeoutConfig{
			DriverStartTimeoutMillis: ptr(int64(21)), DriverReadyTimeoutMillis: ptr(int64(22)),
			ExecutorStartTimeoutMillis: ptr(int64(23)), ForceTerminationGracePeriodMillis: ptr(int64(24)),
			TerminationRequeuePeriodMillis: ptr(int64(25)),
		},
		InstanceConfig:       &sparkv1.ExecutorInstanceConfig{InitExecutors: 31, MinExecutors: 32, MaxExecutors: 33},
		ResourceRetainPolicy: sparkv1.RetainAlways, ResourceRetainDurationMillis: ptr(int64(41)), TTLAfterStopMillis: ptr(int64(42)),
	}}
}

func patiently(change func(*lifecycle.Policy)) lifecycle.Policy {
	const ms = time.Millisecond
	policy := lifecycle.Policy{
		Restart: lifecycle.Restart{
			Policy: lifecycle.RestartAlways, MaxAttempts: 11, Backoff: 12 * ms, ResetAfter: 13 * ms,
			OnFailure:           lifecycle.Limit{MaxAttempts: ptr(int64(14)), Backoff: ptr(15 * ms)},
			OnSchedulingFailure: lifecycle.Limit{MaxAttempts: ptr(int64(16)), Backoff: ptr(17 * ms)},
		},
		Timeouts:  lifecycle.Timeouts{DriverStart: 21 * ms, DriverReady: 22 * ms, ExecutorStart: 23 * ms, ForceTermination: 24 * ms},
		Executors: lifecycle.Executors{Init: 31, Min: 32, Max: 33},
		Retain:    lifecycle.RetainAlways, RetainFor: 41 * ms, TTL: 42 * ms,
	}
	change(&policy)
	return policy
}

func TestPolicyWithDefaults(t *testing.T) {
	for name, test := range map[string]struct {
		app  *sparkv1.SparkApplication
		want lifecycle.Policy
	}{
		"a spec without tolerations has the operator's defaults": {pi().Obj(), patiently(func(*lifecycle.Policy) {})},
		"so has one with empty tolerations, into which the API server writes -1": {
			tolerating(func(t *sparkv1.ApplicationTolerations) {
				t.RestartConfig = &sparkv1.RestartConfig{RestartCounterResetMillis: ptr(int64(-1))}
				t.ApplicationTimeoutConfig = &sparkv1.ApplicationTimeoutConfig{}
				t.ResourceRetainDurationMillis, t.TTLAfterStopMillis = ptr(int64(-1)), ptr(int64(-1))
			}),
			patiently(func(*lifecycle.Policy) {}),
		},
		"what the spec says wins, field by field": {
			tolerating(func(t *sparkv1.ApplicationTolerations) {
				t.RestartConfig = &sparkv1.RestartConfig{
					RestartPolicy: sparkv1.RestartNever, MaxRestartOnFailure: ptr(int64(0)), RestartBackoffMillis: ptr(int64(0)),
				}
				t.ApplicationTimeoutConfig = &sparkv1.ApplicationTimeoutConfig{DriverReadyTimeoutMillis: ptr(int64(0))}
				t.ResourceRetainPolicy, t.TTLAfterStopMillis = sparkv1.RetainOnFailure, ptr(int64(0))
			}),
			patiently(func(p *lifecycle.Policy) {
				p.Restart.Policy, p.Restart.Backoff, p.Restart.OnFailure.MaxAttempts = lifecycle.RestartNever, 0, ptr(int64(0))
				p.Timeouts.DriverReady = 0
				p.Retain, p.TTL = lifecycle.RetainOnFailure, 0
			}),
		},
		"the older spelling of the retain policy wins, too": {
			tolerating(func(t *sparkv1.ApplicationTolerations) { t.ResourceRetentionPolicy = sparkv1.RetainNever }),
			patiently(func(p *lifecycle.Policy) { p.Retain = lifecycle.RetainNever }),
		},
		"below -1 is never, whatever the defaults are": {
			tolerating(func(t *sparkv1.ApplicationTolerations) {
				t.RestartConfig = &sparkv1.RestartConfig{RestartCounterResetMillis: ptr(int64(-2))}
				t.ResourceRetainDurationMillis, t.TTLAfterStopMillis = ptr(int64(-2)), ptr(int64(-2))
			}),
			patiently(func(p *lifecycle.Policy) { p.Restart.ResetAfter, p.RetainFor, p.TTL = never, never, never }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, apache.Policy(test.app, patient())); diff != "" {
				t.Errorf("Policy (-want +got):\n%s", diff)
			}
		})
	}
}

// A field that a later version of the API has must not be forgotten among the defaults.
func TestDefaultsCoverEveryToleration(t *testing.T) {
	tolerations := reflect.ValueOf(patient().Tolerations)
	for i := range tolerations.NumField() {
		name, value := tolerations.Type().Field(i).Name, tolerations.Field(i)
		if value.IsZero() && name != "ResourceRetentionPolicy" { // an older spelling
			t.Errorf("%s has no default here", name)
		}
		if value.Kind() != reflect.Pointer || value.Elem().Kind() != reflect.Struct {
			continue
		}
		for j := range value.Elem().NumField() {
			if value.Elem().Field(j).IsZero() {
				t.Errorf("%s.%s has no default here", name, value.Elem().Type().Field(j).Name)
			}
		}
	}
}

func TestPropertiesWithDefaults(t *testing.T) {
	defaults := apache.Defaults{Properties: map[string]string{
		"spark.eventLog.enabled": "true", "spark.authenticate": "false", "spark.jars": "local:///default.jar",
		"spark.app.name": "default", "spark.kubernetes.driver.podTemplateContainerName": "spark",
		"spark.kubernetes.driver.label.spark.operator/name": "default",
	}}
	for name, test := range map[string]struct {
		app       *application
		key, want string
	}{
		"a default fills a gap":                     {pi(), "spark.eventLog.enabled", "true"},
		"a default wins over the Apache operator's": {pi(), "spark.authenticate", "false"},
		"a property wins over a default":            {pi().Conf("spark.eventLog.enabled", "false"), "spark.eventLog.enabled", "false"},
		"an empty property wins over a default":     {pi().Conf("spark.eventLog.enabled", ""), "spark.eventLog.enabled", ""},
		"a field of the spec wins over a default": {
			pi().Spec(func(s *sparkv1.ApplicationSpec) { s.Jars = "local:///mine.jar" }), "spark.jars", "local:///mine.jar",
		},
		"what only the operator can set is not filled": {pi(), "spark.kubernetes.driver.label.spark.operator/name", "spark-kubernetes-operator"},
		"the name is the application's":                {pi(), "spark.app.name", "pi"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := apache.Plan(test.app.Obj(), v1alpha1.Attempt{}, defaults)
			if got := plan.Properties[test.key]; err != nil || got != test.want {
				t.Errorf("%s is %q, %v; want %q", test.key, got, err, test.want)
			}
		})
	}
	if got := apache.Policy(pi().Obj(), defaults).MainContainer; got != "spark" {
		t.Errorf("the main container is %q, and the default says spark", got)
	}
	if defaults.Properties["spark.app.name"] != "default" || len(defaults.Properties) != 6 {
		t.Errorf("the defaults were changed: %v", defaults.Properties)
	}
}

func TestExecutorsAreKeptIfNoRestartIsAllowed(t *testing.T) {
	const key = "spark.kubernetes.executor.deleteOnTermination"
	dynamic := apache.Defaults{Properties: map[string]string{"spark.dynamicAllocation.enabled": "True"}}
	for name, test := range map[string]struct {
		app      *application
		defaults apache.Defaults
		want     string
	}{
		"never restarted":                  {pi(), apache.Defaults{}, "false"},
		"restarted by default":             {pi(), patient(), ""},
		"allocated dynamically by default": {pi(), dynamic, ""},
		"not so by its own word":           {pi().Conf("spark.dynamicAllocation.enabled", "false"), dynamic, "false"},
		"not restarted by its own word":    {pi().Restart(sparkv1.RestartNever), patient(), "false"},
		"deleted by default":               {pi(), apache.Defaults{Properties: map[string]string{key: "true"}}, "true"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := apache.Plan(test.app.Obj(), v1alpha1.Attempt{}, test.defaults)
			if got := plan.Properties[key]; err != nil || got != test.want {
				t.Errorf("%s is %q, %v; want %q", key, got, err, test.want)
			}
		})
	}
}
