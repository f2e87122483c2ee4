package review

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
)

// answers asks questions of one sort, and keeps the answers.
type answers[A any] struct {
	clock  clock.PassiveClock
	kept   *cache.LRUExpireCache
	asking singleflight.Group
	// callers has a place for each caller that waits for an answer, questions one for each question, and slots one for each that is under way. A question
	// whose callers have left still has its place.
	callers, questions, slots chan struct{}
}

func newAnswers[A any](size int, clock clock.PassiveClock) *answers[A] {
	return &answers[A]{
		clock: clock, kept: cache.NewLRUExpireCacheWithClock(size, clock),
		callers: make(chan struct{}, maxInFlight+maxWaiting), questions: make(chan struct{}, maxInFlight+maxWaiting),
		slots: make(chan struct{}, maxInFlight),
	}
}

// kept is an answer that is kept.
type kept[A any] struct {
	value A
	asked time.Time
}

// answer is the result of a question.
type answer[A any] struct {
	value A
	// uncertain means that the answer depends on a failure: it is not kept.
	uncertain bool
}

// get returns the answer for a key. The question goes on if the caller leaves: others may wait for the same answer. The error is access.ErrBusy if too
// many callers wait already.
func (r *answers[A]) get(ctx context.Context, key string, ask func(context.Context) (answer[A], error)) (A, error) {
	last, known := r.last(key)
	if known && r.clock.Since(last.asked) < keepFor {
		return last.value, nil
	}
	var none A
	if !enter(r.callers) {
		return none, access.ErrBusy
	}
	defer leave(r.callers)
	result := r.asking.DoChan(key, func() (any, error) {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTimeout)
		defer cancel()
		return r.ask(asking, key, ask)
	})
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case got := <-result:
		if got.Err != nil && known && !errors.Is(got.Err, access.ErrBusy) { // while the API server gives no answer, nobody changes rights
			return last.value, nil
		}
		if got.Err != nil {
			return none, got.Err
		}
		return got.Val.(A), nil
	}
}

// enter takes a place if there is one.
func enter(places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	default:
		return false
	}
}

func leave(places chan struct{}) { <-places }

func (r *answers[A]) ask(ctx context.Context, key string, ask func(context.Context) (answer[A], error)) (any, error) {
	if !enter(r.questions) {
		return nil, access.ErrBusy
	}
	defer leave(r.questions)
	asked := r.clock.Now()
	got, err := r.once(ctx, func(ctx context.Context) (answer[A], error) {
		asked = r.clock.Now()
		return ask(ctx)
	})
	if err != nil {
		return nil, err
	}
	if left := graceFor - r.clock.Since(asked); !got.uncertain && left > 0 {
		r.kept.Add(key, kept[A]{got.value, asked}, left)
	} else {
		r.kept.Remove(key)
	}
	return got.value, nil
}

// last returns the last answer for a key, if it is not too old to be used at all.
func (r *answers[A]) last(key string) (kept[A], bool) {
	last, ok := r.kept.Get(key)
	if !ok {
		return kept[A]{}, false
	}
	return last.(kept[A]), true
}

// once asks as soon as there is a slot.
func (r *answers[A]) once(ctx context.Context, ask func(context.Context) (answer[A], error)) (answer[A], error) {
	select {
	case r.slots <- struct{}{}:
		defer leave(r.slots)
	case <-ctx.Done():
		return answer[A]{}, ctx.Err()
	}
	return ask(ctx)
}
