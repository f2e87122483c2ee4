package application

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"knative.dev/pkg/controller"
	logtesting "knative.dev/pkg/logging/testing"
	"knative.dev/pkg/reconciler"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	applicationmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/applications"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers/driverstest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// listener is a Publisher that records which objects it has to forget, and how often the settings of handlers changed.
type listener struct {
	delivery.Publisher
	forgot []types.UID
	moved  int
}

func (l *listener) Forget(uid types.UID)               { l.forgot = append(l.forgot, uid) }
func (l *listener) HandlerSettingsChanged()            { l.moved++ }
func (l *listener) Progress(types.UID) events.Progress { return events.Progress{} }

// generatedReconciler is the reconciler behind the gate.
type generatedReconciler struct {
	reconciler.LeaderAwareFuncs
	keys []string
	act  func(ctx context.Context) error
}

func (b *generatedReconciler) Reconcile(ctx context.Context, key string) error {
	b.keys = append(b.keys, key)
	if b.act == nil {
		return nil
	}
	return b.act(ctx)
}

// env is a gate, and all around it.
type env struct {
	*base.Gate[dialect.Application]
	store  *config.Store
	cache  cache.Indexer
	behind *generatedReconciler
	relay  *listener
	spans  *tracetest.InMemoryExporter
	lookup lookup
	// firstLaunches are the applications that wait for their first reconcile.
	firstLaunches base.Burst
	// restsWithoutFinalizer are applications that are to have no finalizer.
	atRest []string
	// forgotten are applications whose last write was forgotten.
	forgotten []string
	// namespaces are the labels of those that are known.
	namespaces map[string]labels.Set
}

func newGateEnv(t *testing.T, apps ...*applicationtest.Application) *env {
	t.Helper()
	e := &env{
		cache:  cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		behind: &generatedReconciler{}, relay: &listener{}, spans: tracetest.NewInMemoryExporter(),
	}
	e.store = config.NewStore(logtesting.TestLogger(t), func(*config.Config, *config.Config) {}, nil)
	for _, app := range apps {
		if err := e.cache.Add(app.Obj()); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.behind.Promote(reconciler.UniversalBucket(), nil); err != nil {
		t.Fatal(err)
	}
	r := &Reconciler{
		api: applications.Apache(nil), relay: e.relay, podEventTimes: newPodEventTimes(applicationtest.ClockAt(applicationtest.Start)), relabelledDrivers: driverstest.NoneRelabelled(t),
		recordGuard: newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus),
	}
	e.lookup = lookup{
		lister{e.cache}, func(app dialect.Application) bool { return e.store.Load().Scope.Serves(app, e.labelsOf) },
		func(string) dialect.Dialect { return apache.New(apache.Defaults{}) }, applicationmetrics.NewStateCounter(clock.RealClock{}),
	}
	e.Gate = newGate(r, e.behind, e.lookup, fairshare.NewWorkers(Workers, func(types.NamespacedName) {}), sdktrace.NewTracerProvider(sdktrace.WithSyncer(e.spans)).Tracer("test"),
		yielding{&base.Burst{}, &e.firstLaunches, r.podEventTimes, applicationtest.ClockAt(applicationtest.Start), func(dialect.Application) bool { return false }},
		func(_ context.Context, app dialect.Application) (bool, error) {
			return slices.Contains(e.atRest, app.GetName()), nil
		})
	e.ForgetWrite = func(app dialect.Application) { e.forgotten = append(e.forgotten, app.GetName()) }
	return e
}

func (e *env) labelsOf(namespace string) (labels.Set, bool) {
	its, known := e.namespaces[namespace]
	return its, known
}

func (e *env) scope(key, value string) {
	e.store.OnConfigChanged(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: config.ScopeName}, Data: map[string]string{key: value},
	})
}

func TestGateAddsNoFinalizerToAnApplicationAtRest(t *testing.T) {
	e := newGateEnv(t, applicationtest.Pi())
	e.atRest = []string{"pi"}
	if err := e.Reconcile(t.Context(), "team-a/pi"); err != nil || len(e.behind.keys) > 0 {
		t.Errorf("%v: passed %v", err, e.behind.keys)
	}
	e.atRest = nil
	if err := e.Reconcile(t.Context(), "team-a/pi"); err != nil || len(e.behind.keys) != 1 {
		t.Errorf("%v: once it is not, passed %v", err, e.behind.keys)
	}
}

