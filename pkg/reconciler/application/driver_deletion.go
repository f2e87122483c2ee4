package application

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// driverDeleter deletes driver Pods. Only ensure deletes one without it: an earlier launch's Pod that has a wanted name.
type driverDeleter struct{ kube kubernetes.Interface }

// deletionReason is why a driver Pod is deleted. The log has it.
type deletionReason string

const (
	deletedReleased   deletionReason = "attempt released"
	deletedOrphan     deletionReason = "orphan: no launch of the record has this UID"
	deletedEarlier    deletionReason = "not the driver of the adopted attempt"
	deletedIncomplete deletionReason = "launch incomplete"
	deletedForName    deletionReason = "the next launch needs its name"
	deletedBlocked    deletionReason = "application without usable record deleted"
)

// podReference identifies one Pod.
type podReference struct {
	Namespace, Name string
	UID             types.UID
}

func podRef(pod *corev1.Pod) podReference {
	return podReference{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}

func (p podReference) String() string { return p.Namespace + "/" + p.Name }

// delete deletes the Pod with the UID, and no other of its name. It reports whether the API server accepted the deletion; if not
// and err is nil, the Pod is gone. With force=true the Pod is removed without waiting for its node, and a Kubernetes Event on the
// application says so.
func (d driverDeleter) delete(
	ctx context.Context, app dialect.Application, pod podReference, reason deletionReason, force bool,
) (accepted bool, err error) {
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}}
	if force {
		options.GracePeriodSeconds = new(int64)
	}
	err = d.kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, options)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case apierrors.IsConflict(err): // another Pod has the name, or another writer was faster
		return false, d.checkGone(ctx, pod)
	case err != nil:
		return false, fmt.Errorf("delete driver %s: %w", pod, err)
	}
	logging.FromContext(ctx).Debugw("deleted driver Pod", append(logKeys(app.GetRecord()), "pod", pod.Name, "uid", pod.UID,
		"reason", reason, "force", force)...)
	if force {
		controller.GetEventRecorder(ctx).Eventf(app, corev1.EventTypeWarning, "DriverDeletedByForce", "Driver Pod %s was deleted and did not go "+
			"in its time, so it is deleted by force. Where its node is cut off and not down, the driver may live on beside the next one: "+
			"see that the node is down.", pod.Name)
	}
	return true, nil
}

// checkGone returns nil if no Pod has the UID.
func (d driverDeleter) checkGone(ctx context.Context, pod podReference) error {
	found, err := d.kube.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && found.UID != pod.UID:
		return nil
	case err != nil:
		return fmt.Errorf("look for driver %s: %w", pod, err)
	default:
		return fmt.Errorf("driver %s was not deleted: it changed at the same time", pod)
	}
}

// deleteDueDriver deletes a driver Pod that no attempt may have any more, if its deletion is due. It reports whether the driver
// cannot be running any more.
func (r *Reconciler) deleteDueDriver(ctx context.Context, v *view, pod *corev1.Pod, reason deletionReason) (stopped bool, err error) {
	driver := lifecycle.ObserveDriver(pod, v.policy.MainContainer)
	if !r.dueForDeletion(v.app, pod, v.policy) {
		return driver.Stopped, nil
	}
	// A terminating Pod is deleted again by force. If it was deleted by force before, only an interrupted deletion is repeated.
	force := driver.Terminating && !driver.NoGraceLeft
	accepted, err := r.deleter.delete(ctx, v.app, podRef(pod), reason, force)
	return !driver.Terminating && driver.Stopped || !accepted, err
}
