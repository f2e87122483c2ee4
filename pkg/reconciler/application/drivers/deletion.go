package drivers

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
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// Deleter deletes driver Pods. Nothing else deletes one.
type Deleter struct{ kube kubernetes.Interface }

// NewDeleter returns a deleter that calls a client.
func NewDeleter(kube kubernetes.Interface) Deleter { return Deleter{kube} }

// Reason is why a driver Pod is deleted. The log has it.
type Reason string

// The reasons of deletions.
const (
	AttemptReleased    Reason = "attempt released"
	Orphan             Reason = "orphan: no launch of the record has this UID"
	OfEarlierAttempt   Reason = "not the driver of the adopted attempt"
	LaunchIncomplete   Reason = "launch incomplete"
	NameNeeded         Reason = "the next launch needs its name"
	ApplicationBlocked Reason = "application without usable record deleted"
)

// Reference identifies one Pod.
type Reference struct {
	Namespace, Name string
	UID             types.UID
}

// RefOf returns the reference of a Pod.
func RefOf(pod *corev1.Pod) Reference {
	return Reference{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}

func (p Reference) String() string { return p.Namespace + "/" + p.Name }

// Delete deletes the Pod with the UID, and no other of its name. It reports whether the API server accepted the deletion; if not
// and err is nil, the Pod is gone. With force=true the Pod is removed without waiting for its node, and a Kubernetes Event on the
// application says so.
func (d Deleter) Delete(
	ctx context.Context, app dialect.Application, pod Reference, reason Reason, force bool,
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
	logging.FromContext(ctx).Debugw("deleted driver Pod", append(base.LogKeys(app.GetRecord()), "pod", pod.Name, "uid", pod.UID,
		"reason", reason, "force", force)...)
	if force {
		controller.GetEventRecorder(ctx).Eventf(app, corev1.EventTypeWarning, "DriverDeletedByForce", "Driver Pod %s was deleted and did not go "+
			"in its time, so it is deleted by force. Where its node is cut off and not down, the driver may live on beside the next one: "+
			"see that the node is down.", pod.Name)
	}
	return true, nil
}

// checkGone returns nil if no Pod has the UID.
func (d Deleter) checkGone(ctx context.Context, pod Reference) error {
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
