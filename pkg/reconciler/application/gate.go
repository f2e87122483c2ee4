package application

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	applicationmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/applications"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// newGate returns the gate before the generated reconciler of an API's applications. yields decides which applications wait
// for others. withoutFinalizer reconciles an application that must not get a finalizer. It returns false if the application
// may get one.
func newGate(
	r *Reconciler, generated base.Generated, states *applicationmetrics.StateCounter, sharedWorkers *fairshare.Workers, tracer trace.Tracer, yields yielding,
	withoutFinalizer func(context.Context, dialect.Application) (bool, error),
) *base.Gate[dialect.Application] {
	return &base.Gate[dialect.Application]{
		Generated: generated, Kind: "application", Tracer: tracer, Retries: base.NewRetries(), Workers: sharedWorkers,
		Lookup: states.Observe,
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