func TestGateAdmitsServedApplications(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*env)
		key     string
		passes  bool
		forgets []types.UID
	}{
		"everything by default":          {func(*env) {}, "team-a/pi", true, nil},
		"what is in a watched namespace": {func(e *env) { e.scope("watched-namespaces", "team-a") }, "team-a/pi", true, nil},
		"nothing of another, which is forgotten": {
			func(e *env) { e.scope("watched-namespaces", "team-b") }, "team-a/pi", false, []types.UID{"uid-of-pi"},
		},
		"nothing that is not selected": {
			func(e *env) { e.scope("label-selector", "a=b") }, "team-a/pi", false, []types.UID{"uid-of-pi"},
		},
		"what is in a namespace that is selected": {func(e *env) {
			e.scope("namespace-selector", "spark=enabled")
			e.namespaces = map[string]labels.Set{"team-a": {"spark": "enabled"}}
		}, "team-a/pi", true, nil},
		"nothing in one that is not, which is forgotten": {func(e *env) {
			e.scope("namespace-selector", "spark=enabled")
			e.namespaces = map[string]labels.Set{"team-a": {"spark": "disabled"}}
		}, "team-a/pi", false, []types.UID{"uid-of-pi"}},
		"nothing in one that is not known yet": {
			func(e *env) { e.scope("namespace-selector", "spark=enabled") }, "team-a/pi", false, []types.UID{"uid-of-pi"},
		},
		"and forgets what its namespace leaves while it is inside": {func(e *env) {
			e.scope("namespace-selector", "spark=enabled")
			e.namespaces = map[string]labels.Set{"team-a": {"spark": "enabled"}}
			e.behind.act = func(context.Context) error { e.namespaces["team-a"] = nil; return nil }
		}, "team-a/pi", true, []types.UID{"uid-of-pi"}},
		"what is gone, so that it may be forgotten": {func(*env) {}, "team-a/po", true, nil},
		"nothing that another replica leads": {
			func(e *env) { e.behind.Demote(reconciler.UniversalBucket()) }, "team-a/pi", false, nil,
		},
		"and forgets what neither leads nor serves": {
			func(e *env) { e.behind.Demote(reconciler.UniversalBucket()); e.scope("label-selector", "a=b") },
			"team-a/pi", false, []types.UID{"uid-of-pi"},
		},
		"and forgets what leaves while it is inside": {func(e *env) {
			e.behind.act = func(context.Context) error { e.scope("label-selector", "a=b"); return nil }
		}, "team-a/pi", true, []types.UID{"uid-of-pi"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newGateEnv(t, applicationtest.Pi())
			test.change(e)
			err := e.Reconcile(context.Background(), test.key)
			if controller.IsSkipKey(err) == test.passes || (len(e.behind.keys) == 1) != test.passes {
				t.Errorf("%v: passed %v, want %t", err, e.behind.keys, test.passes)
			}
			if diff := cmp.Diff(test.forgets, e.relay.forgot); diff != "" {
				t.Errorf("forgot (-want +got):\n%s", diff)
			}
		})
	}
	if err := newGateEnv(t).Reconcile(context.Background(), "a/b/c"); !controller.IsPermanentError(err) {
		t.Errorf("a key that is none leads to %v", err)
	}
}

// What is not served, not led or fails would otherwise hold up others for ever.
func TestGateRemovesFirstLaunchesFromTheBacklogWithAnyResult(t *testing.T) {
	for name, change := range map[string]func(*env){
		"a success":   func(*env) {},
		"a failure":   func(e *env) { e.behind.act = func(context.Context) error { return errors.New("no luck") } },
		"not led":     func(e *env) { e.behind.Demote(reconciler.UniversalBucket()) },
		"not served":  func(e *env) { e.scope("watched-namespaces", "team-b") },
		"without one": func(e *env) { e.atRest = []string{"pi"} },
	} {
		t.Run(name, func(t *testing.T) {
			e := newGateEnv(t, applicationtest.Pi())
			for i := range 31 {
				e.firstLaunches.Set(types.UID(fmt.Sprint(i)), true)
			}
			e.firstLaunches.Set("uid-of-pi", true)
			change(e)
			if !e.firstLaunches.IsOn() {
				t.Error("the backlog is short before")
			}
			_ = e.Reconcile(t.Context(), "team-a/pi")
			if e.firstLaunches.IsOn() {
				t.Error("the application still waits")
			}
		})
	}
}

