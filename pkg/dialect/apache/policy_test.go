package apache_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

const (
	never   = -time.Millisecond
	longest = 100 * 365 * 24 * time.Hour
)

// upstream is the policy of a spec that says nothing.
func upstream() lifecycle.Policy {
	return lifecycle.Policy{
		Restart: lifecycle.Restart{
			Policy: lifecycle.RestartNever, MaxAttempts: 3, Backoff: 30 * time.Second, ResetAfter: never,
		},
		Timeouts: lifecycle.Timeouts{
			DriverStart: 5 * time.Minute, DriverReady: 5 * time.Minute,
			ExecutorStart: 5 * time.Minute, ForceTermination: 5 * time.Minute,
		},
		Retain: lifecycle.RetainNever, RetainFor: never, TTL: never,
	}
}

func policyWith(change func(*lifecycle.Policy)) lifecycle.Policy {
	policy := upstream()
	change(&policy)
	return policy
}

func tolerating(change func(*sparkv1.ApplicationTolerations)) *sparkv1.SparkApplication {
	var tolerations sparkv1.ApplicationTolerations
	change(&tolerations)
	return pi().Tolerating(tolerations).Obj()
}

func TestTolerationsBecomeThePolicy(t *testing.T) {
	for name, test := range map[string]struct {
		app  *sparkv1.SparkApplication
		want lifecycle.Policy
	}{
		"a spec without tolerations has the Apache operator's defaults": {
			app: pi().Obj(), want: upstream(),
		},
		"empty sections have the same defaults": {
			app: tolerating(func(t *sparkv1.ApplicationTolerations) {
				t.RestartConfig = &sparkv1.RestartConfig{}
				t.ApplicationTimeoutConfig = &sparkv1.ApplicationTimeoutConfig{}
				t.InstanceConfig = &sparkv1.ExecutorInstanceConfig{}
			}),
			want: upstream(),
		},
		"every restart setting counts": {
			app: tolerating(func(t *sparkv1.ApplicationTolerations) {
				t.RestartConfig = &sparkv1.RestartConfig{
					RestartPolicy: sparkv1.RestartOnInfrastructureFailure, MaxRestartAttempts: ptr(int64(9)),
					RestartBackoffMillis: ptr(int64(1000)), RestartCounterResetMillis: ptr(int64(0)),
					MaxRestartOnFailure: ptr(int64(2)), RestartBackoffMillisForFailure: ptr(int64(2000)),
					MaxRestartOnSchedulingFailure:            ptr(int64(0)),
					RestartBackoffMillisForSchedulingFailure: ptr(int64(0)),
				}
			}),
			want: policyWith(func(p *lifecycle.Policy) {
				p.Restart = lifecycle.Restart{
					Policy: lifecycle.RestartOnInfrastructureFailure, MaxAttempts: 9, Backoff: time.Second, ResetAfter: 0,
					OnFailure:           lifecycle.Limit{MaxAttempts: ptr(int64(2)), Backoff: ptr(2 * time.Second)},
					OnSchedulingFailure: lifecycle.Limit{MaxAttempts: ptr(int64(0)), Backoff: ptr(time.Duration(0))},
				}
			}),
		},
		"timeouts are set one by one, and zero stays zero": {
			app: tolerating(func(t *sparkv1.ApplicationTolerations) {
				t.ApplicationTimeoutConfig = &sparkv1.ApplicationTimeoutConfig{
					DriverStartTimeoutMillis: ptr(int64(0)), DriverReadyTimeoutMillis: ptr(int64(1500)),
					TerminationRequeuePeriodMillis: ptr(int64(7)),
				}
			}),
			want: policyWith(func(p *lifecycle.Policy) {
				p.Timeouts.DriverStart, p.Timeouts.DriverReady = 0, 1500*time.Millisecond
			}),
		},
		"a retention and a time to live of zero are not the same as none": {
			app: tolerating(func(t *sparkv1.ApplicationTolerations) {
				t.ResourceRetainDurationMillis, t.TTLAfterStopMillis = ptr(int64(0)), ptr(int64(0))
			}),
			want: policyWith(func(p *lifecycle.Policy) { p.RetainFor, p.TTL = 0, 0 }),
		},
		"what is meant to be for ever does not overflow": {
			app: tolerating(func(t *sparkv1.ApplicationTolerations) {
				t.RestartConfig = &sparkv1.RestartConfig{
					MaxRestartAttempts:   ptr(int64(math.MaxInt64)),
					RestartBackoffMillis: ptr(int64(math.MaxInt64)), RestartBackoffMillisForFailure: ptr(int64(math.MaxInt64)),
				}
				t.TTLAfterStopMillis = ptr(int64(math.MaxInt64))
			}),
			want: policyWith(func(p *lifecycle.Policy) {
				p.Restart.MaxAttempts, p.Restart.Backoff = math.MaxInt64, longest
				p.Restart.OnFailure.Backoff = ptr(longest)
				p.TTL = longest
			}),
		},
		"what is far below zero is never, too: a time to live must not become zero": {
			app: tolerating(func(t *sparkv1.ApplicationTolerations) {
				t.RestartConfig = &sparkv1.RestartConfig{RestartCounterResetMillis: ptr(int64(-1e16))}
				t.ResourceRetainDurationMillis, t.TTLAfterStopMillis = ptr(int64(-1e13)), ptr(int64(math.MinInt64))
			}),
			want: upstream(),
		},
		"the numbers of executors to begin with, to keep and to be complete are set": {
			app: tolerating(func(t *sparkv1.ApplicationTolerations) {
				t.InstanceConfig = &sparkv1.ExecutorInstanceConfig{InitExecutors: 3, MinExecutors: 2, MaxExecutors: 5}
			}),
			want: policyWith(func(p *lifecycle.Policy) { p.Executors = lifecycle.Executors{Init: 3, Min: 2, Max: 5} }),
		},
		"Spark may set the number of executors, in whatever case that is said": {
			app: pi().Conf("spark.dynamicAllocation.enabled", "True").Tolerating(sparkv1.ApplicationTolerations{
				InstanceConfig: &sparkv1.ExecutorInstanceConfig{InitExecutors: 1},
			}).Obj(),
			want: policyWith(func(p *lifecycle.Policy) { p.Executors = lifecycle.Executors{Init: 1, Dynamic: true} }),
		},
		"the older spelling of the retain policy is understood": {
			app: tolerating(func(t *sparkv1.ApplicationTolerations) { t.ResourceRetentionPolicy = sparkv1.RetainAlways }),
			want: policyWith(func(p *lifecycle.Policy) {
				p.Retain = lifecycle.RetainAlways
			}),
		},
		"today's spelling of the retain policy wins": {
			app: tolerating(func(t *sparkv1.ApplicationTolerations) {
				t.ResourceRetentionPolicy, t.ResourceRetainPolicy = sparkv1.RetainAlways, sparkv1.RetainOnFailure
			}),
			want: policyWith(func(p *lifecycle.Policy) { p.Retain = lifecycle.RetainOnFailure }),
		},
		"a property names the main container": {
			app: pi().Conf("spark.kubernetes.driver.podTemplateContainerName", "main").Obj(),
			want: policyWith(func(p *lifecycle.Policy) {
				p.MainContainer = "main"
			}),
		},
		"suspend is passed on": {
			app:  pi().Spec(func(s *sparkv1.ApplicationSpec) { s.Suspend = true }).Obj(),
			want: policyWith(func(p *lifecycle.Policy) { p.Suspend = true }),
		},
		"cluster mode may be said": {
			app:  pi().Spec(func(s *sparkv1.ApplicationSpec) { s.DeploymentMode = sparkv1.ClusterMode }).Obj(),
			want: upstream(),
		},
		"client mode is refused": {
			app: pi().Spec(func(s *sparkv1.ApplicationSpec) { s.DeploymentMode = sparkv1.ClientMode }).Obj(),
			want: policyWith(func(p *lifecycle.Policy) {
				p.Refused = &lifecycle.Cause{
					Class: lifecycle.ClassApplication, Reason: "ClientModeUnsupported",
					Message: "Client mode is not supported yet. Remove spec.deploymentMode, which is ClientMode, or set it to ClusterMode.",
				}
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, apache.Policy(test.app, apache.Defaults{})); diff != "" {
				t.Errorf("Policy (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPolicyKnowsEveryEnumValue(t *testing.T) {
	for restart, want := range map[sparkv1.RestartPolicy]lifecycle.RestartPolicy{
		sparkv1.RestartAlways: lifecycle.RestartAlways, sparkv1.RestartNever: lifecycle.RestartNever,
		sparkv1.RestartOnFailure:               lifecycle.RestartOnFailure,
		sparkv1.RestartOnInfrastructureFailure: lifecycle.RestartOnInfrastructureFailure,
	} {
		if got := apache.Policy(pi().Restart(restart).Obj(), apache.Defaults{}).Restart.Policy; got != want {
			t.Errorf("restart policy %s became %s", restart, got)
		}
	}
	for retain, want := range map[sparkv1.RetainPolicy]lifecycle.Retain{
		sparkv1.RetainAlways: lifecycle.RetainAlways, sparkv1.RetainNever: lifecycle.RetainNever,
		sparkv1.RetainOnFailure: lifecycle.RetainOnFailure,
	} {
		app := tolerating(func(t *sparkv1.ApplicationTolerations) { t.ResourceRetainPolicy = retain })
		if got := apache.Policy(app, apache.Defaults{}).Retain; got != want {
			t.Errorf("retain policy %s became %s", retain, got)
		}
	}
}

func TestTimeLimitsOfAnnotations(t *testing.T) {
	const by = "the annotation firesteel.dev/"
	annotated := func(app *application, pairs ...string) *sparkv1.SparkApplication {
		obj := app.Obj()
		obj.Annotations = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			obj.Annotations[pairs[i]] = pairs[i+1]
		}
		return obj
	}
	settings := apache.Defaults{ActiveDeadline: time.Hour, Tolerations: sparkv1.ApplicationTolerations{
		ApplicationTimeoutConfig: &sparkv1.ApplicationTimeoutConfig{DriverStartTimeoutMillis: ptr(int64(60_000))},
	}}
	deadline := func(p *lifecycle.Policy) {
		p.ActiveDeadline, p.Sources.ActiveDeadline = time.Hour, "active-deadline of the ConfigMap config-defaults"
	}
	own := sparkv1.ApplicationTolerations{
		ApplicationTimeoutConfig: &sparkv1.ApplicationTimeoutConfig{DriverStartTimeoutMillis: ptr(int64(7000)), ExecutorStartTimeoutMillis: ptr(int64(0))},
	}
	for name, test := range map[string]struct {
		app      *sparkv1.SparkApplication
		defaults apache.Defaults
		want     lifecycle.Policy
		says     []string
	}{
		"an annotation wins over the Apache operator's default": {
			app: annotated(pi(), dialect.AnnotationDriverStart, "10m", dialect.AnnotationActiveDeadline, "2h"),
			want: policyWith(func(p *lifecycle.Policy) {
				p.Timeouts.DriverStart, p.ActiveDeadline = 10*time.Minute, 2*time.Hour
				p.Sources = lifecycle.Sources{DriverStart: by + "driver-start-timeout", ActiveDeadline: by + "active-deadline"}
			}),
		},
		"and over the operator's": {
			app: annotated(pi(), dialect.AnnotationDriverStart, "10m", dialect.AnnotationActiveDeadline, "0s"), defaults: settings,
			want: policyWith(func(p *lifecycle.Policy) {
				p.Timeouts.DriverStart, p.Sources.DriverStart = 10*time.Minute, by+"driver-start-timeout"
			}),
		},
		"one that is none leaves it to the operator's": {
			app: annotated(pi(), dialect.AnnotationDriverStart, "ten minutes", dialect.AnnotationActiveDeadline, "-1h"), defaults: settings,
			want: policyWith(func(p *lifecycle.Policy) { p.Timeouts.DriverStart = time.Minute; deadline(p) }),
			says: []string{`firesteel.dev/active-deadline] "-1h" has no effect`, `firesteel.dev/driver-start-timeout] "ten minutes" has no effect`},
		},
		"the application's own fields win": {
			app:      annotated(pi().Tolerating(own), dialect.AnnotationDriverStart, "10m", dialect.AnnotationExecutorsStart, "10m"),
			defaults: settings,
			want: policyWith(func(p *lifecycle.Policy) {
				p.Timeouts.DriverStart, p.Timeouts.ExecutorStart = 7*time.Second, 0
				deadline(p)
			}),
			says: []string{
				`firesteel.dev/driver-start-timeout] "10m" has no effect, spec.applicationTolerations.applicationTimeoutConfig.driverStartTimeoutMillis says 7000`,
				`firesteel.dev/executors-start-timeout] "10m" has no effect, spec.applicationTolerations.applicationTimeoutConfig.executorStartTimeoutMillis says 0`,
			},
		},
		"executors are waited for as many as Spark asks for": {
			app: annotated(pi().Conf("spark.executor.instances", "3"), dialect.AnnotationExecutorsStart, "10m"),
			want: policyWith(func(p *lifecycle.Policy) {
				p.Timeouts.ExecutorStart, p.Sources.ExecutorStart, p.Executors.Init = 10*time.Minute, by+"executors-start-timeout", 3
			}),
		},
		"or as many as the application says": {
			app: annotated(pi().Tolerating(sparkv1.ApplicationTolerations{
				InstanceConfig: &sparkv1.ExecutorInstanceConfig{InitExecutors: 1, MinExecutors: 1, MaxExecutors: 2},
			}), dialect.AnnotationExecutorsStart, "10m"),
			want: policyWith(func(p *lifecycle.Policy) {
				p.Timeouts.ExecutorStart, p.Sources.ExecutorStart = 10*time.Minute, by+"executors-start-timeout"
				p.Executors = lifecycle.Executors{Init: 1, Min: 1, Max: 2}
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, apache.Policy(test.app, test.defaults)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			said := apache.Warnings(test.app, test.defaults).Sentences()
			if len(said) != len(test.says) {
				t.Fatalf("said %q, want %q", said, test.says)
			}
			for i, part := range test.says {
				if !strings.Contains(said[i], part) {
					t.Errorf("said %q, want %q", said[i], part)
				}
			}
		})
	}
}
