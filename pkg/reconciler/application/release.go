package application

import (
	"context"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
)

// release deletes the launch's driver Pod; the garbage collector deletes what the Pod owns. With force=true it does not wait for
// the node.
func (r *Reconciler) release(ctx context.Context, app dialect.Application, seen *lifecycle.Observation, force bool) error {
	launch := app.GetRecord().Launch
	if launch.DriverUID == "" {
		// The launch was interrupted before its Pod was recorded. If the Pod exists, it is recorded first, so that its end
		// is observed.
		found, err := drivers.FindFenced(ctx, r.kube, app, launch)
		if err != nil {
			return err
		}
		if seen.DriverGone = found == nil; found != nil {
			seen.Launched = found.UID
		}
		return nil
	}
	driver := drivers.Reference{Namespace: app.GetNamespace(), Name: launch.DriverPod, UID: launch.DriverUID}
	accepted, err := r.deleter.Delete(ctx, app, driver, drivers.AttemptReleased, force)
	seen.ReleaseAccepted, seen.DriverGone = accepted, err == nil && !accepted
	return err
}
