package application

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// release asks for the deletion of the launch's driver Pod; all else goes with it. With force=true nobody waits for its
// node.
func (r *Reconciler) release(ctx context.Context, app dialect.Application, seen *lifecycle.Observation, force bool) error {
	launch := app.GetRecord().Launch
	if launch.DriverUID == "" {
		// The launch was interrupted before its Pod was recorded. If there is one it is recorded first: what is not
		// known is not observed, nor forced.
		found, err := r.findFencedDriver(ctx, app, launch)
		if err != nil {
			return err
		}
		if seen.DriverGone = found == nil; found != nil {
			seen.Launched = found.UID
		}
		return nil
	}
	var accepted bool
	var err error
	if force {
		accepted, err = r.forceDeleteDriver(ctx, app, app.GetNamespace(), launch.DriverPod, launch.DriverUID)
	} else {
		accepted, err = r.deleteDriver(ctx, app.GetNamespace(), launch.DriverPod, launch.DriverUID, nil)
	}
	seen.ReleaseAccepted, seen.DriverGone = accepted, err == nil && !accepted
	return err
}

// findFencedDriver looks for the driver Pod of a launch that was fenced and not recorded, perhaps as another operator made
// it. It is nil where there is none.
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

// deleteDriver deletes a Pod by its uid. It says no where that Pod is gone already.
func (r *Reconciler) deleteDriver(ctx context.Context, namespace, name string, uid types.UID, grace *int64) (bool, error) {
	err := r.kube.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, GracePeriodSeconds: grace,
	})
	switch {
	case err == nil:
		return true, nil
	case apierrors.IsNotFound(err):
		return false, nil
	case apierrors.IsConflict(err): // a namesake, or a write that was faster: only one of them says that the Pod is gone
		return false, r.checkGone(ctx, namespace, name, uid)
	default:
		return false, fmt.Errorf("delete driver %s/%s: %w", namespace, name, err)
	}
}

// checkGone is nil where no Pod has the uid any more.
func (r *Reconciler) checkGone(ctx context.Context, namespace, name string, uid types.UID) error {
	found, err := r.kube.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && found.UID != uid:
		return nil
	case err != nil:
		return fmt.Errorf("look for driver %s/%s: %w", namespace, name, err)
	default:
		return fmt.Errorf("driver %s/%s was not deleted: it changed at the same time", namespace, name)
	}
}

// forceDeleteDriver deletes a Pod without waiting for its node. It says no where that Pod is gone already.
func (r *Reconciler) forceDeleteDriver(ctx context.Context, app dialect.Application, namespace, name string, uid types.UID) (bool, error) {
	accepted, err := r.deleteDriver(ctx, namespace, name, uid, new(int64))
	if accepted {
		controller.GetEventRecorder(ctx).Eventf(app, corev1.EventTypeWarning, "DriverDeletedByForce", "Driver Pod %s was deleted and did not go "+
			"in its time, so it is deleted by force. Where its node is cut off and not down, the driver may live on beside the next one: "+
			"see that the node is down.", name)
	}
	return accepted, err
}

// deleteAgain deletes a terminating driver Pod once more: by force, unless nothing but an interrupted deletion is to be
// ended. It says no where that Pod is gone already.
func (r *Reconciler) deleteAgain(ctx context.Context, app dialect.Application, namespace string, driver *lifecycle.Driver) (bool, error) {
	if driver.Forced {
		return r.deleteDriver(ctx, namespace, driver.Name, driver.UID, nil)
	}
	return r.forceDeleteDriver(ctx, app, namespace, driver.Name, driver.UID)
}
