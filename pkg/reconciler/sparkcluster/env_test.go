package sparkcluster

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/zap"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"knative.dev/pkg/controller"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	sparkfake "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/masterui"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/kube/objectclient"
	"github.com/firesteel-dev/firesteel/pkg/metrics/clusters"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/quotas"
	"github.com/firesteel-dev/firesteel/test/harness/fakeclient"
)

// env is a reconciler with fakes around it.
type env struct {
	*testing.T
	ctx      context.Context
	kube     *kubefake.Clientset
	spark    *sparkfake.Clientset
	masters  *fakeMasters
	relay    *fakePublisher
	clock    *clocktesting.FakeClock
	r        *Reconciler
	requeues []time.Duration
	events   *record.FakeRecorder
}

var began = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// newEnv returns an env with one cluster.
func newEnv(t *testing.T, c *sparkv1.SparkCluster) *env {
	t.Helper()
	w := &env{
		T: t, kube: kubefake.NewClientset(), spark: sparkfake.NewSimpleClientset(c),
		masters: &fakeMasters{}, relay: &fakePublisher{}, clock: clocktesting.NewFakeClock(began), events: record.NewFakeRecorder(32),
	}
	w.kube.PrependReactor("*", "*", identities())
	w.ctx = controller.WithEventRecorder(config.ToContext(t.Context(), config.Default()), w.events)
	metrics, err := clusters.New(noop.NewMeterProvider(), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.r = &Reconciler{
		kube: w.kube, client: w.spark, masters: w.masters, relay: w.relay, clock: w.clock, state: newClusterState(w.clock),
		enqueueAfter: func(_ any, after time.Duration) { w.requeues = append(w.requeues, after) }, metrics: metrics,
	}
	w.r.tracker = quotas.New(w.ctx, w.kube, quotaClock{w.clock}, zap.NewNop().Sugar())
	w.r.quotas = w.r.tracker.AddSource(quotas.Source{
		Enqueue: func(types.NamespacedName) {}, Synced: func() bool { return true },
		Pods: w.r.podsOfCluster(func(types.NamespacedName) *sparkv1.SparkCluster { return w.now() }),
	})
	w.r.owned = newOwnedObjects(w.ctx, w.kube, w.clock, func(types.NamespacedName, object) {})
	w.waitUntil("know what there is", w.r.owned.synced)
	w.waitUntil("watch it", func() bool { return fakeclient.WatchesAll(&w.kube.Fake) })
	w.kube.ClearActions()
	return w
}

// quotaClock calls nothing.
type quotaClock struct{ *clocktesting.FakeClock }

func (quotaClock) AfterFunc(time.Duration, func()) clock.Timer { return nil }

// identities gives objects uids and resourceVersions, as an API server does and the fake one does not: they distinguish an object from
// an earlier one of its name.
func identities() clienttesting.ReactionFunc {
	var last atomic.Int64
	return func(action clienttesting.Action) (bool, runtime.Object, error) {
		carrier, ok := action.(interface{ GetObject() runtime.Object })
		if !ok {
			return false, nil, nil
		}
		o := carrier.GetObject().(metav1.Object)
		version := strconv.FormatInt(last.Add(1), 10)
		o.SetResourceVersion(version)
		if o.GetUID() == "" {
			o.SetUID(types.UID("uid-" + version))
		}
		return false, nil, nil
	}
}

// plainCluster is one of two workers that no controller reconciled.
func plainCluster() *sparkv1.SparkCluster {
	return &sparkv1.SparkCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: "c", UID: "uid", Generation: 1, CreationTimestamp: metav1.NewTime(began)},
		Spec: sparkv1.ClusterSpec{
			RuntimeVersions:    sparkv1.RuntimeVersions{SparkVersion: "4.1.4"},
			ClusterTolerations: sparkv1.ClusterTolerations{InstanceConfig: sparkv1.WorkerInstanceConfig{InitWorkers: 2, MinWorkers: 2, MaxWorkers: 2}},
		},
	}
}

func (w *env) waitUntil(what string, holds func() bool) {
	w.Helper()
	err := wait.PollUntilContextTimeout(w.ctx, time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		w.Fatalf("waited to %s", what)
	}
}

