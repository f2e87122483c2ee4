package quotas

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/quota"
)

// retryAfter is the time until an object is requeued if the tracker does not know enough to decide.
const retryAfter = time.Second

// Request is an application or a cluster that is to be launched.
type Request struct {
	Object   metav1.Object
	Kind     string
	Settings config.QuotaSettings
}

// Hold is why a launch is held.
type Hold struct {
	// Undecided reports whether the tracker does not know yet if there is room.
	Undecided bool
	// Waiting is why the launch waits; nil if that is not reported yet. Refused is why the attempt fails; nil if it does not.
	Waiting, Refused *lifecycle.Cause
	// RetryAt is when to requeue the object; zero if the tracker enqueues it.
	RetryAt time.Time
}

// Claim returns the claim of a driver and a number of equal executors, or of a master and its workers. waiting is the claim with which they wait
// already; nil if they do not.
func (t *Tracker) Claim(driver, executor *corev1.Pod, executors int64, waiting *v1alpha1.QuotaClaim) *v1alpha1.QuotaClaim {
	driver, priority := t.admitted(driver)
	executor, _ = t.admitted(executor)
	claim := &v1alpha1.QuotaClaim{Since: outbox.RecordTime(t.clock.Now()), Priority: priority, Pods: quota.Claim(driver, executor, executors)}
	if waiting != nil {
		claim.Since, claim.Unknown = waiting.Since, waiting.Unknown
		for i := range min(len(claim.Pods), len(waiting.Pods)) {
			claim.Pods[i].Unknown = waiting.Pods[i].Unknown
		}
	}
	return claim
}

// Reserve reserves room in the quotas of a namespace, or holds the launch. It returns the claim for the record; nil if nothing is compared. waiting
// is the claim in the record. ask returns the present claim. If there is no hold, the launch goes on when the record is stored: Confirm must
// follow before anything is created.
func (t *Tracker) Reserve(r Request, waiting *v1alpha1.QuotaClaim, ask func() *v1alpha1.QuotaClaim) (*v1alpha1.QuotaClaim, *Hold) {
	if r.Settings.Quota == config.QuotaOff {
		return nil, nil
	}
	if !t.Ready() {
		return waiting, t.undecided()
	}
	until := t.RefusedUntil(r.Object.GetUID())
	if !t.Limits(r.Object.GetNamespace()) && until.IsZero() {
		return nil, nil
	}
	claim := ask()
	decision := t.decide(r.Object, claim)
	if decision.Fits && until.IsZero() {
		now := outbox.RecordTime(t.clock.Now())
		claim.Reserved = &now
		return claim, nil
	}
	if !until.IsZero() {
		decision.Place, decision.Queue = 0, 0 // it waits for the next try, not for its turn
	}
	return claim, t.hold(r, claim, decision, until)
}

// Confirm decides whether a launch with a reservation may create its objects. If it may, there is no hold. It also returns the claim for the record:
// if the launch is held, the claim has no reservation any more.
func (t *Tracker) Confirm(r Request, claim *v1alpha1.QuotaClaim) (*v1alpha1.QuotaClaim, *Hold) {
	if r.Settings.Quota == config.QuotaOff {
		return claim, nil
	}
	var decision quota.Decision
	until := t.RefusedUntil(r.Object.GetUID())
	if until.IsZero() {
		switch {
		case claim == nil || claim.Reserved == nil:
			return claim, nil
		case !t.Ready():
			return claim, t.undecided()
		case !t.Limits(r.Object.GetNamespace()):
			return claim, nil
		}
		var known bool
		if decision, known = t.confirm(r.Object, claim); !known {
			return claim, &Hold{Undecided: true, RetryAt: t.clock.Now().Add(retryAfter)}
		}
		if decision.Fits {
			return claim, nil
		}
	}
	if claim = claim.DeepCopy(); claim == nil {
		claim = &v1alpha1.QuotaClaim{Since: outbox.RecordTime(t.clock.Now()), Pods: []v1alpha1.QuotaPods{}}
	}
	claim.Reserved = nil
	if r.Settings.Quota == config.QuotaFail {
		// Another reservation is in the way, and may be withdrawn, too. The queue then decides without both.
		return claim, &Hold{RetryAt: t.clock.Now().Add(retryAfter)}
	}
	return claim, t.hold(r, claim, decision, until)
}

// undecided holds a launch until the quotas are known. If that takes long, the reason is reported.
func (t *Tracker) undecided() *Hold {
	hold := &Hold{Undecided: true, RetryAt: t.clock.Now().Add(retryAfter)}
	if t.late() {
		hold.Waiting = diagnosis.QuotasUnknown().Cause(lifecycle.ClassScheduling)
	}
	return hold
}

// hold returns the hold for a decision: the launch waits, or its attempt fails. until is until when it waits after a refusal of the API server; zero
// if there was none.
func (t *Tracker) hold(r Request, claim *v1alpha1.QuotaClaim, decision quota.Decision, until time.Time) *Hold {
	if r.Settings.Quota == config.QuotaFail {
		failure := diagnosis.QuotaFails(r.Kind, r.Object.GetNamespace(), r.Object.GetName(), decision)
		return &Hold{Refused: failure.Cause(lifecycle.ClassScheduling), RetryAt: until}
	}
	explanation, hold := diagnosis.WaitingForQuota(r.Object.GetNamespace(), decision), &Hold{RetryAt: until}
	if limit := r.Settings.QuotaHoldTimeout; limit > 0 {
		over := claim.Since.Add(limit)
		if !t.clock.Now().Before(over) {
			hold.Refused = diagnosis.QuotaHoldTimedOut(explanation, limit).Cause(lifecycle.ClassScheduling)
			return hold
		}
		if until.IsZero() || over.Before(until) {
			hold.RetryAt = over
		}
	}
	explanation.Summary = t.shown(r.Object.GetUID(), explanation.Summary, decision)
	hold.Waiting = explanation.Cause(lifecycle.ClassScheduling)
	return hold
}
