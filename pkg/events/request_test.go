package events

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

const repeats = "pi3 pi3@1s pi3@3s pi3@7s pi3@15s pi3@31s pi3@1m1s pi3@1m31s"

func TestRequestToHandlerInProcessIsRepeatedUntilTheObjectShowsTheResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := newHandler(nil)
		r := newTestRelay(t, RelayConfig{Handlers: inProcessBroker(t, handler)})
		record := recordOf(3, 0)
		snapshot := Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)}
		r.Publish(snapshot)
		advance(50 * time.Second)
		r.Publish(snapshot)
		advance(50 * time.Second)
		r.expect("requests", handler.got(), repeats)
		r.Publish(Snapshot{Object: pi, Record: record})
		advance(time.Hour)
		r.expect("requests", handler.got(), repeats)
		r.expect("progress", r.takeProgress(), "")
	})
}

func TestRequestToHandlerBehindTheSinkIsRepeatedUntilTheObjectShowsTheResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(nil)
		r := newTestRelay(t, RelayConfig{Sink: sink})
		record := recordOf(3, 0)
		snapshot := Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)}
		r.Publish(snapshot)
		snapshot.Request.Event.SetSubject("edited by the caller")
		advance(100 * time.Second)
		r.expect("sent", sink.got(), "pi1 pi2 "+repeats)
		for _, again := range sink.sends[3:] {
			r.expect("repeated event", again.bytes, sink.sends[2].bytes)
		}
		r.Publish(Snapshot{Object: pi, Record: record})
		advance(time.Hour)
		r.expect("sent", sink.got(), "pi1 pi2 "+repeats)
		r.expect("progress", r.takeProgress(), "pi")
	})
}

func TestRequestIsNotRepeatedBeforeItsEventIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(func(_ context.Context, event cloudevents.Event, try int) error {
			if strings.HasSuffix(event.ID(), "1") && try < 3 {
				return errDown
			}
			return nil
		})
		r := newTestRelay(t, RelayConfig{Sink: sink})
		record := recordOf(2, 0)
		r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)})
		advance(4 * time.Second)
		r.expect("sent", sink.got(), "pi1 pi1@200ms pi1@600ms pi1@1.4s pi2@1.4s pi2@2.4s")
		r.Shutdown()
	})
}

func TestRequestIsRepeatedAtOnceAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(nil)
		r := newTestRelay(t, RelayConfig{Sink: sink})
		record := recordOf(3, 3)
		r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)})
		advance(4 * time.Second)
		r.expect("sent", sink.got(), "pi3 pi3@1s pi3@3s")
		r.Shutdown()
	})
}

func TestRequestIsRepeatedAlthoughItsEventWasRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(func(context.Context, cloudevents.Event, int) error { return errPoison })
		r := newTestRelay(t, RelayConfig{Sink: sink, MaxRejections: 2})
		record := recordOf(1, 0)
		r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)})
		advance(4 * time.Second)
		r.expect("sent", sink.got(), "pi1 pi1@200ms pi1@1.2s pi1@3.2s")
		r.expectProgress(pi, Progress{Acknowledged: 1, Rejected: 1, LastError: "event rejected: poison"})
		r.Shutdown()
	})
}

func TestRequestToHandlerInProcessDoesNotWaitForTheSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(func(ctx context.Context, _ cloudevents.Event, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		})
		handler := newHandler(nil)
		r := newTestRelay(t, RelayConfig{Sink: sink, Handlers: inProcessBroker(t, handler), Sends: fairshare.New(1, 1)})
		record := recordOf(3, 0)
		r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)})
		advance(100 * time.Second)
		r.expect("requests", handler.got(), repeats)
		r.expect("sent", sink.got(), "pi1")
		r.Shutdown()
	})
}

func TestRequestWithClockEventIsAlsoSentToTheSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(func(_ context.Context, _ cloudevents.Event, try int) error {
			if try < 4 {
				return errDown
			}
			return nil
		})
		handler := newHandler(nil)
		r := newTestRelay(t, RelayConfig{Sink: sink, Handlers: inProcessBroker(t, handler)})
		record := recordOf(3, 3)
		r.Publish(Snapshot{Object: pi, Record: record, Request: ttlRequest(t, pi)})
		synctest.Wait()
		r.Publish(Snapshot{Object: pi, Record: record})
		synctest.Wait()
		r.expect("requests", handler.got(), "pi-clock")
		r.expectProgress(pi, Progress{Acknowledged: 3, Pending: 1, LastError: "sink is down"})
		r.Publish(Snapshot{Object: pi, Record: record, Request: ttlRequest(t, pi)})
		r.Publish(Snapshot{Object: pi, Record: record})
		r.expectProgress(pi, Progress{Acknowledged: 3, Pending: 1, LastError: "sink is down"})
		advance(time.Hour)
		r.expect("sent", sink.got(), "pi-clock pi-clock@200ms pi-clock@600ms pi-clock@1.4s pi-clock@3s")
		r.expectProgress(pi, Progress{Acknowledged: 3})
		r.expect("progress", r.takeProgress(), "pi")
	})
}

