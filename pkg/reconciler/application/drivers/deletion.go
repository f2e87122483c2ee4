package drivers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// Deleter deletes driver Pods. Nothing else deletes one.
type Deleter struct {
	kube  kubernetes.Interface
	clock clock.PassiveClock
	// enqueueAfter requeues an application.
	enqueueAfter func(app any, after time.Duration)
}

// NewDeleter returns a deleter that uses a client. The deleter requeues an application if a deletion is due later.
func NewDeleter(kube kubernetes.Interface, clock clock.PassiveClock, enqueueAfter func(app any, after time.Duration)) Deleter {
	return Deleter{kube, clock, enqueueAfter}
}

// Reason is why a driver Pod is deleted. It is in the log.
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

// Delete deletes the Pod with the UID, and no other Pod with the same name. It reports whether the API server accepted the
// deletion. If it returns false and no error, the Pod is gone. With force=true, the Pod is removed without waiting for its
// node, and a Kubernetes Event on the application reports this.
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
		forced := diagnosis.DriverDeletedByForce(pod.Name)
		controller.GetEventRecorder(ctx).Event(app, corev1.EventTypeWarning, forced.Reason, forced.Message())
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

// Due reports whether to delete a driver now: it is not terminating, or it has been terminating for too long. If the
// deletion is due later, the application is requeued for that time.
func (d Deleter) Due(app dialect.Application, pod *corev1.Pod, policy lifecycle.Policy) bool {
	driver, limit := lifecycle.ObserveDriver(pod, policy.MainContainer), policy.Timeouts.ForceTermination
	if !driver.Terminating {
		return true
	}
	due, again := driver.DeleteAgainAt(limit)
	if !again || driver.Stopped && !driver.NoGraceLeft {
		return false
	}
	wait := due.Sub(d.clock.Now())
	if wait > 0 {
		d.enqueueAfter(app, wait)
	}
	return wait <= 0
}

// DeleteDue deletes a driver Pod that no attempt may use any more, if its deletion is due. It reports whether the driver
// cannot be running any more.
func (d Deleter) DeleteDue(
	ctx context.Context, app dialect.Application, policy lifecycle.Policy, pod *corev1.Pod, reason Reason,
) (stopped bool, err error) {
	driver := lifecycle.ObserveDriver(pod, policy.MainContainer)
	if !d.Due(app, pod, policy) {
		return driver.Stopped, nil
	}
	// A terminating Pod is deleted again by force. If it was deleted by force before, only an interrupted deletion is repeated.
	force := driver.Terminating && !driver.NoGraceLeft
	accepted, err := d.Delete(ctx, app, RefOf(pod), reason, force)
	return !driver.Terminating && driver.Stopped || !accepted, err
}

// DeleteOrphan deletes a driver that belongs to no attempt, by force if it does not terminate in time. The informer reports
// its deletion.
func (d Deleter) DeleteOrphan(ctx context.Context, app dialect.Application, policy lifecycle.Policy, pod *corev1.Pod) error {
	logging.FromContext(ctx).Warnw("deleting an orphan driver Pod", append(base.LogKeys(app.GetRecord()), "pod", pod.Name, "uid", pod.UID)...)
	_, err := d.DeleteDue(ctx, app, policy, pod, Orphan)
	return err
}
