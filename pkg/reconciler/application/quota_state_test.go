package application

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/quotas"
)

// noQuotas returns the source of a tracker that compares nothing.
func noQuotas(t *testing.T) *quotas.Source {
	return quotas.New(t.Context(), fake.NewClientset(), clock.RealClock{}, zap.NewNop().Sugar()).AddSource(quotas.Source{})
}

func TestAnApplicationThatIsNotLaunchedNeitherWaitsNorHoldsRoom(t *testing.T) {
	everyDialect := func(string) dialect.Dialect { return apache.New(apache.Defaults{}) }
	driver := &v1alpha1.Launch{ID: "this", DriverUID: "uid-of-driver"}
	for name, test := range map[string]struct {
		state         lifecycle.State
		launch        *v1alpha1.Launch
		served        bool
		waits, active bool
		undecodable   string
	}{
		"it waits":                                {lifecycle.Submitted, nil, true, true, true, ""},
		"it waited, and left the scope":           {lifecycle.Submitted, nil, false, false, false, ""},
		"it holds room":                           {lifecycle.Submitted, &v1alpha1.Launch{ID: "this"}, true, true, true, ""},
		"it held room, and left the scope":        {lifecycle.Submitted, &v1alpha1.Launch{ID: "this"}, false, false, false, ""},
		"it left the scope with a driver":         {lifecycle.RunningHealthy, driver, false, false, true, ""},
		"it has ended, and has the driver's name": {lifecycle.Failed, driver, true, false, false, ""},
		"it waits, and cannot be decoded":         {lifecycle.Submitted, nil, true, false, false, "no"},
		"it holds room, and cannot be decoded":    {lifecycle.Submitted, &v1alpha1.Launch{ID: "this"}, true, false, false, "no"},
		"it runs, and cannot be decoded":          {lifecycle.RunningHealthy, driver, true, false, true, "no"},
	} {
		app := applicationtest.Pi().In(test.state, 1, 1).Obj()
		app.Undecodable = test.undecodable
		record := app.GetRecord()
		record.Quota, record.Launch = &v1alpha1.QuotaClaim{}, test.launch
		state := quotaState(app, everyDialect, func(dialect.Application) bool { return test.served })
		if state.Waits != test.waits || state.Active != test.active {
			t.Errorf("%s: it waits: %t, is active: %t", name, state.Waits, state.Active)
		}
	}
}

// informed is an informer whose events the test makes.
type informed struct {
	cache.SharedIndexInformer
	handler cache.ResourceEventHandler
}

func (e *informed) SetTransform(cache.TransformFunc) error { return nil }

func (e *informed) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	e.handler = handler
	return e, nil
}

func (e *informed) HasSynced() bool { return true }

// A watch that was interrupted shows a deletion and a creation under the same name as one change.
func TestAnApplicationThatWasCreatedAgainIsAnother(t *testing.T) {
	l, informer := newLife(t, applicationtest.Pi().Obj()), &informed{}
	var set []types.UID
	quotaOf := func(app dialect.Application) quotas.State {
		set = append(set, app.GetUID())
		return quotas.State{Object: app}
	}
	impl := controller.NewContext(l.ctx, nil, controller.ControllerOptions{WorkQueueName: t.Name(), Logger: zap.NewNop().Sugar()})
	watchApplications(l.ctx, l.r, impl, informer, l.lookup, l.r.firstLaunches,
		func(string) dialect.Dialect { return apache.New(apache.Defaults{}) }, quotaOf)
	first := applicationtest.Pi().UID("first").In(lifecycle.RunningHealthy, 1, 1).Obj()
	informer.handler.OnAdd(first, true)
	informer.handler.OnUpdate(first, applicationtest.Pi().UID("second").Obj())
	l.r.recordGuard.mutex.Lock()
	if l.r.recordGuard.withRecord["first"] {
		t.Error("the old one is remembered")
	}
	l.r.recordGuard.mutex.Unlock()
	if !l.r.newApplications.has("second") {
		t.Error("the other one is not new")
	}
	if !slices.Equal(set, []types.UID{"first", "second"}) {
		t.Errorf("set are %v", set)
	}
	// The queue moves a key between its lanes in the background, and counts it twice meanwhile.
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return impl.WorkQueue().Len() == 1, nil
	}); err != nil {
		t.Errorf("%d are enqueued", impl.WorkQueue().Len())
	}
}
