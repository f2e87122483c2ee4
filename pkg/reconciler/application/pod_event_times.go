package application

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

// maxPodEventTimes bounds the events whose times are held. No reconcile handles those of applications that are not served. Of a forgotten event,
// only the time until its reconcile is not measured.
const maxPodEventTimes = 16384

// podEventTimes holds the arrival times of driver Pod events that no reconcile has handled yet.
type podEventTimes struct {
	clock clock.PassiveClock
	mutex sync.Mutex
	at    *lru.Cache // by the name of the application
}

func newPodEventTimes(clock clock.PassiveClock) *podEventTimes {
	return &podEventTimes{clock: clock, at: lru.New(maxPodEventTimes)}
}

// record records the event of a driver Pod for its application.
func (a *podEventTimes) record(name types.NamespacedName) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if _, earlier := a.at.Get(name); !earlier {
		a.at.Add(name, a.clock.Now())
	}
}

// untilOld returns after which time the oldest unhandled event of an application's driver Pod reaches an age. It returns
// zero if the event has reached the age, or if there is none.
func (a *podEventTimes) untilOld(name types.NamespacedName, age time.Duration) time.Duration {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	at, arrived := a.at.Get(name)
	if !arrived {
		return 0
	}
	return max(at.(time.Time).Add(age).Sub(a.clock.Now()), 0)
}

type podEventTimeKey struct{}

// take returns a context with the time of the first event that the reconcile handles.
func (a *podEventTimes) take(ctx context.Context, name types.NamespacedName) context.Context {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	arrival, arrived := a.at.Get(name)
	if !arrived {
		return ctx
	}
	a.at.Remove(name)
	at := arrival.(time.Time)
	return context.WithValue(ctx, podEventTimeKey{}, &at)
}

// detectedAfter returns how long after the event its transition is written. It returns a time once for each event.
func (a *podEventTimes) detectedAfter(ctx context.Context) (time.Duration, bool) {
	at, _ := ctx.Value(podEventTimeKey{}).(*time.Time)
	if at == nil || at.IsZero() {
		return 0, false
	}
	after := a.clock.Since(*at)
	*at = time.Time{}
	return after, true
}