func TestRequestWithClockEventIsRepeatedBehindTheSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(nil)
		r := newTestRelay(t, RelayConfig{Sink: sink})
		r.Publish(Snapshot{Object: pi, Request: ttlRequest(t, pi)})
		advance(4 * time.Second)
		r.expect("sent", sink.got(), "pi-clock pi-clock@1s pi-clock@3s")
		r.Shutdown()
	})
}

func TestRequestWithRejectedClockEventIsNoRejectedTransition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(func(context.Context, cloudevents.Event, int) error { return errPoison })
		r := newTestRelay(t, RelayConfig{Sink: sink, Handlers: inProcessBroker(t, newHandler(nil))})
		r.Publish(Snapshot{Object: pi, Record: recordOf(3, 3), Request: ttlRequest(t, pi)})
		r.Publish(Snapshot{Object: pi, Record: recordOf(3, 3)})
		advance(time.Hour)
		r.expectProgress(pi, Progress{Acknowledged: 3, LastError: "event rejected: poison"})
	})
}

func TestRequestsQueueABoundedNumberOfClockEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(func(context.Context, cloudevents.Event, int) error { return errDown })
		r := newTestRelay(t, RelayConfig{Sink: sink, Handlers: inProcessBroker(t, newHandler(nil))})
		for minute := range 100 {
			event, err := NewExpiredEvent(pi, failed().Time.Add(time.Duration(minute)*time.Minute))
			must(t, err)
			r.Publish(Snapshot{Object: pi, Record: recordOf(2, 0), Request: &PendingRequest{Handler: "ttl", Event: event}})
			advance(time.Minute)
		}
		if got := r.Progress(pi.UID).Pending; got != 2+maxQueuedClockEvents {
			t.Errorf("%d events are pending, want 2 transitions and %d clock events", got, maxQueuedClockEvents)
		}
		r.Shutdown()
	})
}

func TestRequestIsReplacedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := newHandler(nil)
		r := newTestRelay(t, RelayConfig{Handlers: inProcessBroker(t, handler)})
		r.Publish(Snapshot{Object: pi, Record: recordOf(3, 0), Request: restartRequest(t, pi, recordOf(3, 0))})
		advance(2 * time.Second)
		r.Publish(Snapshot{Object: pi, Record: recordOf(4, 0), Request: restartRequest(t, pi, recordOf(4, 0))})
		advance(2 * time.Second)
		r.expect("requests", handler.got(), "pi3 pi3@1s pi4@2s pi4@3s")
		r.Shutdown()
	})
}

func TestRequestFollowsTheSettingOfItsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inProcess atomic.Bool
		inProcess.Store(true)
		handler, sink := newHandler(nil), newSink(nil)
		r := newTestRelay(t, RelayConfig{Sink: sink, Handlers: brokerFor(t, handler, func(string) bool { return inProcess.Load() })})
		record := recordOf(1, 0)
		r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)})
		advance(2 * time.Second)
		inProcess.Store(false)
		advance(6 * time.Second)
		inProcess.Store(true)
		advance(10 * time.Second)
		r.expect("requests", handler.got(), "pi1 pi1@1s pi1@15s")
		r.expect("sent", sink.got(), "pi1 pi1@3s pi1@7s")
		r.Shutdown()
	})
}

func TestRequestFollowsTheSettingOfItsHandlerWhileTheSinkIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inProcess atomic.Bool
		handler := newHandler(nil)
		sink := newSink(func(context.Context, cloudevents.Event, int) error { return errDown })
		r := newTestRelay(t, RelayConfig{Sink: sink, Handlers: brokerFor(t, handler, func(string) bool { return inProcess.Load() })})
		record := recordOf(1, 0)
		r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)})
		advance(time.Second)
		inProcess.Store(true)
		advance(30 * time.Second)
		r.expect("requests", handler.got(), "pi1@30s pi1@31s")
		r.Shutdown()
	})
}

