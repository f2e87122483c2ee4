package application

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	sparkfake "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/events"
	applicationmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/applications"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate/fetch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers/driverstest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/executors"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/launch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/edits"
)

// noSink is a relay without a sink.
type noSink struct{ silent }

func (noSink) Publish(events.Snapshot) {}
func (noSink) Forget(types.UID)        {}
func (noSink) HasSink() bool           { return false }

// life runs one application through a gate with an observed log.
type life struct {
	*env
	r     *Reconciler
	kube  *fake.Clientset
	spark *sparkfake.Clientset
	clock *clocktesting.FakePassiveClock
	logs  *observer.ObservedLogs
	ctx   context.Context
}

func newLife(t *testing.T, app *sparkv1.SparkApplication) *life {
	t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	l := &life{
		env: newGateEnv(t, applicationtest.Pi()), kube: fake.NewClientset(), spark: sparkfake.NewSimpleClientset(app), clock: clocktesting.NewFakePassiveClock(applicationtest.Start),
		logs: logs,
	}
	l.kube.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		action.(clienttesting.CreateAction).GetObject().(*corev1.Pod).UID = "uid-of-driver"
		return false, nil, nil // the tracker stores it
	})
	metrics, err := applicationmetrics.New(noop.NewMeterProvider(), "", l.lookup.states)
	if err != nil {
		t.Fatal(err)
	}
	cached, deleter, expectations := driverstest.Cached(t), drivers.NewDeleter(l.kube, l.clock, nil), drivers.NewExpectations(l.clock)
	l.r = &Reconciler{
		api: applications.Apache(l.spark), kube: l.kube, deleter: deleter, launcher: launch.New(launch.Config{
			API: applications.Apache(l.spark), Kube: l.kube, Drivers: cached, Deleter: deleter, Expectations: expectations, Clock: l.clock,
			Templates: fetch.NewKeeper(t.Context(), nil, func(types.NamespacedName) {}), Redactors: base.NewRedactors(),
			EnqueueAfter: func(any, time.Duration) {},
		}), drivers: cached, relay: noSink{}, clock: l.clock,
		enqueueAfter: func(any, time.Duration) {}, deadlines: newDeadlines(func(types.NamespacedName) {}),
		expectations: expectations, newApplications: newNewApplications(apache.API), finalizerRemovals: base.NewFinalizerRemovals(apache.API.Finalizer, l.clock), relabelledDrivers: driverstest.NoneRelabelled(t),
		podEventTimes: newPodEventTimes(l.clock), edits: edits.NewTracker(),
		recordGuard: newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus), metrics: metrics,
		firstLaunches: &base.Burst{}, executorCounter: executors.NewCounter(), executorUsage: executors.NewUsage(l.clock), executorsSynced: func() bool { return true }, redactors: base.NewRedactors(),
		keepFinalizer: func(dialect.Application) bool { return false }, quotas: noQuotas(t),
	}
	l.r.newApplications.added(app, false)
	l.r.recordGuard.stores.Store(true)
	l.ctx = controller.WithEventRecorder(config.ToContext(t.Context(), config.Default()), record.NewFakeRecorder(99))
	l.ctx = logging.WithLogger(l.ctx, zap.New(core).Sugar())
	l.behind.act = func(ctx context.Context) error {
		app, err := l.spark.SparkV1().SparkApplications("team-a").Get(ctx, "pi", metav1.GetOptions{})
		switch {
		case err != nil:
			return err
		case app.DeletionTimestamp == nil:
			return l.r.Reconcile(ctx, app)
		default:
			_, err = l.r.Finalize(ctx, app)
			return err
		}
	}
	return l
}

func (l *life) reconcile(t *testing.T) {
	t.Helper()
	if err := l.Reconcile(l.ctx, "team-a/pi"); err != nil {
		if requeue, _ := controller.IsRequeueKey(err); !requeue {
			t.Fatal(err)
		}
	}
}

// driverIs has the informer show the driver Pod in another status.
func (l *life) driverIs(t *testing.T, change func(*corev1.Pod)) {
	t.Helper()
	pods, err := l.kube.CoreV1().Pods("team-a").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 1 {
		t.Fatalf("%d Pods (%v)", len(pods.Items), err)
	}
	change(&pods.Items[0])
	driverstest.Add(t, l.r.drivers, &pods.Items[0])
}

func TestLogHasEachDecisionOfAnApplication(t *testing.T) {
	app := applicationtest.Pi().Obj()
	app.Spec.MainClass, app.Spec.Jars = "Main", "local:///app.jar"
	l := newLife(t, app)
	l.reconcile(t)
	l.driverIs(t, func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	})
	l.reconcile(t)
	l.driverIs(t, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded })
	l.reconcile(t)
	deleted, err := l.spark.SparkV1().SparkApplications("team-a").Get(t.Context(), "pi", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	deleted.DeletionTimestamp = &metav1.Time{Time: applicationtest.Start}
	if err := l.spark.Tracker().Update(sparkv1.SchemeGroupVersion.WithResource("sparkapplications"), deleted, "team-a"); err != nil {
		t.Fatal(err)
	}
	l.reconcile(t)

	var transitions, debug []string
	for _, entry := range l.logs.All() {
		fields := entry.ContextMap()
		if fields["namespace"] != "team-a" || fields["name"] != "pi" {
			t.Errorf("%q does not name the application: %v", entry.Message, fields)
		}
		switch entry.Level {
		case zapcore.InfoLevel:
			transitions = append(transitions, fmt.Sprintf("%s %v: %v -> %v", entry.Message, fields["attempt"], fields["from"], fields["to"]))
		case zapcore.DebugLevel:
			var keys []string
			for _, field := range entry.Context {
				if field.Key != "namespace" && field.Key != "name" {
					keys = append(keys, field.Key)
				}
			}
			if line := fmt.Sprint(entry.Message, " ", keys); !slices.Contains(debug, line) {
				debug = append(debug, line)
			}
		default:
			t.Errorf("%s: %s %v", entry.Level, entry.Message, fields)
		}
	}
	if diff := cmp.Diff([]string{
		"transition 0:  -> Submitted",
		"transition 0: Submitted -> DriverRequested",
		"transition 0: DriverRequested -> DriverReady",
		"transition 0: DriverReady -> RunningHealthy",
		"transition 0: RunningHealthy -> Succeeded",
		"transition 0: Succeeded -> ResourceReleased",
	}, transitions); diff != "" {
		t.Errorf("info lines (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"decided adoption [step]",
		"decided [attempt state effect]",
		"wrote fence [attempt launch resourceVersion]",
		"created objects [attempt launch objects pod uid]",
		"decided [attempt state effect until]",
		"wrote status [attempt state resourceVersion]",
		"requeued [attempt state until]",
		"deleted driver Pod [attempt state pod uid reason force]",
		"removed finalizer [attempt state]",
		"removing finalizer [attempt state]",
	}, debug); diff != "" {
		t.Errorf("debug lines (-want +got):\n%s", diff)
	}
}
