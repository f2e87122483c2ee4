package launch

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/quotas"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// quotaEnv is a launcher in a namespace with a quota of Pods.
type quotaEnv struct {
	*testing.T
	*Launcher
	ctx    context.Context
	source *quotas.Source
	time   *clocktesting.FakeClock
}

func newQuotaEnv(t *testing.T, setting config.QuotaMode, kube *fake.Clientset) *quotaEnv {
	t.Helper()
	now := clocktesting.NewFakeClock(applicationtest.Start)
	tracker := quotas.New(t.Context(), kube, stillClock{now}, zap.NewNop().Sugar())
	settings := config.Default()
	settings.Admission = &config.Admission{QuotaSettings: config.QuotaSettings{Quota: setting, QuotaOvertake: time.Hour}}
	e := &quotaEnv{T: t, time: now, ctx: config.ToContext(t.Context(), settings)}
	e.source = tracker.AddSource(quotas.Source{
		Enqueue: func(types.NamespacedName) {}, Synced: func() bool { return true },
		Pods: func(types.NamespacedName, v1alpha1.Launch) quotas.Pods { return quotas.Pods{} },
	})
	tracker.Configure(settings.Admission.QuotaSettings)
	e.Launcher = New(Config{API: applications.Apache(nil), Kube: kube, Quotas: tracker, Clock: now, Redactors: base.NewRedactors()})
	return e
}

// stillClock calls nothing.
type stillClock struct{ *clocktesting.FakeClock }

func (stillClock) AfterFunc(time.Duration, func()) clock.Timer { return nil }

func (e *quotaEnv) ready() *quotaEnv {
	e.Helper()
	err := wait.PollUntilContextTimeout(e.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return e.Quotas.Ready(), nil })
	if err != nil {
		e.Fatal(err)
	}
	return e
}

func podsQuota(pods string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "team"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse(pods)}},
	}
}

// asks is an application and its record; each asks for a driver and two executors.
func (e *quotaEnv) asks(name string) (*view.Application, *v1alpha1.Record) {
	app := applicationtest.Named(name).UID(types.UID(name)).Obj()
	app.Spec.MainClass = "Main"
	return applicationtest.Viewed(app), &v1alpha1.Record{}
}

// reserves has an application reserve room, if it may.
func (e *quotaEnv) reserves(v *view.Application, record *v1alpha1.Record) (bool, lifecycle.Observation) {
	e.Helper()
	made, err := e.build(v, record.Attempt, nil)
	if err != nil {
		e.Fatal(err)
	}
	var seen lifecycle.Observation
	reserved := e.reserve(e.ctx, v, record, &made, &seen)
	if reserved {
		record.Launch = made.launch
	}
	return reserved, seen
}

// comesBack has the tracker see the record of an application, as it does after a restart.
func (e *quotaEnv) comesBack(app dialect.Application, record *v1alpha1.Record) {
	e.source.Set(quotas.State{Object: app, Record: record.DeepCopy(), Waits: true, Active: true}, false)
}

// Each of the two yields to the other. Then one of them launches.
func TestOfTwoReservationsOfUnknownOrderOneFailsWithQuotaFail(t *testing.T) {
	e := newQuotaEnv(t, config.QuotaFail, fake.NewClientset(podsQuota("3"))).ready()
	a, recordA := e.asks("a")
	b, recordB := e.asks("b")
	for v, record := range map[*view.Application]*v1alpha1.Record{a: recordA, b: recordB} {
		if reserved, seen := e.reserves(v, record); !reserved {
			t.Fatalf("%s: %+v", v.App.GetName(), seen)
		}
	}
	e.comesBack(a.App, recordA)
	e.comesBack(b.App, recordB)
	for v, record := range map[*view.Application]*v1alpha1.Record{a: recordA, b: recordB} {
		var seen lifecycle.Observation
		if confirmed, err := e.confirm(e.ctx, v, record, &seen); confirmed || err != nil || seen.LaunchRefused != nil {
			t.Errorf("%s is confirmed: %t, %v, or refused: %v", v.App.GetName(), confirmed, err, seen.LaunchRefused)
		}
		if record.Launch != nil || record.Quota.Reserved != nil || !seen.RetryLaunchAt.Equal(applicationtest.Start.Add(base.RetryAfter)) {
			t.Errorf("%s: %+v, %+v", v.App.GetName(), record, seen)
		}
	}
	e.comesBack(a.App, recordA)
	e.comesBack(b.App, recordB)
	first, _ := e.reserves(a, recordA)
	e.comesBack(a.App, recordA)
	second, seen := e.reserves(b, recordB)
	if !first || second || seen.LaunchRefused == nil || seen.LaunchRefused.Reason != "QuotaWouldBeExceeded" {
		t.Errorf("the first reserves: %t, the second: %t, %v", first, second, seen.LaunchRefused)
	}
}

