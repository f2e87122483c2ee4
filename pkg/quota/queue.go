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

// Decision reports whether an application may launch, and why not.
type Decision struct {
	Fits bool
	// Lacks are the resources that do not suffice. If it is empty and Fits is false, an earlier application has waited too long to be passed.
	Lacks []Lack
	// TooLarge reports whether the application would not fit into unused quotas.
	TooLarge bool
	// Place is the application's place in the queue, from 1, and Queue the length of the queue. An application that is too large is in no queue:
	// both are zero.
	Place, Queue int
}

// Kind is the kind of reason why an application waits.
type Kind int

// The kinds of reasons.
const (
	// Refused: the API server refused an object of the launch, although the quotas that are known have room.
	Refused Kind = iota
	// Lacking: there is no room now.
	Lacking
	// Passed: there is room, but an earlier application has waited too long to be passed.
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

// before is the order of the queue: by the priority of the driver, the start of waiting, the UID.
func before(a, b Application) int {
	return cmp.Or(
		cmp.Compare(b.Claim.Priority, a.Claim.Priority),
		a.Claim.Since.Compare(b.Claim.Since.Time),
		cmp.Compare(a.UID, b.UID),
	)
}

// Queue is the queue of a namespace, with the decision about each waiting application. It is valid until the namespace changes, or until Ends.
type Queue struct {
	Namespace

	now       time.Time
	overtake  time.Duration
	apps      map[types.UID]Application
	decisions map[types.UID]Decision
	order     []types.UID
	// free is the room behind the last application of the queue. passes reports whether an application behind it may pass earlier ones.
	free   room
	passes bool
	// ends is when a decision changes because time has passed; zero if none does.
	ends time.Time
}

// Queue computes the queue of a namespace. An application may reserve room if it fits beside each earlier one that fits. It may pass earlier ones
// that do not fit, until one of these has waited for the time overtake.
func (n Namespace) Queue(now time.Time, overtake time.Duration) *Queue {
	q := &Queue{
		Namespace: n, now: now, overtake: overtake, apps: map[types.UID]Application{}, decisions: map[types.UID]Decision{}, free: n.room(), passes: true,
	}
	for _, app := range slices.SortedFunc(slices.Values(n.Waiting), before) {
		q.append(app)
	}
	return q
}

// Ends returns when a decision changes because time has passed; zero if none does.
func (q *Queue) Ends() time.Time { return q.ends }

// DecisionOf returns the decision about an application of the queue.
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

// Append adds an application that begins to wait. If its place is not the last one, it returns false: then the queue has to be computed again.
func (q *Queue) Append(app Application) bool {
	if !q.isNext(app) {
		return false
	}
	q.append(app)
	return true
}

// isNext reports whether an application is new, and its place is the last one.
func (q *Queue) isNext(app Application) bool {
	_, known := q.apps[app.UID]
	reserved := slices.ContainsFunc(q.Reserved, func(other Application) bool { return other.UID == app.UID })
	isLast := len(q.order) == 0 || before(q.apps[q.order[len(q.order)-1]], app) < 0
	return !known && !reserved && isLast
}

// append decides about the next application. If it never fits, it is in no queue. If the API server has just refused its launch, it takes no room
// from those behind it.
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

// decide decides whether an application at the end of the queue may reserve room.
func (q *Queue) decide(app Application) Decision {
	if lacks := q.tooLarge(app); len(lacks) > 0 {
		return Decision{Lacks: lacks, TooLarge: true}
	}
	lacks := q.lacks(q.free, app.Claim.Pods, app.planned())
	return Decision{Fits: len(lacks) == 0 && q.passes, Lacks: lacks, Place: len(q.order) + 1}
}

// Decide decides whether an application may reserve room now. Its own reservation and its own earlier claim do not count against it: an edit may
// have changed what it asks for.
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

// SameClaim reports whether two claims of an application ask for the same, and have the same place in the queue.
func SameClaim(a, b *v1alpha1.QuotaClaim) bool {
	return a.Priority == b.Priority && a.Since.Equal(&b.Since) && slices.EqualFunc(a.Pods, b.Pods, func(a, b v1alpha1.QuotaPods) bool {
		return reflect.DeepEqual(a, b)
	})
}

// Confirm decides whether an application that has reserved room may launch: it must fit beside all earlier reservations. Reservations whose order
// is not known count as earlier.
func (n Namespace) Confirm(app Application) Decision {
	n.Reserved = slices.DeleteFunc(slices.Clone(n.Reserved), func(other Application) bool {
		return other.UID == app.UID || !other.Driver && other.Order >= app.Order
	})
	lacks := n.lacks(n.room(), app.Claim.Pods, app.planned())
	return Decision{Fits: len(lacks) == 0, Lacks: lacks, TooLarge: len(n.tooLarge(app)) > 0}
}
