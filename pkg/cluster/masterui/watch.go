package masterui

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

const (
	// maxRequests bounds the requests at the same time, and maxRequestsPerNamespace those of one namespace: a
	// tenant's master may answer slowly on purpose.
	maxRequests             = 1024
	maxRequestsPerNamespace = 64
	// maxPause bounds the time between two requests to a master that does not answer.
	maxPause = 30 * time.Second
)

// Read reads a master's page, as Reader.Read does.
type Read func(context.Context, Master) (Page, error)

// Watch polls masters, so that their last answer is available without waiting.
type Watch struct {
	ctx  context.Context
	read Read
	// onChange is called with each cluster whose master's answer changed.
	onChange func(types.NamespacedName)
	// owned reports whether this process still leads a cluster.
	owned func(key types.NamespacedName, uid types.UID) bool
	slots *fairshare.Limiter

	mutex    sync.Mutex
	followed map[types.UID]*followed
}

// followed is a cluster whose master is polled. Watch.mutex guards the fields that change.
type followed struct {
	key    types.NamespacedName
	master Master
	cancel context.CancelFunc
	// pollNow triggers the next request early.
	pollNow chan struct{}

	every time.Duration
	seen  *cluster.Master
}

// NewWatch returns a watch that polls until the context ends. It follows only clusters for which owned returns true:
// this process leads them and they exist. When that ends, the caller must call Forget or ForgetWhere.
func NewWatch(
	ctx context.Context, read Read, owned func(key types.NamespacedName, uid types.UID) bool, onChange func(types.NamespacedName),
) *Watch {
	return &Watch{ctx: ctx, read: read, owned: owned, onChange: onChange, slots: fairshare.New(maxRequests, maxRequestsPerNamespace), followed: map[types.UID]*followed{}}
}

// Follow polls the master of a cluster in an interval; zero stops polling. A master that does not answer is polled
// less and less often.
func (w *Watch) Follow(uid types.UID, key types.NamespacedName, master Master, every time.Duration) {
	if every == 0 {
		w.Forget(uid)
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if !w.owned(key, uid) {
		return
	}
	f, known := w.followed[uid]
	if known && f.master == master {
		sooner := every < f.every
		if f.every = every; sooner {
			f.wake()
		}
		return
	}
	if known {
		f.cancel()
	}
	f = &followed{key: key, master: master, every: every, pollNow: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(w.ctx)
	f.cancel = cancel
	w.followed[uid] = f
	go w.follow(ctx, f)
}

// PollNow polls the master of a cluster at once, because the cluster has changed.
func (w *Watch) PollNow(uid types.UID) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if f, known := w.followed[uid]; known {
		f.wake()
	}
}

func (f *followed) wake() {
	select {
	case f.pollNow <- struct{}{}:
	default:
	}
}

// Seen returns the last answer of a cluster's master; nil if it was not asked yet.
func (w *Watch) Seen(uid types.UID) *cluster.Master {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	f, known := w.followed[uid]
	if !known || f.seen == nil {
		return nil
	}
	seen := *f.seen
	return &seen
}

// Forget stops polling the master of a cluster.
func (w *Watch) Forget(uid types.UID) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if f, known := w.followed[uid]; known {
		f.cancel()
		delete(w.followed, uid)
	}
}

// ForgetWhere stops polling the masters of all matching clusters.
func (w *Watch) ForgetWhere(gone func(types.NamespacedName) bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for uid, f := range w.followed {
		if gone(f.key) {
			f.cancel()
			delete(w.followed, uid)
		}
	}
}

// follow polls a master until the cluster is forgotten.
func (w *Watch) follow(ctx context.Context, f *followed) {
	for ctx.Err() == nil {
		page, err := w.ask(ctx, f.key.Namespace, f.master)
		if ctx.Err() != nil {
			return
		}
		if w.store(f, observed(page, err)) {
			w.onChange(f.key)
		}
		pause := time.NewTimer(w.pause(f))
		select {
		case <-pause.C:
		case <-f.pollNow:
		case <-ctx.Done():
		}
		pause.Stop()
	}
}

func (w *Watch) ask(ctx context.Context, namespace string, master Master) (Page, error) {
	release, err := w.slots.Acquire(ctx, namespace)
	if err != nil {
		return Page{}, err
	}
	defer release()
	return w.read(ctx, master)
}

// observed converts an answer, or an error since now.
func observed(page Page, err error) cluster.Master {
	var closed *Closed
	switch {
	case err == nil:
		return cluster.Master{Alive: page.Status == alive, Workers: page.AliveWorkers}
	case errors.As(err, &closed):
		return cluster.Master{Closed: true, Problem: closed.Answer}
	default:
		return cluster.Master{FailingSince: time.Now(), Problem: err.Error()}
	}
}

// store stores an answer and reports whether it changed.
func (w *Watch) store(f *followed, seen cluster.Master) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if before := f.seen; before != nil && !before.FailingSince.IsZero() && !seen.FailingSince.IsZero() {
		seen.FailingSince = before.FailingSince
	}
	changed := f.seen == nil || *f.seen != seen
	f.seen = &seen
	return changed
}

// pause returns the time until the next request. If a master does not answer, it is a tenth of the time since the
// first failure.
func (w *Watch) pause(f *followed) time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if since := f.seen.FailingSince; !since.IsZero() {
		return max(f.every, min(time.Since(since)/10, maxPause))
	}
	return f.every
}
