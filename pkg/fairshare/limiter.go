// Package fairshare bounds concurrent work, and shares the slots fairly among namespaces.
package fairshare

import (
	"context"
	"slices"
	"sync"
)

// Limiter bounds the slots in use. A namespace without a slot always gets its first one at once. It gets another slot while it holds
// less than an eighth of the free slots, and less than its own limit. Namespaces that wait for more slots take turns.
//
// So no namespace ever waits for another one's work. The slots in use are at most the total, plus one for each further namespace.
type Limiter struct {
	maxTotal, maxPerNamespace int
	// freeShare is the divisor for the part of the free slots that one namespace may hold.
	freeShare int

	mutex sync.Mutex
	used  int
	held  map[string]int
	// waiting holds the waiters of each namespace in order. turns holds the waiting namespaces in order of their turns.
	waiting map[string][]chan struct{}
	turns   []string
}

// New creates a limiter with a number of slots in total, and a limit for each namespace. A namespace may hold an eighth of the free slots.
func New(maxTotal, maxPerNamespace int) *Limiter { return NewShared(maxTotal, maxPerNamespace, 8) }

// NewShared is New for a few slots: a namespace may hold the free slots divided by freeShare.
func NewShared(maxTotal, maxPerNamespace, freeShare int) *Limiter {
	return &Limiter{maxTotal: maxTotal, maxPerNamespace: maxPerNamespace, freeShare: freeShare, held: map[string]int{}, waiting: map[string][]chan struct{}{}}
}

// Acquire waits for a slot until ctx ends. The caller must call release once, when its work is done.
func (l *Limiter) Acquire(ctx context.Context, namespace string) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	granted := l.enqueue(namespace)
	select {
	case <-granted:
	case <-ctx.Done():
		l.cancel(namespace, granted)
		return nil, ctx.Err()
	}
	return func() { l.release(namespace) }, nil
}

// TryAcquire takes a slot if the namespace may have one now. The caller must call release once, when its work is done.
func (l *Limiter) TryAcquire(namespace string) (release func(), ok bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.waiting[namespace]) > 0 || !l.admits(namespace) {
		return nil, false
	}
	l.take(namespace)
	return func() { l.release(namespace) }, true
}

// Wanted reports whether anybody waits for a slot.
func (l *Limiter) Wanted() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return len(l.turns) > 0
}

func (l *Limiter) take(namespace string) {
	l.used++
	l.held[namespace]++
}

// enqueue requests a slot. The channel is closed when the slot is granted.
func (l *Limiter) enqueue(namespace string) <-chan struct{} {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.waiting[namespace]) == 0 {
		l.turns = append(l.turns, namespace)
	}
	granted := make(chan struct{})
	l.waiting[namespace] = append(l.waiting[namespace], granted)
	l.grant()
	return granted
}

// cancel cancels a request. If its slot was granted meanwhile, cancel gives the slot back.
func (l *Limiter) cancel(namespace string, request <-chan struct{}) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	waiting := l.waiting[namespace]
	n := slices.IndexFunc(waiting, func(w chan struct{}) bool { return w == request })
	if n < 0 {
		l.giveBack(namespace)
		return
	}
	l.waiting[namespace] = slices.Delete(waiting, n, n+1)
	if len(l.waiting[namespace]) == 0 {
		l.turns = slices.DeleteFunc(l.turns, func(turn string) bool { return turn == namespace })
		delete(l.waiting, namespace)
	}
}

func (l *Limiter) release(namespace string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.giveBack(namespace)
}

// giveBack returns a slot, and grants slots to waiting namespaces.
func (l *Limiter) giveBack(namespace string) {
	l.used--
	if l.held[namespace]--; l.held[namespace] == 0 {
		delete(l.held, namespace)
	}
	l.grant()
}

// grant gives slots to waiting namespaces in turns, until none may have another one.
func (l *Limiter) grant() {
	for {
		next := slices.IndexFunc(l.turns, l.admits)
		if next < 0 {
			return
		}
		namespace := l.turns[next]
		l.turns = slices.Delete(l.turns, next, next+1)
		close(l.waiting[namespace][0])
		l.take(namespace)
		if l.waiting[namespace] = l.waiting[namespace][1:]; len(l.waiting[namespace]) == 0 {
			delete(l.waiting, namespace)
			continue
		}
		l.turns = append(l.turns, namespace)
	}
}

// admits reports whether a namespace may have another slot.
func (l *Limiter) admits(namespace string) bool {
	held := l.held[namespace]
	return held == 0 || held < l.maxPerNamespace && held*l.freeShare < l.maxTotal-l.used
}
