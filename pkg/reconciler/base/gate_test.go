package base

import (
	"context"
	"errors"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

type fakeGenerated struct {
	reconciler.LeaderAware
	// blocks makes each call wait until it is closed; nil if no call waits.
	blocks chan struct{}
	began  chan struct{}
	leads  bool
	calls  int
	err    error
}

func (f *fakeGenerated) IsLeaderFor(types.NamespacedName) bool { return f.leads }

func (f *fakeGenerated) Reconcile(context.Context, string) error {
	if f.blocks != nil {
		f.began <- struct{}{}
		<-f.blocks
		return f.err
	}
	f.calls++
	return f.err
}

// gateEnv is a gate for one Pod, and the calls that it makes.
type gateEnv struct {
	*Gate[*corev1.Pod]
	generated *fakeGenerated
	pod       *corev1.Pod
	served    bool
	spans     *tracetest.InMemoryExporter
	// forgotten and forgottenWrites count calls.
	forgotten, forgottenWrites int
	enqueued                   []types.NamespacedName
}

func newGateEnv() *gateEnv {
	e := &gateEnv{
		generated: &fakeGenerated{leads: true}, served: true, spans: tracetest.NewInMemoryExporter(),
		pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: "c"}},
	}
	e.Gate = &Gate[*corev1.Pod]{
		Generated: e.generated, Kind: "cluster", Retries: NewRetries(),
		Workers:        fairshare.NewWorkers(4, func(key types.NamespacedName) { e.enqueued = append(e.enqueued, key) }),
		Tracer:         sdktrace.NewTracerProvider(sdktrace.WithSyncer(e.spans)).Tracer("test"),
		Lookup:         func(types.NamespacedName) (*corev1.Pod, bool) { return e.pod, e.pod != nil && e.served },
		ForgetUnserved: func(*corev1.Pod) { e.forgotten++ },
		ForgetWrite:    func(*corev1.Pod) { e.forgottenWrites++ },
	}
	return e
}

func TestGateLeavesWorkersToOtherNamespaces(t *testing.T) {
	e := newGateEnv()
	e.generated.blocks, e.generated.began = make(chan struct{}), make(chan struct{})
	results := make(chan error)
	start := func(key string) { go func() { results <- e.Reconcile(t.Context(), key) }() }
	for _, key := range []string{"slow/1", "slow/2", "slow/3"} {
		start(key)
		<-e.generated.began
	}
	if err := e.Reconcile(t.Context(), "slow/4"); !controller.IsSkipKey(err) {
		t.Errorf("the last worker takes a key of a namespace that holds all others: %v", err)
	}
	start("innocent/1")
	<-e.generated.began
	close(e.generated.blocks)
	for range 4 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if len(e.enqueued) != 1 || e.enqueued[0].String() != "slow/4" {
		t.Errorf("%v are enqueued, want the key that found no worker", e.enqueued)
	}
}

func TestGateAdmitsOnlyWhatIsServedAndLed(t *testing.T) {
	for name, test := range map[string]struct {
		leads, exists, served bool
		calls                 int
		forgotten             bool
	}{
		"served":                 {leads: true, exists: true, served: true, calls: 1},
		"deleted":                {leads: true, calls: 1},
		"out of scope":           {leads: true, exists: true, forgotten: true},
		"led by another replica": {exists: true, served: true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newGateEnv()
			e.generated.leads, e.served = test.leads, test.served
			if !test.exists {
				e.pod = nil
			}
			err := e.Reconcile(t.Context(), "spark/c")
			if e.generated.calls != test.calls || (e.forgotten > 0) != test.forgotten || (test.calls == 0) != controller.IsSkipKey(err) {
				t.Errorf("%d calls, forgotten %d times: %v", e.generated.calls, e.forgotten, err)
			}
		})
	}
}

