package sparkcluster

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

type fakeGenerated struct {
	reconciler.LeaderAware
	leads bool
	asked int
	err   error
}

func (f *fakeGenerated) IsLeaderFor(types.NamespacedName) bool { return f.leads }

func (f *fakeGenerated) Reconcile(context.Context, string) error {
	f.asked++
	return f.err
}

func TestOnlyWhatIsServedAndLedPasses(t *testing.T) {
	for name, test := range map[string]struct {
		leads, exists, serves bool
		passes                int
		forgotten             bool
	}{
		"served":       {leads: true, exists: true, serves: true, passes: 1},
		"gone":         {leads: true, passes: 1},
		"out of scope": {leads: true, exists: true, forgotten: true},
		"another's":    {exists: true, serves: true},
	} {
		t.Run(name, func(t *testing.T) {
			generated, forgotten := &fakeGenerated{leads: test.leads}, 0
			g := &gate{
				Generated: generated, tracer: noop.NewTracerProvider().Tracer(""), retries: base.NewRetries(),
				get: func(string) *sparkv1.SparkCluster {
					if !test.exists {
						return nil
					}
					return plainCluster()
				},
				serves: func(*sparkv1.SparkCluster) bool { return test.serves },
				forget: func(types.UID) { forgotten++ },
			}
			err := g.Reconcile(t.Context(), "spark/c")
			if generated.asked != test.passes || (forgotten > 0) != test.forgotten || (test.passes == 0) != controller.IsSkipKey(err) {
				t.Errorf("passed %d times, forgotten %d times: %v", generated.asked, forgotten, err)
			}
		})
	}
}

// The API server has another than the last written one: a newer one, or an older one from a backup.
func TestAConflictVoidsTheLastWrite(t *testing.T) {
	conflict := apierrors.NewConflict(sparkv1.Resource("sparkclusters"), "c", errors.New("changed"))
	for err, want := range map[error]int{conflict: 1, errors.New("refused"): 0} {
		forgotten := 0
		g := &gate{
			Generated: &fakeGenerated{leads: true, err: err}, tracer: noop.NewTracerProvider().Tracer(""), retries: base.NewRetries(),
			get:         func(string) *sparkv1.SparkCluster { return plainCluster() },
			serves:      func(*sparkv1.SparkCluster) bool { return true },
			forgetWrite: func(*sparkv1.SparkCluster) { forgotten++ },
		}
		_ = g.Reconcile(t.Context(), "spark/c")
		if forgotten != want {
			t.Errorf("after %v the last write is forgotten %d times, want %d", err, forgotten, want)
		}
	}
}

func TestWhatFailsIsTriedAgainEverLater(t *testing.T) {
	generated := &fakeGenerated{leads: true, err: errors.New("refused")}
	g := &gate{
		Generated: generated, tracer: noop.NewTracerProvider().Tracer(""), retries: base.NewRetries(),
		get: func(string) *sparkv1.SparkCluster { return nil },
	}
	first, second := g.Reconcile(t.Context(), "spark/c"), g.Reconcile(t.Context(), "spark/c")
	_, soon := controller.IsRequeueKey(first)
	if again, later := controller.IsRequeueKey(second); !again || later <= soon {
		t.Errorf("again after %s, then after %s", soon, later)
	}
	generated.err = nil
	if err := g.Reconcile(t.Context(), "spark/c"); err != nil {
		t.Error(err)
	}
}
