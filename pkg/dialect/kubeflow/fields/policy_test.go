package fields_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

func limit(most int64, backoff time.Duration) lifecycle.Limit {
	return lifecycle.Limit{MaxAttempts: &most, Backoff: &backoff}
}

func TestSpecsBecomeThePolicy(t *testing.T) {
	const never = -1 * time.Second
	unlimited := func(backoff time.Duration) lifecycle.Limit { return lifecycle.Limit{Backoff: &backoff} }
	// plain is the policy of an application that says nothing.
	plain := func() lifecycle.Policy {
		return lifecycle.Policy{
			Restart: lifecycle.Restart{
				Policy: lifecycle.RestartNever, MaxAttempts: math.MaxInt64, Linear: true, CountsApart: true, ResetAfter: never,
				OnFailure: limit(0, 5*time.Second), OnSchedulingFailure: limit(0, 5*time.Second),
			},
			Retain: lifecycle.RetainAlways, RetainFor: never, TTL: never, MainContainer: "spark-kubernetes-driver",
			Interrupts: true, PersistsEachState: true, HasUnknown: true, ReportNoExecutorsAfter: 2 * time.Minute,
			ExecutorsFromStart: true, ReleasesTimedOut: true,
		}
	}
	for name, test := range map[string]struct {
		app  *application
		want func(*lifecycle.Policy)
	}{
		"nothing said": {pi(), func(*lifecycle.Policy) {}},
		"as many executors as Spark pleases": {
			pi().Spec("dynamicAllocation: {enabled: true}"), func(want *lifecycle.Policy) { want.ReportNoExecutorsAfter = 0 },
		},
		"the same by a property": {
			pi().Conf("spark.dynamicAllocation.enabled", "true"), func(want *lifecycle.Policy) { want.ReportNoExecutorsAfter = 0 },
		},
		"dynamic allocation that is off": {pi().Spec("dynamicAllocation: {enabled: false}"), func(*lifecycle.Policy) {}},
		"retries without intervals": {
			pi().Spec("restartPolicy: {type: OnFailure, onFailureRetries: 3, onSubmissionFailureRetries: 5}"),
			func(want *lifecycle.Policy) {
				want.Restart.Policy = lifecycle.RestartOnFailure
				want.Restart.OnFailure, want.Restart.OnSchedulingFailure = limit(3, 5*time.Second), limit(5, 5*time.Second)
			},
		},
		"submissions of v1alpha1": {
			pi().Spec("{restartPolicy: Never, maxSubmissionRetries: 3, submissionRetryInterval: 20}"),
			func(want *lifecycle.Policy) {
				want.Restart.Policy = lifecycle.RestartOnFailure // but no run is repeated
				want.Restart.OnSchedulingFailure = limit(3, 20*time.Second)
			},
		},
		"submissions and runs of v1alpha1": {
			pi().Spec("{restartPolicy: OnFailure, maxSubmissionRetries: 3}"),
			func(want *lifecycle.Policy) {
				want.Restart.Policy = lifecycle.RestartOnFailure
				want.Restart.OnFailure, want.Restart.OnSchedulingFailure = limit(math.MaxInt32, 5*time.Second), limit(3, 5*time.Second)
			},
		},
		"submissions in both spellings": {
			pi().Spec("{restartPolicy: {type: OnFailure, onSubmissionFailureRetries: 1}, maxSubmissionRetries: 3, submissionRetryInterval: 20}"),
			func(want *lifecycle.Policy) {
				want.Restart.Policy = lifecycle.RestartOnFailure
				want.Restart.OnSchedulingFailure = limit(1, 20*time.Second)
			},
		},
		"intervals without retries": {
			pi().Spec("restartPolicy: {type: OnFailure, onFailureRetryInterval: 10, onSubmissionFailureRetryInterval: 20}"),
			func(want *lifecycle.Policy) {
				want.Restart.Policy = lifecycle.RestartOnFailure
				want.Restart.OnFailure, want.Restart.OnSchedulingFailure = limit(0, 10*time.Second), limit(0, 20*time.Second)
			},
		},
		"always, however often it fails": {
			pi().Spec("restartPolicy: {type: Always, onFailureRetries: 1, onFailureRetryInterval: 10}"),
			func(want *lifecycle.Policy) {
				want.Restart.Policy = lifecycle.RestartAlways
				want.Restart.OnFailure, want.Restart.OnSchedulingFailure = unlimited(10*time.Second), unlimited(5*time.Second)
			},
		},
		"an interval longer than a life": {
			pi().Spec("restartPolicy: {onFailureRetryInterval: 9223372036854775807}"),
			func(want *lifecycle.Policy) { want.Restart.OnFailure = limit(0, math.MaxInt32*time.Second) },
		},
		"a time to live":            {pi().Spec("timeToLiveSeconds: 60"), func(want *lifecycle.Policy) { want.TTL = time.Minute }},
		"no time to live":           {pi().Spec("timeToLiveSeconds: 0"), func(want *lifecycle.Policy) { want.TTL = 0 }},
		"a time to live below zero": {pi().Spec("timeToLiveSeconds: -9"), func(want *lifecycle.Policy) { want.TTL = 0 }},
		"suspended":                 {pi().Spec("suspend: true"), func(want *lifecycle.Policy) { want.Suspend = true }},
		"a template that names Spark's container otherwise": {
			pi().Driver("template: {spec: {containers: [{name: mine}, {name: sidecar}]}}"),
			func(want *lifecycle.Policy) { want.MainContainer = "mine" },
		},
		"a template whose second container is Spark's": {
			pi().Driver("template: {spec: {containers: [{name: sidecar}, {name: spark-kubernetes-driver}]}}"),
			func(*lifecycle.Policy) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := plain()
			test.want(&want)
			got := fields.Policy(test.app.Obj(), settings.NewDefaults())
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(lifecycle.Policy{}, "Spec")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTimeLimits(t *testing.T) {
	bounded := settings.NewDefaults()
	bounded.DriverStartTimeout, bounded.ExecutorsStartTimeout, bounded.ActiveDeadline = time.Minute, 2*time.Minute, 3*time.Minute
	of := func(setting string) string { return setting + " of the ConfigMap config-kubeflow" }
	for name, test := range map[string]struct {
		app      *application
		defaults settings.Defaults
		want     lifecycle.Policy
	}{
		"none": {pi(), settings.NewDefaults(), lifecycle.Policy{}},
		"the settings'": {pi().Executor("instances: 3"), bounded, lifecycle.Policy{
			Timeouts:       lifecycle.Timeouts{DriverStart: time.Minute, ExecutorStart: 2 * time.Minute},
			ActiveDeadline: 3 * time.Minute, Executors: lifecycle.Executors{Init: 3},
			Sources: lifecycle.Sources{
				DriverStart: of("driver-start-timeout"), ExecutorStart: of("executors-start-timeout"), ActiveDeadline: of("active-deadline"),
			},
		}},
		"annotations'": {
			pi().Annotated(dialect.AnnotationDriverStart, "5s").Annotated(dialect.AnnotationExecutorsStart, "0s").Annotated(dialect.AnnotationActiveDeadline, "1h"),
			bounded, lifecycle.Policy{
				Timeouts: lifecycle.Timeouts{DriverStart: 5 * time.Second}, ActiveDeadline: time.Hour,
				Sources: lifecycle.Sources{DriverStart: "the annotation firesteel.dev/driver-start-timeout", ActiveDeadline: "the annotation firesteel.dev/active-deadline"},
			},
		},
		"an annotation that is none, and the one executor of an application that says no number": {
			pi().Annotated(dialect.AnnotationDriverStart, "soon").Annotated(dialect.AnnotationExecutorsStart, "1m"), settings.NewDefaults(), lifecycle.Policy{
				Timeouts: lifecycle.Timeouts{ExecutorStart: time.Minute}, Executors: lifecycle.Executors{Init: 1},
				Sources: lifecycle.Sources{ExecutorStart: "the annotation firesteel.dev/executors-start-timeout"},
			},
		},
		"dynamic allocation with a minimum": {
			pi().Spec("dynamicAllocation: {enabled: true, minExecutors: 4, initialExecutors: 9}").Annotated(dialect.AnnotationExecutorsStart, "1m"), settings.NewDefaults(), lifecycle.Policy{
				Timeouts: lifecycle.Timeouts{ExecutorStart: time.Minute}, Executors: lifecycle.Executors{Init: 4},
				Sources: lifecycle.Sources{ExecutorStart: "the annotation firesteel.dev/executors-start-timeout"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			policy := fields.Policy(test.app.Obj(), test.defaults)
			got := lifecycle.Policy{Timeouts: policy.Timeouts, ActiveDeadline: policy.ActiveDeadline, Sources: policy.Sources, Executors: policy.Executors}
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(lifecycle.Policy{}, "Spec")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	app := pi().Annotated(dialect.AnnotationActiveDeadline, "1h").Obj()
	if fields.SpecOf(app).Hash(spec.HashVersion) != fields.SpecOf(pi().Obj()).Hash(spec.HashVersion) {
		t.Error("an annotation has the application run anew")
	}
	wantSaid(t, fields.UnsupportedFields(pi().Annotated(dialect.AnnotationActiveDeadline, "soon").Obj(), bounded).Sentences(), `firesteel.dev/active-deadline] "soon" has no effect`)
}

func TestTimeToLiveOfTheOperatorsSettings(t *testing.T) {
	defaults := settings.NewDefaults()
	defaults.TimeToLive = time.Hour
	for app, want := range map[*application]time.Duration{pi(): time.Hour, pi().Spec("timeToLiveSeconds: 60"): time.Minute} {
		if got := fields.Policy(app.Obj(), defaults).TTL; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestSpecHash(t *testing.T) {
	hash := func(app *application) string {
		return fields.SpecOf(app.Obj()).Hash(spec.HashVersion)
	}
	for text, same := range map[string]bool{
		"suspend: true": true, "timeToLiveSeconds: 7": true, "arguments: [a]": false, "executor: {instances: 2}": false,
		"restartPolicy: {type: Always}": false,
	} {
		if got := hash(pi()) == hash(pi().Spec(text)); got != same {
			t.Errorf("with %s the hash is the same: %t", text, got)
		}
	}
}

func TestSpecsThatCannotRunAreRefusedWithTheirField(t *testing.T) {
	for name, test := range map[string]struct {
		app            *application
		reason         string
		message, field string
	}{
		"a name that no Service could have": {pi().Named("7-samurai"), "InvalidName", `invalid SparkApplication name "7-samurai": `, "metadata.name"},
		"a name that is too long":           {pi().Named(strings.Repeat("a", 64)), "InvalidName", "must be no more than 63", "metadata.name"},
		"client mode":                       {pi().Spec("mode: client"), "ClientModeUnsupported", `"client" is not supported`, "spec.mode"},
		"submission by the user":            {pi().Spec("submissionByUser: true"), "SubmissionByUserUnsupported", "Firesteel submits all applications", "spec.submissionByUser"},
		"client mode of old":                {pi().Spec("deployMode: client"), "ClientModeUnsupported", `"client" is not supported`, "spec.deployMode"},
		"a template for Spark 2":            {pi().Spark("2.4.8").Executor("template: {spec: {}}"), "TemplateUnsupported", "pod template feature requires Spark version 3.0.0 or higher", "spec.executor.template"},
		"node selectors of all and of one":  {pi().Spec("nodeSelector: {a: b}").Driver("nodeSelector: {c: d}"), "NodeSelectorTwice", "node selector cannot be defined at both SparkApplication and Driver/Executor", "spec.driver.nodeSelector"},
		"an Ingress without port":           {pi().Spec("driverIngressOptions: [{ingressURLFormat: a}]"), "InvalidDriverIngress", "DriverIngressOptions has nil ServicePort", "spec.driverIngressOptions[0].servicePort"},
		"an Ingress without address":        {pi().Spec("driverIngressOptions: [{servicePort: 80}]"), "InvalidDriverIngress", "DriverIngressOptions has empty IngressURLFormat", "spec.driverIngressOptions[0].ingressURLFormat"},
		"two Ingresses of a port":           {pi().Spec("driverIngressOptions: [{servicePort: 80, ingressURLFormat: a}, {servicePort: 80, ingressURLFormat: b}]"), "InvalidDriverIngress", "DriverIngressOptions has duplicate ServicePort: 80", "spec.driverIngressOptions[1].servicePort"},
		"two Ingresses of an address":       {pi().Spec("driverIngressOptions: [{servicePort: 80, ingressURLFormat: a}, {servicePort: 81, ingressURLFormat: a}]"), "InvalidDriverIngress", "DriverIngressOptions has duplicate IngressURLFormat: a", "spec.driverIngressOptions[1].ingressURLFormat"},
		"an Ingress of no address":          {pi().Spec(`driverIngressOptions: [{servicePort: 80, ingressURLFormat: "a b%zz"}]`), "InvalidDriverIngress", "is no address", "spec.driverIngressOptions[0].ingressURLFormat"},
		"another service account by a property": {pi().Conf("spark.kubernetes.authenticate.driver.serviceAccountName", "admin"), "DeniedProperty",
			`sparkConf key "spark.kubernetes.authenticate.driver.serviceAccountName" is not allowed: configure the service account via the CRD spec instead`, "spec.sparkConf"},
		"another master by a property": {pi().Conf("spark.master", "k8s://other"), "DeniedProperty", `sparkConf key "spark.master" is not allowed: this value is managed by the operator`, "spec.sparkConf[spark.master]"},
		"another namespace": {pi().Conf("spark.kubernetes.namespace", "other"), "DeniedProperty",
			`sparkConf key "spark.kubernetes.namespace" is not allowed: must equal the application namespace "team-a", got "other"`, "spec.sparkConf"},
	} {
		t.Run(name, func(t *testing.T) {
			cause := fields.Policy(test.app.Obj(), settings.NewDefaults()).Refused
			if cause == nil {
				t.Fatal("it is not refused")
			}
			if cause.Class != lifecycle.ClassApplication || cause.Reason != test.reason {
				t.Errorf("refused as %s, %s", cause.Class, cause.Reason)
			}
			for _, part := range []string{test.message, test.field} {
				if !strings.Contains(cause.Message, part) {
					t.Errorf("the message has not %q: %s", part, cause.Message)
				}
			}
		})
	}
}

func TestSpecsThatCanRunAreNotRefused(t *testing.T) {
	for name, app := range map[string]*application{
		"the application's own namespace":     pi().Conf("spark.kubernetes.namespace", "team-a"),
		"an image by a property":              pi().Conf("spark.kubernetes.container.image", "i"),
		"a template for an unreadable Spark":  pi().Spark("latest").Driver("template: {spec: {}}"),
		"a template for Spark without number": pi().Spark("").Driver("template: {spec: {}}"),
		"cluster mode over client mode":       pi().Spec("{mode: cluster, deployMode: client}"),
		"node selectors of the roles":         pi().Driver("nodeSelector: {a: b}").Executor("nodeSelector: {c: d}"),
	} {
		if cause := fields.Policy(app.Obj(), settings.NewDefaults()).Refused; cause != nil {
			t.Errorf("%s is refused: %s", name, cause.Message)
		}
	}
}
