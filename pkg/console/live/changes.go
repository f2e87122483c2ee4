package live

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxChanges bounds the changes that are kept for readers.
	maxChanges = 8192
	// maxAtOnce bounds the changes of one answer: beyond it, the reader had better read everything again.
	maxAtOnce = 500
	// maxItems bounds the transitions of a change.
	maxItems = 16
	// coalesce is how long changes are gathered.
	coalesce = 100 * time.Millisecond
	// reviewEvery is how often Follow asks what its reader may see while nothing changes.
	reviewEvery = 20 * time.Second
)

// changeLog holds what changed last, once for all readers. A reader has a cursor, and nothing here.
type changeLog struct {
	// pending are the changes that are gathered, by object.
	pending map[types.UID]*Change
	kept    []publishedChange
	// dropped is when the last change was published that is no longer kept, and published that of the last one, in milliseconds since 1970. issued is the
	// time in the last cursor. A later change has a later time.
	dropped, published int64
	issued             atomic.Int64
	// flushes counts how often changes were published.
	flushes uint64
	// replica is in all cursors: the clocks of replicas differ.
	replica uint64
	// wake is closed when there are changes, or when it changes whether the API server answers.
	wake chan struct{}
	// dirty has an element while changes are gathered.
	dirty chan struct{}
}

// publishedChange is a change with the time at which it was published.
type publishedChange struct {
	at int64
	*Change
}

// replicaBits are the bits of a cursor for the replica. A cursor fits into 53 bits, as numbers in JavaScript.
const replicaBits = 12

func newChangeLog(now time.Time) *changeLog {
	return &changeLog{
		pending: map[types.UID]*Change{}, dropped: now.UnixMilli(), replica: rand.Uint64N(1 << replicaBits),
		wake: make(chan struct{}), dirty: make(chan struct{}, 1),
	}
}

// cursor returns where the changes begin that come after now. It is made of the time: a number of changes would show how much others do. The caller
// holds the mutex.
func (c *changeLog) cursor(now time.Time) uint64 {
	at := max(now.UnixMilli(), c.published, c.dropped)
	for last := c.issued.Load(); last < at && !c.issued.CompareAndSwap(last, at); last = c.issued.Load() {
	}
	return uint64(at)<<replicaBits | c.replica
}

// after returns the changes after a cursor, and false if they are not all kept, or if the cursor is of another replica. The caller holds the mutex.
func (c *changeLog) after(cursor uint64) ([]publishedChange, bool) {
	at := int64(cursor >> replicaBits)
	if cursor&(1<<replicaBits-1) != c.replica || at < c.dropped || at > max(c.issued.Load(), c.published) {
		return nil, false
	}
	first, _ := slices.BinarySearchFunc(c.kept, at+1, func(change publishedChange, wanted int64) int { return cmp.Compare(change.at, wanted) })
	return c.kept[first:], true
}

// changed notes that an object changed. The caller holds the mutex.
func (l *Live) changed(row *Row, items []FeedItem) {
	l.note(&Change{Ref: row.Ref, UID: row.UID, Row: row, Transitions: items})
}

// removed notes that an object is gone. The caller holds the mutex.
func (l *Live) removed(row *Row) { l.note(&Change{Ref: row.Ref, UID: row.UID}) }

func (l *Live) note(change *Change) {
	c := l.changes
	if before := c.pending[change.UID]; before != nil {
		change.Transitions = append(slices.Clone(before.Transitions), change.Transitions...)
	}
	change.Transitions = change.Transitions[max(len(change.Transitions)-maxItems, 0):]
	c.pending[change.UID] = change
	select {
	case c.dirty <- struct{}{}:
	default: // gathered already
	}
}

// publish publishes changes until the context ends: the first at once, and what follows soon together.
func (l *Live) publish(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.changes.dirty:
			l.flush()
		}
		select {
		case <-ctx.Done():
			return
		case <-l.clock.After(coalesce):
		}
	}
}

// flush publishes what was gathered.
func (l *Live) flush() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	c := l.changes
	c.flushes++
	c.published = max(l.clock.Now().UnixMilli(), c.issued.Load()+1, c.published)
	for _, change := range c.pending {
		c.kept = append(c.kept, publishedChange{c.published, change})
	}
	clear(c.pending)
	if excess := len(c.kept) - maxChanges; excess > 0 {
		c.dropped = c.kept[excess-1].at
		c.kept = slices.Clone(c.kept[excess:])
	}
	l.wakeAll()
}

// wakeAll wakes all waiting readers. The caller holds the mutex.
func (l *Live) wakeAll() {
	close(l.changes.wake)
	l.changes.wake = make(chan struct{})
}

// Cursor returns where the changes begin that come next.
func (l *Live) Cursor() uint64 {
	l.mutex.RLock()
	defer l.mutex.RUnlock()
	return l.changes.cursor(l.clock.Now())
}

// ChangesSince returns what changed of what a reader sees, and a channel that is closed when there may be more.
func (l *Live) ChangesSince(see Visible, cursor uint64) (Changes, <-chan struct{}) {
	stale := l.StaleSince()
	l.mutex.RLock()
	defer l.mutex.RUnlock()
	c := l.changes
	after, ok := c.after(cursor)
	answer := Changes{Cursor: c.cursor(l.clock.Now()), StaleSince: stale, Missed: !ok}
	seen := map[types.UID]int{}
	for _, published := range after {
		change := published.Change
		if !see.Sees(change.Namespace, change.Resource) {
			continue
		}
		at, known := seen[change.UID]
		if !known {
			seen[change.UID] = len(answer.Items)
			answer.Items = append(answer.Items, change)
			continue
		}
		latest := *change
		latest.Transitions = append(slices.Clone(answer.Items[at].Transitions), change.Transitions...)
		latest.Transitions = latest.Transitions[max(len(latest.Transitions)-maxItems, 0):]
		answer.Items[at] = &latest
	}
	if len(answer.Items) > maxAtOnce {
		answer.Items, answer.Missed = nil, true
	}
	return answer, c.wake
}

// Follow calls a function with what changed of what a reader sees, until the context ends or a function fails: once at once if something
// changed since the cursor, and then as soon as it changes. see is called again each time, and while nothing changes, since rights change: then the
// reader had better read everything again.
func (l *Live) Follow(ctx context.Context, see func(context.Context) (Visible, error), cursor uint64, each func(Changes) error) error {
	var stale time.Time
	var seen string // the key of what the reader saw last; empty if it is not known
	for {
		visible, err := see(ctx)
		if err != nil {
			return err
		}
		changes, more := l.ChangesSince(visible, cursor)
		cursor = changes.Cursor
		if alike, ok := visible.(Alike); ok && alike.Key() != "" {
			if seen != "" && seen != alike.Key() {
				changes.Items, changes.Missed = nil, true // no change is about what the reader may see no more
			}
			seen = alike.Key()
		}
		if len(changes.Items) > 0 || changes.Missed || !changes.StaleSince.Equal(stale) {
			stale = changes.StaleSince
			if err := each(changes); err != nil {
				return err
			}
		}
		review := l.clock.NewTimer(reviewEvery)
		select {
		case <-ctx.Done():
			review.Stop()
			return context.Cause(ctx)
		case <-more:
			review.Stop()
		case <-review.C():
		}
	}
}
