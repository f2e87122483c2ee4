package quota

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Verdict is whether an application may launch, and why not.
type Verdict struct {
	Fits bool
	// Lacks is what does not suffice. It is empty if the application fits and may not pass one that waits longer.
	Lacks []Lack
	// TooLarge reports whether it would not suffice if the quotas were unused.
	TooLarge bool
	// Place is the application's place in the queue, from 1, and Queue the length of the queue. Both are zero if it is too large, and so
	// in no queue.
	Place, Queue int
}

// before orders the queue: the priority of the driver, the start of waiting, the UID.
func before(a, b Application) int {
	return cmp.Or(
		cmp.Compare(b.Claim.Priority, a.Claim.Priority),
		a.Claim.Since.Compare(b.Claim.Since.Time),
		cmp.Compare(a.UID, b.UID),
	)
}

// Decide returns whether an application may reserve room now. It may if it fits beside each earlier one of the queue that fits. If an
// earlier one does not fit, a smaller one may pass it until that one has waited for overtake. Then none may.
func (n Namespace) Decide(app Application, now time.Time, overtake time.Duration) Verdict {
	if lacks := n.tooLarge(app); len(lacks) > 0 {
		return Verdict{Lacks: lacks, TooLarge: true}
	}
	n.Waiting = append(slices.DeleteFunc(slices.Clone(n.Waiting), func(other Application) bool { return other.UID == app.UID }), app)
	var verdict Verdict
	n.walk(now, overtake, func(next Application, lacks []Lack, passes bool, place int) {
		if verdict.Queue++; next.UID == app.UID {
			verdict.Fits, verdict.Lacks, verdict.Place = len(lacks) == 0 && passes, lacks, place
		}
	})
	return verdict
}

// Ready returns the waiting applications that may reserve room now, in their order, and the places of all in the queue.
func (n Namespace) Ready(now time.Time, overtake time.Duration) (ready []types.UID, places map[types.UID]int) {
	places = map[types.UID]int{}
	n.walk(now, overtake, func(app Application, lacks []Lack, passes bool, place int) {
		places[app.UID] = place
		if len(lacks) == 0 && passes {
			ready = append(ready, app.UID)
		}
	})
	return ready, places
}

// walk visits the queue in its order. lacks is what does not suffice for an application beside those before it, and passes reports whether
// it may pass those that do not fit. Those that never fit are in no queue.
func (n Namespace) walk(now time.Time, overtake time.Duration, visit func(app Application, lacks []Lack, passes bool, place int)) {
	free, passes, place := n.room(func(Application) bool { return true }), true, 0
	for _, app := range slices.SortedFunc(slices.Values(n.Waiting), before) {
		if len(n.tooLarge(app)) > 0 {
			continue
		}
		place++
		lacks := n.lacks(free, app.Claim.Pods, app.planned())
		visit(app, lacks, passes, place)
		switch {
		case len(lacks) == 0 && passes:
			n.take(free, app)
		case now.Sub(app.Claim.Since.Time) >= overtake:
			passes = false
		}
	}
}

// Confirm returns whether an application for which room was reserved may launch: it must fit beside all that was reserved before it.
// Reservations whose order is not known count as earlier.
func (n Namespace) Confirm(app Application) Verdict {
	free := n.room(func(other Application) bool { return other.UID != app.UID && (other.Driver || other.Order < app.Order) })
	lacks := n.lacks(free, app.Claim.Pods, app.planned())
	return Verdict{Fits: len(lacks) == 0, Lacks: lacks, TooLarge: len(n.tooLarge(app)) > 0}
}

func sorted(usage Usage) []string { return slices.Sorted(maps.Keys(usage)) }
