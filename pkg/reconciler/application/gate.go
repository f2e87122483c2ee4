package application

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
	applicationmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/applications"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// newGate returns the gate before the generated reconciler of an API's applications. yields reports whether an application lets
// others go first. withoutFinalizer reconciles an application that must not get a finalizer, and returns false if it may.
func newGate(
	r *Reconciler, generated base.Generated, states *applicationmetrics.StateCounter, sharedWorkers *fairshare.Workers, tracer trace.Tracer, yields func(dialect.Application) bool,
	withoutFinalizer func(context.Context, dialect.Application) (bool, error),
) *base.Gate[dialect.Application] {
	return &base.Gate[dialect.Application]{
		Generated: generated, Kind: "application", Tracer: tracer, Retries: base.NewRetries(), Workers: sharedWorkers,
		Begin:  r.podEventTimes.take,
		Lookup: states.Observe,
		ForgetUnserved: func(app dialect.Application) {
			r.relay.Forget(app.GetUID())
			r.relabelledDrivers.Forget(base.KeyOf(app))
		},
		ForgetWrite: r.recordGuard.Forget,
		Defer: func(app dialect.Application) time.Duration {
			if yields(app) {
				return backpressureRetry
			}
			return 0
		},
		Instead: withoutFinalizer,
	}
}
