package archiver

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// maxLateBytes bounds the applications of attempts that are tried again: that is some hundred attempts.
const maxLateBytes = 8 << 20

// lateBackoff is how long a storage that failed is left alone.
var lateBackoff = wait.Backoff{Duration: time.Minute, Factor: 2, Jitter: 0.1, Steps: 4, Cap: 5 * time.Minute}

// late holds the attempts that were not archived when the handler was asked. They are tried again until lifecycle.ArchiveLate after their end: nobody may
// ask again, since their driver Pod is gone, a next attempt has begun, or the application is deleted. It is in memory only.
type late struct {
	memory *memory

	mu sync.Mutex
	// attempts holds the attempts by the URL of their archive.
	attempts map[string]map[attemptKey]lateAttempt
}

// attemptKey identifies an attempt.
type attemptKey struct{ app, driver types.UID }

func (p *pending) key() attemptKey { return attemptKey{p.uid, p.driver} }

type lateAttempt struct {
	*pending
	release func()
}

func newLate() *late {
	return &late{memory: newMemory(maxLateBytes), attempts: map[string]map[attemptKey]lateAttempt{}}
}

// add adds an attempt, in place of an older state of it. ok reports whether there is memory for it, and first whether it is the only one of its archive.
func (l *late) add(url string, p *pending) (first, ok bool) {
	release, ok := l.memory.take(p.name.Namespace, len(p.app))
	if !ok {
		return false, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removeLocked(p.key())
	of := l.attempts[url]
	if of == nil {
		of = map[attemptKey]lateAttempt{}
		l.attempts[url], first = of, true
	}
	of[p.key()] = lateAttempt{p, release}
	return first, true
}

// remove removes an attempt. The entry of its archive stays until its goroutine ends.
func (l *late) remove(key attemptKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removeLocked(key)
}

func (l *late) removeLocked(key attemptKey) {
	for _, of := range l.attempts {
		if attempt, ok := of[key]; ok {
			attempt.release()
			delete(of, key)
		}
	}
}

// all returns the attempts of an archive, those that were tried least first. If there are none, the archive is forgotten.
func (l *late) all(url string) []*pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.attempts[url]) == 0 {
		delete(l.attempts, url)
		return nil
	}
	all := make([]*pending, 0, len(l.attempts[url]))
	for _, attempt := range l.attempts[url] {
		all = append(all, attempt.pending)
	}
	slices.SortFunc(all, func(a, b *pending) int {
		return cmp.Or(cmp.Compare(a.tries, b.tries), a.ended.Time.Compare(b.ended.Time.Time))
	})
	return all
}

// retryLater lets an attempt be tried again that was not archived.
func (a *Archiver) retryLater(ctx context.Context, p *pending) {
	url := a.settings().Archive.URLOf(p.name.Namespace)
	if url == "" || !a.clock.Now().Before(p.lateUntil()) {
		return
	}
	first, ok := a.late.add(url, p)
	if !ok {
		p.logger.Warnw("attempt not archived, and not tried again unless the handler is asked: too many wait for the storage",
			"attempt", p.ended.Attempt, zap.Error(p.failed))
	}
	if first {
		go a.retryLate(context.WithoutCancel(ctx), url)
	}
}

// lateUntil returns until when the attempt is tried again.
func (p *pending) lateUntil() time.Time { return p.ended.Time.Add(lifecycle.ArchiveLate) }

// retryLate tries the attempts of an archive again until none is left. It leaves a storage alone that failed.
func (a *Archiver) retryLate(ctx context.Context, url string) {
	backoff := lateBackoff
	for {
		<-time.After(backoff.Step())
		all := a.late.all(url)
		if len(all) == 0 {
			return
		}
		if a.retryUntilFailure(ctx, all) {
			backoff = lateBackoff
		}
	}
}

// retryUntilFailure tries attempts again until one fails. It reports whether one is archived. One that failed is tried after the others next time, so that
// none keeps others back.
func (a *Archiver) retryUntilFailure(ctx context.Context, all []*pending) (archived bool) {
	for _, p := range all {
		logger := p.logger.With("attempt", p.ended.Attempt)
		if !a.clock.Now().Before(p.lateUntil()) {
			a.late.remove(p.key())
			logger.Warnw("attempt not archived, and not tried again", zap.Error(p.failed))
			continue
		}
		if err := a.archive(logging.WithLogger(ctx, logger), p); err != nil {
			p.tries++
			logger.Debugw("attempt not archived, which is tried again", zap.Error(err))
			return archived
		}
		a.late.remove(p.key())
		archived = true
		logger.Infow("attempt archived late")
	}
	return archived
}