func TestGateTracesReconciles(t *testing.T) {
	conflict := apierrors.NewConflict(sparkv1.Resource("sparkapplications"), "pi", errors.New("changed"))
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"what succeeds":            {nil, "reconcile Unset"},
		"what fails":               {errors.New("no luck"), "reconcile Error"},
		"what is to be done again": {controller.NewRequeueAfter(time.Second), "reconcile Unset"},
		"what was changed since":   {conflict, "reconcile Unset"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newGateEnv(t, applicationtest.Pi())
			e.behind.act = func(context.Context) error { return test.err }
			_ = e.Reconcile(context.Background(), "team-a/pi")
			var got []string
			for _, span := range e.spans.GetSpans() {
				got = append(got, span.Name+" "+span.Status.Code.String())
			}
			if strings.Join(got, ", ") != test.want {
				t.Errorf("spans are %v, want %s", got, test.want)
			}
		})
	}
}

// The API server has another than the last written one: a newer one, or an older one from a backup.
func TestGateForgetsTheLastWriteAfterAConflict(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want []string
	}{
		"a conflict": {fmt.Errorf("write status: %w", apierrors.NewConflict(sparkv1.Resource("sparkapplications"), "pi", errors.New("changed"))), []string{"pi"}},
		"a failure":  {errors.New("no API server"), nil},
		"a success":  {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := newGateEnv(t, applicationtest.Pi())
			e.behind.act = func(context.Context) error { return test.err }
			_ = e.Reconcile(context.Background(), "team-a/pi")
			if !slices.Equal(e.forgotten, test.want) {
				t.Errorf("the last writes of %v are forgotten, want %v", e.forgotten, test.want)
			}
		})
	}
}

func TestGateRetriesFailuresAfterTheirBackOff(t *testing.T) {
	const applications, retryFrom, retryCap = 1000, 5 * time.Millisecond, time.Minute
	var apps []*applicationtest.Application
	for i := range applications {
		apps = append(apps, applicationtest.Named(fmt.Sprint(i)))
	}
	e := newGateEnv(t, apps...)
	again := func(app int, failure error) time.Duration {
		t.Helper()
		e.behind.act = func(context.Context) error { return failure }
		err := e.Reconcile(context.Background(), fmt.Sprintf("team-a/%d", app))
		requeue, after := controller.IsRequeueKey(err)
		if requeue != (failure != nil) {
			t.Fatalf("error is %v", err)
		}
		return after
	}
	conflict := apierrors.NewConflict(sparkv1.Resource("sparkapplications"), "pi", errors.New("changed"))
	for app := range applications {
		if after := again(app, errors.New("no API server")); after != retryFrom {
			t.Fatalf("when %d others have failed, one is tried again after %s, want %s", app, after, retryFrom)
		}
	}
	if after := again(0, conflict); after != 2*retryFrom {
		t.Errorf("after a conflict it is tried again after %s, want %s", after, 2*retryFrom)
	}
	for range 20 {
		again(0, errors.New("no API server"))
	}
	if after := again(0, errors.New("no API server")); after != retryCap {
		t.Errorf("after many failures it is tried again after %s, want %s", after, retryCap)
	}
	again(0, nil)
	if after := again(0, conflict); after != retryFrom {
		t.Errorf("after a success it is tried again after %s, want %s", after, retryFrom)
	}
}

func TestGateReturnsOtherResultsUnchanged(t *testing.T) {
	for name, err := range map[string]error{
		"a key to look at later": controller.NewRequeueAfter(time.Hour),
		"a key of no replica":    controller.NewSkipKey("team-a/pi"),
		"what can never work":    controller.NewPermanentError(errors.New("no")),
	} {
		t.Run(name, func(t *testing.T) {
			e := newGateEnv(t, applicationtest.Pi())
			e.behind.act = func(context.Context) error { return err }
			if got := e.Reconcile(context.Background(), "team-a/pi"); !errors.Is(got, err) {
				t.Errorf("error is %v, want %v", got, err)
			}
		})
	}
}

