package sparkcluster

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/setup"
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
				Generated: generated, tracer: noop.NewTracerProvider().Tracer(""), retries: setup.NewRetries(),
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

func TestWhatFailsIsTriedAgainEverLater(t *testing.T) {
	generated := &fakeGenerated{leads: true, err: errors.New("refused")}
	g := &gate{
		Generated: generated, tracer: noop.NewTracerProvider().Tracer(""), retries: setup.NewRetries(),
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
