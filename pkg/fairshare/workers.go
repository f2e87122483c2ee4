package fairshare

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Workers shares the workers of a work queue among namespaces. A namespace holds at most three quarters of the workers that the
// other namespaces leave, but one at any time. So slow work of one namespace, such as requests that a webhook delays, never holds
// all workers. The keys of a namespace start in the order in which they came.
type Workers struct {
	total   int
	enqueue func(key types.NamespacedName)

	mutex sync.Mutex
	used  int
	held  map[string]int
	// waiting holds the keys of each namespace that found no worker, in order.
	waiting map[string]*keys
	// granted are the keys that waited, have a worker now, and are in the work queue again. No later key can take that worker.
	granted map[types.NamespacedName]bool
}

// keys is a queue that holds each key once.
type keys struct {
	order []types.NamespacedName
	known map[types.NamespacedName]bool
}

// NewWorkers makes Workers of so many in total. enqueue puts a key that found no worker into the work queue again.
func NewWorkers(total int, enqueue func(key types.NamespacedName)) *Workers {
	return &Workers{
		total: total, enqueue: enqueue, held: map[string]int{}, waiting: map[string]*keys{}, granted: map[types.NamespacedName]bool{},
	}
}

// TryStart takes a worker for a key if its namespace may have one now. The caller calls done once, when the work is over. If ok is
// false the caller drops the key: it is enqueued when the namespace has another worker for it.
func (w *Workers) TryStart(key types.NamespacedName) (done func(), ok bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	switch {
	case w.granted[key]:
		delete(w.granted, key)
	case w.admits(key.Namespace):
		w.take(key.Namespace)
	default:
		w.wait(key)
		return nil, false
	}
	return func() { w.finish(key.Namespace) }, true
}

func (w *Workers) take(namespace string) {
	w.used++
	w.held[namespace]++
}

// admits reports whether a namespace may have another worker.
func (w *Workers) admits(namespace string) bool {
	held := w.held[namespace]
	left := w.total - (w.used - held)
	return held == 0 || held < left*3/4
}

func (w *Workers) wait(key types.NamespacedName) {
	queue := w.waiting[key.Namespace]
	if queue == nil {
		queue = &keys{known: map[types.NamespacedName]bool{}}
		w.waiting[key.Namespace] = queue
	}
	if !queue.known[key] {
		queue.known[key] = true
		queue.order = append(queue.order, key)
	}
}

// finish gives a worker back, and enqueues the next keys of each namespace that may have more. They have their workers already.
func (w *Workers) finish(namespace string) {
	w.mutex.Lock()
	w.used--
	if w.held[namespace]--; w.held[namespace] == 0 {
		delete(w.held, namespace)
	}
	var next []types.NamespacedName
	for waiting, queue := range w.waiting {
		for len(queue.order) > 0 && w.admits(waiting) {
			key := queue.order[0]
			next = append(next, key)
			w.granted[key] = true
			w.take(waiting)
			delete(queue.known, key)
			queue.order = queue.order[1:]
		}
		if len(queue.order) == 0 {
			delete(w.waiting, waiting)
		}
	}
	w.mutex.Unlock()
	for _, key := range next {
		w.enqueue(key)
	}
}