func TestGateCountsServedApplicationsByState(t *testing.T) {
	e := newGateEnv(t, applicationtest.Pi(), applicationtest.Named("over").In(lifecycle.Succeeded, 6, 6), applicationtest.Named("other").In(lifecycle.Succeeded, 6, 6))
	reconcile := func(names ...string) {
		for _, name := range names {
			if err := e.Reconcile(context.Background(), "team-a/"+name); err != nil && !controller.IsSkipKey(err) {
				t.Fatal(err)
			}
		}
	}
	check := func(when string, want map[string]int64) {
		t.Helper()
		if diff := cmp.Diff(want, e.lookup.states.Count()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	reconcile("pi", "over", "other", "over")
	check("at first", map[string]int64{"New": 1, "Succeeded": 2})
	if err := e.cache.Update(applicationtest.Pi().In(lifecycle.Succeeded, 6, 6).Obj()); err != nil {
		t.Fatal(err)
	}
	if err := e.cache.Delete(applicationtest.Named("over").Obj()); err != nil {
		t.Fatal(err)
	}
	reconcile("pi")
	e.lookup.find(types.NamespacedName{Namespace: "team-a", Name: "over"})
	check("after a change and a deletion", map[string]int64{"New": 0, "Succeeded": 2})
	e.scope("watched-namespaces", "team-b")
	reconcile("pi", "other")
	check("when they are another's", map[string]int64{"New": 0, "Succeeded": 0})
}

func TestPodEventTimesAreReturnedOnce(t *testing.T) {
	clock := applicationtest.ClockAt(applicationtest.Start)
	a := newPodEventTimes(clock)
	name := types.NamespacedName{Namespace: "team-a", Name: "pi"}
	if _, known := a.detectedAfter(a.take(context.Background(), name)); known {
		t.Error("something arrived of which nothing was noted")
	}
	a.record(name)
	clock.SetTime(applicationtest.Start.Add(time.Second))
	a.record(name) // the first counts
	ctx := a.take(context.Background(), name)
	clock.SetTime(applicationtest.Start.Add(3 * time.Second))
	if after, known := a.detectedAfter(ctx); !known || after != 3*time.Second {
		t.Errorf("told after %s (%t), want 3 s", after, known)
	}
	if _, known := a.detectedAfter(ctx); known {
		t.Error("it is told of twice")
	}
	if a.at.Len() != 0 {
		t.Errorf("it still remembers %v", a.at)
	}
}

func TestSettingChangeEnqueuesTheApplicationsItConcerns(t *testing.T) {
	red := applicationtest.Named("red")
	red.App.Labels = map[string]string{"color": "red"}
	apps := []*applicationtest.Application{applicationtest.Pi(), red}
	for name, test := range map[string]struct {
		configMap     string
		before, after map[string]string
		want          string
		moved         int
	}{
		"nothing new": {config.DefaultsName, map[string]string{"image": "ours"}, map[string]string{"image": "ours"}, "", 0},
		"a default concerns all that are served": {
			config.DefaultsName, nil, map[string]string{"applicationTolerations": "ttlAfterStopMillis: 1"}, "pi red", 0,
		},
		"a narrower scope concerns those that leave": {config.ScopeName, nil, map[string]string{"label-selector": "color=red"}, "pi", 0},
		"a wider scope concerns those that come":     {config.ScopeName, map[string]string{"label-selector": "color=red"}, nil, "pi", 0},
		"another namespace concerns those in neither": {
			config.ScopeName, map[string]string{"watched-namespaces": "b"}, map[string]string{"watched-namespaces": "c"}, "", 0,
		},
		"handlers that move concern the relay": {config.HandlersName, nil, map[string]string{"ttl": "external"}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			relay, resynced := &listener{}, ""
			r := &Reconciler{api: applications.Apache(nil), relay: relay}
			r.resync = func(concerned func(any) bool) {
				var names []string
				for _, app := range apps {
					if concerned(app.Obj()) {
						names = append(names, app.App.Name)
					}
				}
				resynced = strings.Join(names, " ")
			}
			store := config.NewStore(logtesting.TestLogger(t), func(before, after *config.Config) {
				r.settingsChanged(before, after)
			}, nil)
			for _, data := range []map[string]string{test.before, test.after} {
				resynced, relay.moved = "", 0
				store.OnConfigChanged(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: test.configMap}, Data: data})
			}
			if resynced != test.want || relay.moved != test.moved {
				t.Errorf("it concerns %q and moved %d handlers, want %q and %d", resynced, relay.moved, test.want, test.moved)
			}
		})
	}
	if concerned := concernedByDefaults(t); concerned("text") {
		t.Error("it concerns what is no application")
	}
}

// concernedByDefaults is what a change of the defaults concerns.
func concernedByDefaults(t *testing.T) (concerned func(any) bool) {
	t.Helper()
	r := &Reconciler{api: applications.Apache(nil), relay: &listener{}, resync: func(c func(any) bool) { concerned = c }}
	after := config.Default()
	after.Defaults.Image = "ours"
	r.settingsChanged(config.Default(), after)
	return concerned
}