func TestRequestIsRepeatedAtOnceWhenSettingsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inProcess atomic.Bool
		handler := newHandler(nil)
		sink := newSink(func(context.Context, cloudevents.Event, int) error { return errDown })
		r := newTestRelay(t, RelayConfig{Sink: sink, Handlers: brokerFor(t, handler, func(string) bool { return inProcess.Load() })})
		record := recordOf(1, 0)
		r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)})
		advance(5 * time.Second)
		inProcess.Store(true)
		r.HandlerSettingsChanged()
		advance(500 * time.Millisecond)
		r.expect("requests", handler.got(), "pi1@5s")
		r.Shutdown()
	})
}

func TestRequestIsNotSentEarlyWhenSettingsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inProcess atomic.Bool
		inProcess.Store(true)
		sink := newSink(func(ctx context.Context, _ cloudevents.Event, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		})
		r := newTestRelay(t, RelayConfig{
			Sink: sink, Handlers: brokerFor(t, newHandler(nil), func(string) bool { return inProcess.Load() }),
		})
		record := recordOf(2, 0)
		r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)})
		advance(time.Second)
		inProcess.Store(false)
		advance(time.Minute)
		r.expect("sent", sink.got(), "pi1")
		r.Shutdown()
	})
}

func TestRequestThatIsOverdueNamesItsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := newHandler(func(context.Context, cloudevents.Event) error { return errors.New("no verdict") })
		r := newTestRelay(t, RelayConfig{Handlers: inProcessBroker(t, handler)})
		record := recordOf(3, 0)
		r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)})
		advance(2*time.Minute - time.Second)
		r.expect("progress", r.takeProgress(), "")
		r.expectProgress(pi, Progress{Acknowledged: 3, LastError: "no verdict"})
		advance(time.Second)
		r.expect("progress", r.takeProgress(), "pi")
		r.expectProgress(pi, Progress{Acknowledged: 3, LastError: "no verdict", OverdueHandler: "restart"})
		advance(time.Hour)
		r.expect("progress", r.takeProgress(), "")
		r.Publish(Snapshot{Object: pi, Record: record})
		r.expectProgress(pi, Progress{Acknowledged: 3})
	})
}

func TestRequestToUnreachableHandlerNamesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, RelayConfig{})
		record := recordOf(1, 0)
		r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)})
		advance(2 * time.Minute)
		r.expect("progress", r.takeProgress(), "pi")
		if got := r.Progress(pi.UID); got.OverdueHandler != "restart" || got.LastError != errUnreachable.Error() {
			t.Errorf("progress is %+v, want the handler's name and the reason", got)
		}
		r.Shutdown()
	})
}

func TestRequestThatIsCancelledDoesNotCancelTheHandlersCall(t *testing.T) {
	cancelled := map[string]func(r *testRelay, snapshot Snapshot){
		"the object shows the result": func(r *testRelay, snapshot Snapshot) { r.Publish(Snapshot{Object: pi, Record: snapshot.Record}) },
		"the object is deleted":       func(r *testRelay, _ Snapshot) { r.Forget(pi.UID) },
	}
	for name, answer := range cancelled {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r *testRelay
				var end error
				record := recordOf(1, 0)
				snapshot := Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)}
				r = newTestRelay(t, RelayConfig{Handlers: inProcessBroker(t, newHandler(func(ctx context.Context, _ cloudevents.Event) error {
					answer(r, snapshot)
					time.Sleep(time.Second)
					end = ctx.Err()
					return nil
				}))})
				r.Publish(snapshot)
				advance(time.Minute)
				if end != nil {
					t.Errorf("the handler's context ended: %v", end)
				}
			})
		})
	}
}

func TestRequestIsRepeatedAfterAPanicOfTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.DebugLevel)
		handler := newHandler(func(ctx context.Context, _ cloudevents.Event) error {
			logging.FromContext(ctx).Info("about to panic")
			panic("oops")
		})
		r := newTestRelay(t, RelayConfig{Handlers: inProcessBroker(t, handler), Logger: zap.New(core).Sugar()})
		record := recordOf(3, 0)
		r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)})
		advance(100 * time.Second)
		r.expect("requests", handler.got(), repeats)
		r.expectProgress(pi, Progress{Acknowledged: 3, LastError: "handler panicked: oops"})
		if got := logs.FilterMessage("about to panic").FilterField(zap.String("handler", "restart")).Len(); got != 8 {
			t.Errorf("the handler logged %d lines with its name, want 8", got)
		}
		if got := logs.FilterMessage("handler panicked").FilterFieldKey("stack").Len(); got != 8 {
			t.Errorf("the log has %d stacks, want 8", got)
		}
		if got := logs.FilterMessage("handler request failed and is repeated").Len(); got != 1 {
			t.Errorf("the same error is logged %d times, want once", got)
		}
		r.Shutdown()
	})
}
