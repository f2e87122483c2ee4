// Package fairshare bounds the work in flight, and shares the bound fairly among namespaces.
package fairshare

import (
	"context"
	"slices"
	"sync"
)

// Limiter bounds the slots in use. A namespace that holds none gets its first slot at once, whatever the others do. It gets
// another one while it holds less than an eighth of what is free, and less than its own limit; namespaces that wait for more
// take turns. So no namespace ever waits for another one's work, and the slots in use are at most the total plus one for each
// further namespace.
type Limiter struct {
	maxTotal, maxPerNamespace int

	mutex sync.Mutex
	used  int
	held  map[string]int
	// waiting holds the waiters of each namespace, the first first. turns holds the namespaces that wait, the next first.
	waiting map[string][]chan struct{}
	turns   []string
}

// New makes a limiter of so many slots in total, and of at most so many for each namespace.
func New(maxTotal, maxPerNamespace int) *Limiter {
	return &Limiter{maxTotal: maxTotal, maxPerNamespace: maxPerNamespace, held: map[string]int{}, waiting: map[string][]chan struct{}{}}
}

// Acquire takes a slot for a namespace, and waits for it until ctx ends. The caller calls release once, when its work is over.
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

// TryAcquire takes a slot for a namespace if it may have one now. The caller calls release once, when its work is over.
func (l *Limiter) TryAcquire(namespace string) (release func(), ok bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.waiting[namespace]) > 0 || !l.admits(namespace) {
		return nil, false
	}
	l.take(namespace)
	return func() { l.release(namespace) }, true
}

func (l *Limiter) take(namespace string) {
	l.used++
	l.held[namespace]++
}

// enqueue asks for a slot. The channel is closed when the namespace has it.
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

// cancel gives a request up, or its slot back if it was granted meanwhile.
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

// giveBack takes a slot back, and grants what it can.
func (l *Limiter) giveBack(namespace string) {
	l.used--
	if l.held[namespace]--; l.held[namespace] == 0 {
		delete(l.held, namespace)
	}
	l.grant()
}

// grant gives slots to the namespaces that wait, in turns, until none may have another.
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

// freeShare is the part of the free slots that one namespace may hold, as a divisor.
const freeShare = 8

// admits reports whether a namespace may have another slot.
func (l *Limiter) admits(namespace string) bool {
	held := l.held[namespace]
	return held == 0 || held < l.maxPerNamespace && held*freeShare < l.maxTotal-l.used
}
