package function

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	cloudevents "github.com/cloudevents/sdk-go/v2"
)

func TestOnceDropsHandledEvents(t *testing.T) {
	var calls []string
	fails := errors.New("not now")
	answer := fails
	once := Once(func(_ context.Context, event cloudevents.Event) error {
		calls = append(calls, event.Source())
		return answer
	})
	event, other := failed(t), failed(t)
	other.SetSource("/another")
	if err := once(t.Context(), event); !errors.Is(err, fails) {
		t.Errorf("the error is %v", err)
	}
	answer = nil
	for _, e := range []cloudevents.Event{event, event, other, other, event} {
		must(t, once(t.Context(), e))
	}
	if len(calls) != 3 || calls[2] != "/another" {
		t.Errorf("the handler was called for %v, want twice for the event that failed first, and once for the other", calls)
	}
}

func TestOnceMergesConcurrentDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, calls := make(chan struct{}), 0
		once := Once(func(context.Context, cloudevents.Event) error {
			calls++
			<-release
			return nil
		})
		answers := make(chan error, 2)
		for range cap(answers) {
			go func() { answers <- once(t.Context(), failed(t)) }()
		}
		synctest.Wait()
		close(release)
		for range cap(answers) {
			must(t, <-answers)
		}
		if calls != 1 {
			t.Errorf("the handler was called %d times", calls)
		}
	})
}