func TestGateForgetsAnObjectThatLeavesTheScopeDuringItsReconcile(t *testing.T) {
	e := newGateEnv()
	e.ReconcileWithoutFinalizer = func(context.Context, *corev1.Pod) (bool, error) {
		e.served = false
		return true, nil
	}
	if err := e.Reconcile(t.Context(), "spark/c"); err != nil || e.forgotten != 1 || e.generated.calls != 0 {
		t.Errorf("forgotten %d times, %d calls: %v", e.forgotten, e.generated.calls, err)
	}
}

func TestGateLeavesAnObjectWithTheFinalizerToTheGeneratedReconciler(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   int // calls of the generated reconciler
	}{
		"no finalizer":             {func(*corev1.Pod) {}, 0},
		"the finalizer of another": {func(pod *corev1.Pod) { pod.Finalizers = []string{"example.com/theirs"} }, 0},
		"the finalizer":            {func(pod *corev1.Pod) { pod.Finalizers = []string{"example.com/ours"} }, 1},
		"deleted":                  {func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{} }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := newGateEnv()
			test.change(e.pod)
			e.Finalizer, e.ReconcileWithoutFinalizer = "example.com/ours", func(context.Context, *corev1.Pod) (bool, error) { return true, nil }
			if err := e.Reconcile(t.Context(), "spark/c"); err != nil || e.generated.calls != test.want {
				t.Errorf("%d calls, want %d: %v", e.generated.calls, test.want, err)
			}
		})
	}
}

// The API server has another version than the last written one: a newer one, or an older one from a backup.
func TestGateForgetsTheLastWriteAfterAConflict(t *testing.T) {
	conflict := apierrors.NewConflict(corev1.Resource("pods"), "c", errors.New("changed"))
	for err, want := range map[error]int{conflict: 1, errors.New("refused"): 0} {
		e := newGateEnv()
		e.generated.err = err
		_ = e.Reconcile(t.Context(), "spark/c")
		if e.forgottenWrites != want {
			t.Errorf("after %v the last write is forgotten %d times, want %d", err, e.forgottenWrites, want)
		}
	}
}

func TestGateRetriesFailuresWithGrowingDelays(t *testing.T) {
	e := newGateEnv()
	e.generated.err = errors.New("refused")
	first, second := e.Reconcile(t.Context(), "spark/c"), e.Reconcile(t.Context(), "spark/c")
	_, soon := controller.IsRequeueKey(first)
	if requeue, later := controller.IsRequeueKey(second); !requeue || later <= soon {
		t.Errorf("requeued after %s, then after %s", soon, later)
	}
	e.generated.err = nil
	if err := e.Reconcile(t.Context(), "spark/c"); err != nil {
		t.Error(err)
	}
}

func TestGateDefersAnObjectThatYields(t *testing.T) {
	e := newGateEnv()
	e.Begin = func(ctx context.Context, _ types.NamespacedName, _ *corev1.Pod) (context.Context, time.Duration) {
		return ctx, time.Second
	}
	err := e.Reconcile(t.Context(), "spark/c")
	if requeue, after := controller.IsRequeueKey(err); !requeue || after != time.Second || e.generated.calls != 0 {
		t.Errorf("%d calls: %v", e.generated.calls, err)
	}
}

func TestGateTracesEachReconcile(t *testing.T) {
	e := newGateEnv()
	e.generated.err = errors.New("refused")
	_ = e.Reconcile(t.Context(), "spark/c")
	spans := e.spans.GetSpans()
	if len(spans) != 1 || spans[0].Name != "reconcile" || len(spans[0].Events) != 1 {
		t.Fatalf("the spans are %v", spans)
	}
	attributes := map[string]string{}
	for _, attribute := range spans[0].Attributes {
		attributes[string(attribute.Key)] = attribute.Value.AsString()
	}
	if attributes["k8s.namespace.name"] != "spark" || attributes["firesteel.cluster"] != "c" {
		t.Errorf("the attributes are %v", attributes)
	}
}
