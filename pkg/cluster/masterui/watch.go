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
	// atOnce is the number of masters that are asked at the same time, and atOncePerNamespace those of one namespace: a master is
	// its tenant's, and may keep whoever asks it waiting.
	atOnce             = 1024
	atOncePerNamespace = 64
	// seldom is how often a master is asked at least that does not answer for long.
	seldom = 30 * time.Second
)

// Read reads a master's page; Reader has one.
type Read func(context.Context, Master) (Page, error)

// Watch asks masters over and over, so that what they last told is there without waiting.
type Watch struct {
	ctx  context.Context
	read Read
	// news is told of each cluster whose master tells something else than before.
	news func(types.NamespacedName)
	// owned reports whether a cluster is still this process's to follow.
	owned func(key types.NamespacedName, uid types.UID) bool
	slots *fairshare.Limiter

	mutex    sync.Mutex
	followed map[types.UID]*followed
}

// followed is a cluster whose master is asked. Watch.mutex guards what changes.
type followed struct {
	key    types.NamespacedName
	master Master
	cancel context.CancelFunc
	// hasten has the master asked before its time.
	hasten chan struct{}

	every time.Duration
	seen  *cluster.Master
}

// NewWatch makes a watch that asks until the context ends. It follows the clusters that are owned: owned reports whether this
// process leads a cluster that still exists, and whoever ends that calls Forget or ForgetWhere after it.
func NewWatch(
	ctx context.Context, read Read, owned func(key types.NamespacedName, uid types.UID) bool, news func(types.NamespacedName),
) *Watch {
	return &Watch{ctx: ctx, read: read, owned: owned, news: news, slots: fairshare.New(atOnce, atOncePerNamespace), followed: map[types.UID]*followed{}}
}

// Follow has the master of a cluster asked in an interval; zero has it asked no more. A master that does not answer is
// asked less often, the longer that lasts.
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
	f = &followed{key: key, master: master, every: every, hasten: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(w.ctx)
	f.cancel = cancel
	w.followed[uid] = f
	go w.follow(ctx, f)
}

// Hasten has the master of a cluster asked now, since something of the cluster has changed.
func (w *Watch) Hasten(uid types.UID) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if f, known := w.followed[uid]; known {
		f.wake()
	}
}

func (f *followed) wake() {
	select {
	case f.hasten <- struct{}{}:
	default:
	}
}

// Seen is what the master of a cluster last told; nil where it has not been asked.
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

// Forget has the master of a cluster asked no more.
func (w *Watch) Forget(uid types.UID) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if f, known := w.followed[uid]; known {
		f.cancel()
		delete(w.followed, uid)
	}
}

// ForgetWhere has the masters of some clusters asked no more.
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

// follow asks a master until the cluster is forgotten.
func (w *Watch) follow(ctx context.Context, f *followed) {
	for ctx.Err() == nil {
		page, err := w.ask(ctx, f.key.Namespace, f.master)
		if ctx.Err() != nil {
			return
		}
		if w.note(f, sighting(page, err)) {
			w.news(f.key)
		}
		pause := time.NewTimer(w.pause(f))
		select {
		case <-pause.C:
		case <-f.hasten:
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

// sighting is what an answer says, or that there is none since now.
func sighting(page Page, err error) cluster.Master {
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

// note keeps what was seen, and says whether it is another thing than before.
func (w *Watch) note(f *followed, seen cluster.Master) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if before := f.seen; before != nil && !before.FailingSince.IsZero() && !seen.FailingSince.IsZero() {
		seen.FailingSince = before.FailingSince
	}
	changed := f.seen == nil || *f.seen != seen
	f.seen = &seen
	return changed
}

// pause is the time until a master is asked again: of one that does not answer, a tenth of the time that it has not.
func (w *Watch) pause(f *followed) time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if since := f.seen.FailingSince; !since.IsZero() {
		return max(f.every, min(time.Since(since)/10, seldom))
	}
	return f.every
}