// now is the cluster as the API server has it.
func (w *env) now() *sparkv1.SparkCluster {
	w.Helper()
	c, err := w.spark.SparkV1().SparkClusters("spark").Get(w.ctx, "c", metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// reconcile reconciles the cluster as it is, and returns it as it is then.
func (w *env) reconcile() *sparkv1.SparkCluster {
	w.Helper()
	if err := w.r.ReconcileKind(w.ctx, w.now()); err != nil {
		w.Fatal(err)
	}
	return w.now()
}

// edit changes the cluster, as users do.
func (w *env) edit(change func(*sparkv1.SparkCluster)) {
	w.Helper()
	c := w.now()
	change(c)
	c.Generation++
	if _, err := w.spark.SparkV1().SparkClusters("spark").Update(w.ctx, c, metav1.UpdateOptions{}); err != nil {
		w.Fatal(err)
	}
	w.r.state.written.Forget(c)
}

// runs brings the cluster to run.
func (w *env) runs() *sparkv1.SparkCluster {
	w.Helper()
	w.reconcile()
	w.masters.seen = &cluster.Master{Alive: true, Workers: 2}
	c := w.reconcile()
	if state := c.Status.CurrentState.CurrentStateSummary; state != "RunningHealthy" {
		w.Fatalf("the cluster is %s", state)
	}
	w.waitForCaches()
	return c
}

// waitForCaches waits until the caches have what was written, and forgets the writes.
func (w *env) waitForCaches() {
	w.Helper()
	objects, err := resources.Build(w.now(), resources.Defaults{})
	if err != nil {
		w.Fatal(err)
	}
	w.waitUntil("see what was written", func() bool {
		return !slices.ContainsFunc(objects.All(), func(wanted object) bool {
			found, known, _ := w.r.owned.informers[objectclient.KindOf(wanted)].GetStore().GetByKey("spark/" + wanted.GetName())
			return !known || hashOf(found.(object)) != hashOf(wanted)
		})
	})
	w.forgetWrites()
}

// createPod creates a Pod and waits until the cache has it.
func (w *env) createPod(pod *corev1.Pod) {
	w.Helper()
	if _, err := w.kube.CoreV1().Pods(pod.Namespace).Create(w.ctx, pod, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	w.waitUntil("see the Pod", func() bool { return len(w.r.owned.podsOf("spark", "c")) > 0 })
}

func (w *env) forgetWrites() {
	w.kube.ClearActions()
	w.spark.ClearActions()
	w.requeues = nil
}

// writes are the writes since they were last forgotten: of the cluster, then of its objects.
func (w *env) writes() []string {
	var asked []string
	for _, action := range slices.Concat(w.spark.Actions(), w.kube.Actions()) {
		if slices.Contains([]string{"get", "list", "watch"}, action.GetVerb()) {
			continue
		}
		text := action.GetVerb() + " " + action.GetResource().Resource
		if action.GetSubresource() != "" {
			text += "/" + action.GetSubresource()
		}
		switch named := action.(type) {
		case clienttesting.CreateAction:
			text += " " + named.GetObject().(metav1.Object).GetName()
		case interface{ GetName() string }:
			text += " " + named.GetName()
		}
		asked = append(asked, text)
	}
	return asked
}

func (w *env) wantWrites(what string, want ...string) {
	w.Helper()
	if got := w.writes(); !slices.Equal(got, want) {
		w.Errorf("%s: asked to %s, want %s", what, strings.Join(got, ", "), strings.Join(want, ", "))
	}
	w.forgetWrites()
}

func (w *env) set(name string) *appsv1.StatefulSet {
	w.Helper()
	set, err := w.kube.AppsV1().StatefulSets("spark").Get(w.ctx, name, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return set
}

// setRefusal has the API server refuse a verb for a resource.
func (w *env) refuse(verb, resource string, err error) {
	w.kube.PrependReactor(verb, resource, func(clienttesting.Action) (bool, kubeObject, error) { return true, nil, err })
}

type fakeMasters struct {
	seen     *cluster.Master
	followed masterui.Master
	every    time.Duration
	gone     int
}

func (m *fakeMasters) Follow(_ types.UID, _ types.NamespacedName, master masterui.Master, every time.Duration) {
	m.followed, m.every = master, every
}
func (m *fakeMasters) PollNow(types.UID)              {}
func (m *fakeMasters) Seen(types.UID) *cluster.Master { return m.seen }
func (m *fakeMasters) Forget(types.UID)               { m.gone++ }

func (m *fakeMasters) ForgetWhere(func(types.NamespacedName) bool) {}

type fakePublisher struct {
	published []events.Snapshot
	progress  events.Progress
	gone      int
}

func (r *fakePublisher) Publish(story events.Snapshot)           { r.published = append(r.published, story) }
func (r *fakePublisher) Progress(types.UID) events.Progress      { return r.progress }
func (r *fakePublisher) Forget(types.UID)                        { r.gone++ }
func (r *fakePublisher) ForgetMatching(func(events.Object) bool) {}
func (r *fakePublisher) HandlerSettingsChanged()                 {}
func (r *fakePublisher) HasSink() bool                           { return true }

var errAway = errors.New("connection refused")
