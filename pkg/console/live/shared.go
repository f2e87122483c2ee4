package live

import (
	"crypto/sha256"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"
)

const (
	// shareFor is how long an answer is shared while nothing changes: some of it depends on the time.
	shareFor = time.Second
	// maxShared bounds the answers that are kept.
	maxShared = 64
)

// Alike is a Visible that can be compared with others. All viewers of a page ask at once after each change: those who see the same share one answer.
type Alike interface {
	Visible
	// Key is the same for those who see the same, and for no others; empty if it is not known.
	Key() string
}

// shared holds answers until something changes. Answers are never changed.
type shared struct {
	kept   *cache.LRUExpireCache
	making singleflight.Group
}

func newShared(clock clock.PassiveClock) *shared {
	return &shared{kept: cache.NewLRUExpireCacheWithClock(maxShared, clock)}
}

// share returns the answer to a question: one that was made for another user who sees the same since the last change, or what answer returns.
func share[A any](l *Live, see Visible, question string, answer func() A) A {
	alike, ok := see.(Alike)
	if !ok || alike.Key() == "" {
		return answer()
	}
	l.mutex.RLock()
	flushes := l.changes.flushes
	l.mutex.RUnlock()
	key := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", alike.Key(), question, flushes))
	if known, ok := l.shared.kept.Get(key); ok {
		return known.(A)
	}
	made, _, _ := l.shared.making.Do(string(key[:]), func() (any, error) {
		a := answer()
		l.shared.kept.Add(key, a, shareFor)
		return a, nil
	})
	return made.(A)
}