func TestALaunchThatWaitsForUnknownQuotasSaysSo(t *testing.T) {
	kube := fake.NewClientset()
	kube.PrependReactor("list", "resourcequotas", func(kubetesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewInternalError(errors.New("boom"))
	})
	e := newQuotaEnv(t, config.QuotaHold, kube)
	v, record := e.asks("a")
	if reserved, seen := e.reserves(v, record); reserved || seen.LaunchHeld != nil || seen.RetryLaunchAt.IsZero() {
		t.Errorf("at first: %t, %+v", reserved, seen)
	}
	e.time.Step(time.Minute)
	if reserved, seen := e.reserves(v, record); reserved || seen.LaunchHeld == nil || seen.LaunchHeld.Reason != "WaitingForQuota" {
		t.Errorf("later: %t, %+v", reserved, seen)
	}
	at := metav1.NewMicroTime(applicationtest.Start)
	record.Launch, record.Quota = &v1alpha1.Launch{ID: "this"}, &v1alpha1.QuotaClaim{Reserved: &at}
	var seen lifecycle.Observation
	if confirmed, err := e.confirm(e.ctx, v, record, &seen); confirmed || err != nil || seen.LaunchHeld == nil {
		t.Errorf("a reservation is confirmed: %t, %v, %+v", confirmed, err, seen)
	}
}

func TestARefusedLaunchSaysNoPlace(t *testing.T) {
	e := newQuotaEnv(t, config.QuotaHold, fake.NewClientset(podsQuota("3"))).ready()
	v, record := e.asks("a")
	e.Quotas.Refused(v.App)
	const want = "The launch waits, since the API server refused one of its objects for a quota of its namespace."
	if reserved, seen := e.reserves(v, record); reserved || seen.LaunchHeld == nil || seen.LaunchHeld.Message != want {
		t.Errorf("it reserves: %t, and says %+v", reserved, seen.LaunchHeld)
	}
}

func TestAClaimKeepsWhatAnotherVersionWrote(t *testing.T) {
	e := newQuotaEnv(t, config.QuotaHold, fake.NewClientset(podsQuota("3"))).ready()
	v, record := e.asks("a")
	record.Quota = &v1alpha1.QuotaClaim{Unknown: `{"newer":1}`, Pods: []v1alpha1.QuotaPods{{Unknown: `{"newer":2}`}, {Unknown: `{"newer":3}`}, {}}}
	if reserved, seen := e.reserves(v, record); !reserved {
		t.Fatalf("%+v", seen)
	}
	if claim := record.Quota; claim.Unknown != `{"newer":1}` || claim.Pods[0].Unknown != `{"newer":2}` || claim.Pods[1].Unknown != `{"newer":3}` {
		t.Errorf("%+v", claim)
	}
}

func TestAClaimSaysWhetherSparkChangesTheNumberOfExecutors(t *testing.T) {
	e := newQuotaEnv(t, config.QuotaHold, fake.NewClientset())
	for enabled, want := range map[string]bool{"": false, "false": false, "True": true} {
		plan := submission.Plan{Properties: map[string]string{"spark.dynamicAllocation.enabled": enabled}}
		claim := e.claim(&built{objects: &submission.Objects{Driver: &corev1.Pod{}}, plan: plan}, nil)
		if claim.Elastic != want {
			t.Errorf("%q: it is elastic: %t", enabled, claim.Elastic)
		}
	}
}
