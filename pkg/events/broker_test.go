package events

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.uber.org/zap"
	"knative.dev/pkg/logging"
)

func newBroker(t *testing.T, handler Handler) *Broker {
	t.Helper()
	broker, err := NewBroker(map[string]Handler{"restart": handler}, nil)
	must(t, err)
	return broker
}

func TestBrokerCallsTheHandler(t *testing.T) {
	refusal := errors.New("refused")
	broker := newBroker(t, func(_ context.Context, event cloudevents.Event) error {
		event.SetExtension("sparkname", "changed")
		return refusal
	})
	event := clockEvent(t, pi)
	if err := broker.Deliver(t.Context(), "restart", event); !errors.Is(err, refusal) {
		t.Errorf("Deliver = %v, want the handler's error", err)
	}
	if got := event.Extensions()["sparkname"]; got != "pi" {
		t.Errorf("the handler changed the sender's event: sparkname is %q", got)
	}
	if err := broker.Deliver(t.Context(), "ttl", event); err == nil {
		t.Error("Deliver accepted an unknown handler")
	}
}

func TestBrokerFollowsTheSettingWhereAHandlerRuns(t *testing.T) {
	inProcess := true
	broker, err := NewBroker(nil, func(name string) bool { return inProcess && name == "restart" })
	must(t, err)
	if !broker.InProcess("restart") || broker.InProcess("ttl") {
		t.Error("InProcess does not report the setting")
	}
	inProcess = false
	if broker.InProcess("restart") {
		t.Error("InProcess does not follow the setting")
	}
	if !newBroker(t, func(context.Context, cloudevents.Event) error { return nil }).InProcess("restart") {
		t.Error("without a setting a handler does not run in process")
	}
}

func TestBrokerTurnsAPanicIntoAnError(t *testing.T) {
	broker := newBroker(t, func(context.Context, cloudevents.Event) error { panic("oops") })
	ctx := logging.WithLogger(t.Context(), zap.NewNop().Sugar())
	err := broker.Deliver(ctx, "restart", clockEvent(t, pi))
	if err == nil || !strings.Contains(err.Error(), "oops") {
		t.Errorf("Deliver = %v, want the panic", err)
	}
}

func TestBrokerBoundsAHandlersTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := newBroker(t, func(ctx context.Context, _ cloudevents.Event) error {
			<-ctx.Done()
			return ctx.Err()
		})
		begin := time.Now()
		err := broker.Deliver(t.Context(), "restart", clockEvent(t, pi))
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != 30*time.Second {
			t.Errorf("Deliver = %v after %s, want its deadline after 30 s", err, took)
		}
	})
}

func TestBrokerBoundsConcurrentCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running := make(chan struct{}, 100)
		broker := newBroker(t, func(ctx context.Context, _ cloudevents.Event) error {
			running <- struct{}{}
			<-ctx.Done()
			return nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		event := clockEvent(t, pi)
		for range 40 {
			go func() { _ = broker.Deliver(ctx, "restart", event) }()
		}
		synctest.Wait()
		if got := len(running); got != 32 {
			t.Errorf("%d calls run at once, want 32", got)
		}
		cancel()
		synctest.Wait()
	})
}

// A handler may be slow for one namespace only, for example if the API server calls a webhook for it.
func TestBrokerDelaysNoNamespaceForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := newBroker(t, func(ctx context.Context, event cloudevents.Event) error {
			if NamespaceOf(event) != "team-a" {
				<-ctx.Done()
			}
			return nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		for n := range 1000 {
			slow := applicationIn(fmt.Sprintf("slow-%d", n%20), fmt.Sprint(n))
			go func() { _ = broker.Deliver(ctx, "restart", clockEvent(t, slow)) }()
		}
		synctest.Wait()
		begin := time.Now()
		for range 100 {
			must(t, broker.Deliver(ctx, "restart", clockEvent(t, pi)))
		}
		if took := time.Since(begin); took > 0 {
			t.Errorf("other namespaces waited %s", took)
		}
		cancel()
		synctest.Wait()
	})
}

func TestBrokerRefusesAHandlerWithoutFunction(t *testing.T) {
	if _, err := NewBroker(map[string]Handler{"restart": nil}, nil); err == nil {
		t.Error("NewBroker accepted a handler without function")
	}
}
