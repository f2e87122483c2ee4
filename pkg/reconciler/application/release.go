package application

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
)

// release deletes the launch's driver Pod; the garbage collector deletes what the Pod owns. With force=true it does not wait for
// the node.
func (r *Reconciler) release(ctx context.Context, app dialect.Application, seen *lifecycle.Observation, force bool) error {
	launch := app.GetRecord().Launch
	if launch.DriverUID == "" {
		// The launch was interrupted before its Pod was recorded. If the Pod exists it is recorded first, so that its end is
		// observed.
		found, err := r.findFencedDriver(ctx, app, launch)
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

// findFencedDriver reads the driver Pod of a launch that was fenced and whose Pod is not recorded. It returns nil if there is none.
// Another operator may have created the Pod.
func (r *Reconciler) findFencedDriver(ctx context.Context, app dialect.Application, launch *v1alpha1.Launch) (*corev1.Pod, error) {
	found, err := r.kube.CoreV1().Pods(app.GetNamespace()).Get(ctx, launch.DriverPod, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for driver %s/%s: %w", app.GetNamespace(), launch.DriverPod, err)
	}
	if id := found.Labels[labelLaunch]; id != launch.ID && (id != "" || !dialect.Owns(app, found)) {
		return nil, nil
	}
	return found, nil
}
