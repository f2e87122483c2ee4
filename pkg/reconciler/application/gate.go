package application

import (
	"context"

	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	applicationmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/applications"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// lookup finds the applications that the gate asks for, and counts them by state.
type lookup struct {
	apps           lister
	serves         func(app dialect.Application) bool
	currentDialect dialectOf
	states         *applicationmetrics.StateCounter
}

// find returns an application as the cache has it, nil if the cache has none, and whether this installation serves it.
func (l lookup) find(name types.NamespacedName) (app dialect.Application, served bool) {
	l.states.Lock()
	defer l.states.Unlock()
	app, found := l.apps.get(name)
	if !found || !l.serves(app) {
		l.states.Set(name, nil, "")
		return app, false
	}
	l.states.Set(name, app, l.currentDialect(app.GetNamespace()).VisibleState(app))
	return app, true
}

// newGate returns the gate before the generated reconciler of an API's applications. yields decides which applications wait
// for others. withoutFinalizer reconciles an application that must not get a finalizer. It returns false if the application
// may get one.
func newGate(
	r *Reconciler, generated base.Generated, lookup lookup, sharedWorkers *fairshare.Workers, tracer trace.Tracer, yields yielding,
	withoutFinalizer func(context.Context, dialect.Application) (bool, error),
) *base.Gate[dialect.Application] {
	return &base.Gate[dialect.Application]{
		Generated: generated, Kind: "application", Tracer: tracer, Retries: base.NewRetries(), Workers: sharedWorkers,
		Lookup: lookup.find,
		ForgetUnserved: func(app dialect.Application) {
			r.relay.Forget(app.GetUID())
			r.relabelledDrivers.Forget(kube.KeyOf(app))
		},
		ForgetWrite:               r.recordGuard.Forget,
		New:                       yields.firstLaunches,
		Begin:                     yields.begin,
		Finalizer:                 r.api.Finalizer,
		ReconcileWithoutFinalizer: withoutFinalizer,
	}
}
