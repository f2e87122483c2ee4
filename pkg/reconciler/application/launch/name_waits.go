package launch

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube/objectclient"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const (
	// maxNameBackoff is the longest time between two reads of an object whose name is needed.
	maxNameBackoff = time.Minute
	// reportWaitAfter is when a condition reports that a name is not free. Most objects are deleted sooner.
	reportWaitAfter = 10 * time.Second
)

// nameWaits remembers, for each waiting application, which object holds a name that its launch needs. Objects other than driver Pods
// are not watched, nor are driver Pods whose labels were removed: they are read with a back-off. Nothing is created before they are
// gone.
type nameWaits struct {
	clock clock.PassiveClock

	mutex sync.Mutex
	byApp map[types.UID]nameWait
}

// nameWait is an object that holds a name.
type nameWait struct {
	nameNotFreeError
	// since is when the launch met the first obstacle, tries how often it was stopped, and until when the next read is due.
	since, until time.Time
	tries        int
}

func newNameWaits(clock clock.PassiveClock) *nameWaits {
	return &nameWaits{clock: clock, byApp: map[types.UID]nameWait{}}
}

// stopped records that a launch could not get a name once more. The back-off grows until a launch succeeds, whichever objects have
// the names.
func (o *nameWaits) stopped(app types.UID, reason nameNotFreeError) nameWait {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	now := o.clock.Now()
	wait, ok := o.byApp[app]
	if !ok {
		wait.since = now
	}
	wait.nameNotFreeError, wait.until = reason, now.Add(min(base.RetryAfter<<min(wait.tries, 16), maxNameBackoff))
	wait.tries++
	o.byApp[app] = wait
	return wait
}

// of returns the last obstacle of an application's launch.
func (o *nameWaits) of(app types.UID) (nameWait, bool) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	known, ok := o.byApp[app]
	return known, ok
}

// forget removes the obstacle of an application's launch.
func (o *nameWaits) forget(app types.UID) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.byApp, app)
}

// explain lets the observation wait. It adds the reason once the wait is long.
func (o *nameWaits) explain(known nameWait, seen *lifecycle.Observation) {
	seen.LaunchHeld, seen.RetryLaunchAt = nil, known.until
	lasting := known.existing != nil && len(known.existing.GetFinalizers()) > 0 && known.tries > 1
	if reportAt := known.since.Add(reportWaitAfter); lasting || !o.clock.Now().Before(reportAt) {
		seen.LaunchHeld = known.cause()
	}
}

// nameNotFreeError means that the name of a wanted object is not free yet.
type nameNotFreeError struct {
	wanted submission.Object
	// existing is the object that has the name; nil if it was deleted in between.
	existing submission.Object
}

func (e *nameNotFreeError) Error() string { return errNameNotFree.Error() }

func (e *nameNotFreeError) Is(target error) bool { return target == errNameNotFree }

func (e *nameNotFreeError) cause() *lifecycle.Cause {
	var finalizers []string
	if e.existing != nil {
		finalizers = e.existing.GetFinalizers()
	}
	return diagnosis.NameNotFree(describe(e.wanted), finalizers).Cause(lifecycle.ClassInfrastructure)
}

// waitForNames reports whether a launch has to wait because a name that it needs is not free. The observation then has the
// reason.
func (l *Launcher) waitForNames(
	ctx context.Context, v *view.Application, next *corev1.Pod, seen *lifecycle.Observation,
) (bool, error) {
	app := v.App
	if pod := l.Drivers.Get(next.Namespace, next.Name); l.terminatesInTheWay(pod, next) {
		return true, l.waitForEarlierDriver(ctx, v, pod, seen)
	}
	known, ok := l.waits.of(app.GetUID())
	if !ok || known.wanted.GetLabels()[dialect.LabelLaunch] != next.Labels[dialect.LabelLaunch] { // an edit may have changed the names
		return false, nil
	}
	if known.existing != nil {
		if _, gone := l.Expectations.Deleted(known.existing.GetUID()); gone {
			return false, nil
		}
	}
	hidden, _ := known.existing.(*corev1.Pod)
	if !l.Clock.Now().Before(known.until) || l.terminatesInTheWay(hidden, next) && l.deletedAgainNow(hidden, v) {
		holder, err := l.holderOfName(ctx, known.existing)
		if holder == nil || err != nil {
			return false, err
		}
		known = l.waits.stopped(app.GetUID(), nameNotFreeError{known.wanted, holder})
		hidden, _ = holder.(*corev1.Pod)
	}
	if !l.terminatesInTheWay(hidden, next) {
		l.waits.explain(known, seen)
		return true, nil
	}
	err := l.waitForEarlierDriver(ctx, v, hidden, seen)
	if seen.RetryLaunchAt.IsZero() || known.until.Before(seen.RetryLaunchAt) {
		seen.RetryLaunchAt = known.until // no event tells that it is gone
	}
	return true, err
}

// terminatesInTheWay reports whether a Pod, if there is one, is a driver of an earlier launch that is terminating.
func (l *Launcher) terminatesInTheWay(pod, next *corev1.Pod) bool {
	return pod != nil && pod.DeletionTimestamp != nil && l.ofEarlierLaunch(pod, next)
}

// deletedAgainNow reports whether it is time to delete a terminating driver Pod again.
func (l *Launcher) deletedAgainNow(pod *corev1.Pod, v *view.Application) bool {
	driver := lifecycle.ObserveDriver(pod, "")
	due, again := driver.DeleteAgainAt(v.Policy.Timeouts.ForceTermination)
	return again && !l.Clock.Now().Before(due)
}

// holderOfName returns an object as it is now if it still has its name; nil if the name is free or another object has it.
func (l *Launcher) holderOfName(ctx context.Context, object submission.Object) (submission.Object, error) {
	if object == nil {
		return nil, nil
	}
	client, err := objectclient.For(l.Kube, l.Dynamic, object)
	if err != nil {
		return nil, err
	}
	live, err := client.Get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look whether %s is gone: %w", describe(object), err)
	case live.GetUID() != object.GetUID():
		return nil, nil
	default:
		return live, nil
	}
}

// waitForEarlierDriver makes a launch wait for the driver Pod of an earlier launch, whose end is watched. If that Pod is not
// deleted in time, it is deleted again, by force. That is safe: its attempt ended and its containers with it, or the attempt
// was ended by force.
func (l *Launcher) waitForEarlierDriver(ctx context.Context, v *view.Application, pod *corev1.Pod, seen *lifecycle.Observation) error {
	driver, limit, now := lifecycle.ObserveDriver(pod, ""), v.Policy.Timeouts.ForceTermination, l.Clock.Now()
	if due, again := driver.DeleteAgainAt(limit); again && now.Before(due) {
		seen.RetryLaunchAt = due
	} else if again {
		seen.RetryLaunchAt = now.Add(reportWaitAfter) // in case the event of its deletion is lost
		if _, err := l.Deleter.Delete(ctx, v.App, drivers.RefOf(pod), drivers.NameNeeded, !driver.NoGraceLeft); err != nil {
			return err
		}
	}
	reportAt := driver.TerminatingSince.Add(reportWaitAfter)
	if len(driver.Finalizers) == 0 && now.Before(reportAt) {
		if seen.RetryLaunchAt.IsZero() || reportAt.Before(seen.RetryLaunchAt) {
			seen.RetryLaunchAt = reportAt
		}
		return nil
	}
	seen.LaunchHeld = diagnosis.EarlierDriverTerminating(driver).Cause(lifecycle.ClassInfrastructure)
	return nil
}
