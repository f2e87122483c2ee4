package quota

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// Decision is whether an application may launch, and why not.
type Decision struct {
	Fits bool
	// Lacks is what does not suffice. It is empty if the application fits and may not pass one that waits longer.
	Lacks []Lack
	// TooLarge reports whether it would not suffice if the quotas were unused.
	TooLarge bool
	// Place is the application's place in the queue, from 1, and Queue the length of the queue. Both are zero if it is too large, and so
	// in no queue.
	Place, Queue int
}

// Kind is the kind of reason for which an application waits.
type Kind int

// The kinds of reasons.
const (
	// Refused: the API server refused an object of the launch, and known quotas have room.
	Refused Kind = iota
	// Lacking: there is no room.
	Lacking
	// Passed: an earlier one has waited for too long.
	Passed
	// TooLarge: there is never room.
	TooLarge
)

// Kind returns why an application waits.
func (d Decision) Kind() Kind {
	switch {
	case d.TooLarge:
		return TooLarge
	case len(d.Lacks) > 0:
		return Lacking
	case d.Place > 0:
		return Passed
	default:
		return Refused
	}
}

// before orders the queue: the priority of the driver, the start of waiting, the UID.
func before(a, b Application) int {
	return cmp.Or(
		cmp.Compare(b.Claim.Priority, a.Claim.Priority),
		a.Claim.Since.Compare(b.Claim.Since.Time),
		cmp.Compare(a.UID, b.UID),
	)
}

// Queue is the queue of a namespace at an instant, with what is decided about each that waits. It is right until the namespace changes, and
// until Ends.
type Queue struct {
	Namespace

	now       time.Time
	overtake  time.Duration
	apps      map[types.UID]Application
	decisions map[types.UID]Decision
	order     []types.UID
	// The state at the end of the queue.
	free   room
	passes bool
	// ends is when the passing of time changes a decision; zero if it does not.
	ends time.Time
}

// Queue walks the queue of a namespace. An application may reserve room if it fits beside each earlier one that fits. If an earlier one does
// not fit, a smaller one may pass it until that one has waited for overtake. Then none may.
func (n Namespace) Queue(now time.Time, overtake time.Duration) *Queue {
	q := &Queue{
		Namespace: n, now: now, overtake: overtake, apps: map[types.UID]Application{}, decisions: map[types.UID]Decision{}, free: n.room(), passes: true,
	}
	for _, app := range slices.SortedFunc(slices.Values(n.Waiting), before) {
		q.append(app)
	}
	return q
}

// Ends returns when the passing of time changes a decision; zero if it does not.
func (q *Queue) Ends() time.Time { return q.ends }

// DecisionOf returns what was decided about an application that waits.
func (q *Queue) DecisionOf(app types.UID) Decision { return q.decisions[app] }

// Ready returns the waiting applications that may reserve room now, in their order.
func (q *Queue) Ready() (ready []types.UID) {
	for _, uid := range q.order {
		if q.decisions[uid].Fits && q.apps[uid].RefusedUntil.IsZero() {
			ready = append(ready, uid)
		}
	}
	return ready
}

// Append adds an application that begins to wait. It returns false if it is not the last one: then the queue has to be walked again.
func (q *Queue) Append(app Application) bool {
	if !q.isNext(app) {
		return false
	}
	q.append(app)
	return true
}

// isNext reports whether an application is new and comes behind all that wait.
func (q *Queue) isNext(app Application) bool {
	_, known := q.apps[app.UID]
	reserved := slices.ContainsFunc(q.Reserved, func(other Application) bool { return other.UID == app.UID })
	isLast := len(q.order) == 0 || before(q.apps[q.order[len(q.order)-1]], app) < 0
	return !known && !reserved && isLast
}

// append decides about the next application. Those that never fit are in no queue. One whose launch the API server has just refused takes
// no room from those behind it.
func (q *Queue) append(app Application) {
	decision := q.decide(app)
	if q.apps[app.UID], q.decisions[app.UID] = app, decision; decision.TooLarge {
		return
	}
	q.order = append(q.order, app.UID)
	switch overtaken := app.Claim.Since.Add(q.overtake); {
	case !app.RefusedUntil.IsZero():
		q.endAt(app.RefusedUntil)
	case decision.Fits:
		q.take(q.free, app)
	case !q.passes:
	case q.now.Before(overtaken):
		q.endAt(overtaken)
	default:
		q.passes = false
	}
}

func (q *Queue) endAt(at time.Time) {
	if q.ends.IsZero() || at.Before(q.ends) {
		q.ends = at
	}
}

// decide returns whether an application may reserve room at the end of the queue.
func (q *Queue) decide(app Application) Decision {
	if lacks := q.tooLarge(app); len(lacks) > 0 {
		return Decision{Lacks: lacks, TooLarge: true}
	}
	lacks := q.lacks(q.free, app.Claim.Pods, app.planned())
	return Decision{Fits: len(lacks) == 0 && q.passes, Lacks: lacks, Place: len(q.order) + 1}
}

// Decide returns whether an application may reserve room now. Neither its own reservation counts against it, nor an earlier claim: an edit
// may have changed what it asks for.
func (q *Queue) Decide(app Application) Decision {
	known, waits := q.apps[app.UID]
	switch {
	case waits && SameClaim(known.Claim, app.Claim):
		decision := q.decisions[app.UID]
		if !decision.TooLarge {
			decision.Queue = len(q.order)
		}
		return decision
	case q.isNext(app):
		decision := q.decide(app)
		decision.Queue = decision.Place
		return decision
	}
	n, own := q.Namespace, func(other Application) bool { return other.UID == app.UID }
	n.Waiting = append(slices.DeleteFunc(slices.Collect(maps.Values(q.apps)), own), app)
	n.Reserved = slices.DeleteFunc(slices.Clone(n.Reserved), own)
	return n.Queue(q.now, q.overtake).Decide(app)
}

// SameClaim reports whether two claims of an application ask for the same at the same place of the queue.
func SameClaim(a, b *v1alpha1.QuotaClaim) bool {
	return a.Priority == b.Priority && a.Since.Equal(&b.Since) && slices.EqualFunc(a.Pods, b.Pods, func(a, b v1alpha1.QuotaPods) bool {
		return reflect.DeepEqual(a, b)
	})
}

// Confirm returns whether an application for which room was reserved may launch: it must fit beside all that was reserved before it.
// Reservations whose order is not known count as earlier.
func (n Namespace) Confirm(app Application) Decision {
	n.Reserved = slices.DeleteFunc(slices.Clone(n.Reserved), func(other Application) bool {
		return other.UID == app.UID || !other.Driver && other.Order >= app.Order
	})
	lacks := n.lacks(n.room(), app.Claim.Pods, app.planned())
	return Decision{Fits: len(lacks) == 0, Lacks: lacks, TooLarge: len(n.tooLarge(app)) > 0}
}
