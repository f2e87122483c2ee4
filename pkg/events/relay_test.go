package events

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

func TestRelaySendsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(nil)
		r := newTestRelay(t, RelayConfig{Sink: sink})
		r.Publish(Snapshot{Object: pi, Record: recordOf(3, 0)})
		synctest.Wait()
		r.Publish(Snapshot{Object: pi, Record: recordOf(5, 0)})
		synctest.Wait()
		r.expect("sent", sink.got(), "pi1 pi2 pi3 pi4 pi5")
		r.expect("progress", r.takeProgress(), "pi pi")
		r.expectProgress(pi, Progress{Acknowledged: 5})
	})
}

func TestRelaySendsTheSameBytesUntilTheSinkAcknowledges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(func(_ context.Context, event cloudevents.Event, try int) error {
			if strings.HasSuffix(event.ID(), "2") && try < 3 {
				return errDown
			}
			return nil
		})
		r := newTestRelay(t, RelayConfig{Sink: sink})
		record := recordOf(3, 0)
		record.Transitions[2].End = &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed}
		r.Publish(Snapshot{Object: pi, Record: record})
		advance(300 * time.Millisecond)
		for i := range record.Transitions {
			record.Transitions[i].Message = "edited by the caller"
		}
		record.Transitions[2].End.Message = "edited, too"
		r.expectProgress(pi, Progress{Acknowledged: 1, Pending: 2, LastError: "sink is down"})
		advance(time.Hour)
		r.expect("sent", sink.got(), "pi1 pi2 pi2@200ms pi2@600ms pi2@1.4s pi3@1.4s")
		for _, again := range sink.sends[2:5] {
			if diff := cmp.Diff(sink.sends[1].bytes, again.bytes); diff != "" {
				t.Errorf("repeated event (-first +later):\n%s", diff)
			}
		}
		if last := sink.sends[5].bytes; strings.Contains(last, "edited") {
			t.Errorf("the event is made from a later edit: %s", last)
		}
		r.expectProgress(pi, Progress{Acknowledged: 3})
	})
}

// A sink that fails for long is reported once, until it acknowledges an event.
func TestRelayReportsASinkThatFailsForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := time.Now().Add(10 * time.Minute)
		sink := newSink(func(context.Context, cloudevents.Event, int) error {
			if time.Now().Before(back) {
				return fmt.Errorf("%w since %s", errDown, time.Now())
			}
			return nil
		})
		r := newTestRelay(t, RelayConfig{Sink: sink})
		r.Publish(Snapshot{Object: pi, Record: recordOf(2, 0)})
		advance(time.Minute)
		r.expect("progress within ReportAfter", r.takeProgress(), "")
		advance(2 * time.Minute)
		why := r.Progress(pi.UID).SinkFailure
		if !strings.HasPrefix(why, "sink is down since") {
			t.Errorf("the sink's failure is %q", why)
		}
		advance(5 * time.Minute)
		r.expect("progress", r.takeProgress(), "pi")
		r.expect("the sink's failure, later", r.Progress(pi.UID).SinkFailure, why)
		advance(5 * time.Minute)
		r.expect("progress when it is back", r.takeProgress(), "pi")
		r.expectProgress(pi, Progress{Acknowledged: 2})
	})
}

func TestRelayReportsAnInvalidSinkAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := SinkBinding{Sink: "broker"}.NewSink()
		r := newTestRelay(t, RelayConfig{Sink: InvalidSink(err)})
		r.Publish(Snapshot{Object: pi, Record: recordOf(2, 0)})
		advance(time.Hour)
		r.expect("progress", r.takeProgress(), "pi")
		const why = `K_SINK "broker" is not an absolute http or https URL: ` +
			"no event is sent until that is corrected and the process started again"
		r.expectProgress(pi, Progress{Pending: 2, SinkFailure: why, LastError: why})
		r.Forget(pi.UID)
	})
}

func TestRelayAcceptsSnapshotsWhileItSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(func(context.Context, cloudevents.Event, int) error {
			time.Sleep(time.Second)
			return nil
		})
		r := newTestRelay(t, RelayConfig{Sink: sink})
		for transitions := range int64(5) {
			r.Publish(Snapshot{Object: pi, Record: recordOf(transitions+1, 0)})
		}
		r.expectProgress(pi, Progress{Pending: 5})
		advance(time.Minute)
		r.expect("sent", sink.got(), "pi1 pi2@1s pi3@2s pi4@3s pi5@4s")
		r.expect("progress", r.takeProgress(), "pi")
	})
}

func TestRelayRetriesForEverWithACappedBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(func(_ context.Context, _ cloudevents.Event, try int) error {
			if try < 500 {
				return errDown
			}
			return nil
		})
		r := newTestRelay(t, RelayConfig{Sink: sink})
		r.Publish(Snapshot{Object: pi, Record: recordOf(1, 0)})
		advance(24 * time.Hour)
		r.expectProgress(pi, Progress{Acknowledged: 1})
		if last := sink.sends[500].at - sink.sends[499].at; last != 30*time.Second {
			t.Errorf("the last back-off was %s, want 30 s", last)
		}
	})
}

func TestRelayContinuesFromTheRecord(t *testing.T) {
	gappy := recordOf(6, 1)
	gappy.Transitions = append(gappy.Transitions[:2], gappy.Transitions[4:]...)
	disordered := recordOf(3, 0)
	disordered.Transitions[0], disordered.Transitions[2] = disordered.Transitions[2], disordered.Transitions[0]
	ahead := recordOf(3, 0)
	ahead.Sequence = 2
	empty := recordOf(4, 2)
	empty.Transitions = nil
	cases := map[string]struct {
		record *v1alpha1.Record
		want   string
		end    int64
	}{
		"after a restart only pending events are sent":          {recordOf(5, 3), "pi4 pi5", 5},
		"nothing is sent if all is acknowledged":                {recordOf(5, 5), "", 5},
		"a transition that was pruned is skipped":               {gappy, "pi2 pi5 pi6", 6},
		"an empty record is skipped":                            {empty, "", 4},
		"events are sent in order of the sequence":              {disordered, "pi1 pi2 pi3", 3},
		"a transition beyond the record's sequence is not sent": {ahead, "pi1 pi2", 2},
		"an object without record sends nothing":                {nil, "", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := newSink(nil)
				r := newTestRelay(t, RelayConfig{Sink: sink})
				r.Publish(Snapshot{Object: pi, Record: tc.record})
				synctest.Wait()
				r.expect("sent", sink.got(), tc.want)
				r.expectProgress(pi, Progress{Acknowledged: tc.end})
			})
		})
	}
}

func TestRelayAcceptsTheSameSnapshotWithoutCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(nil)
		r := newTestRelay(t, RelayConfig{Sink: sink, Handlers: inProcessBroker(t, newHandler(nil))})
		snapshot := Snapshot{Object: pi, Record: recordOf(40, 0)}
		snapshot.Request = restartRequest(t, pi, snapshot.Record)
		r.Publish(snapshot)
		synctest.Wait()
		r.takeProgress()
		if allocations := testing.AllocsPerRun(100, func() { r.Publish(snapshot) }); allocations > 0 {
			t.Errorf("the same snapshot costs %v allocations", allocations)
		}
		synctest.Wait()
		r.expect("progress", r.takeProgress(), "")
		if len(sink.sends) != 40 {
			t.Errorf("the sink got %d events, want 40", len(sink.sends))
		}
		r.Shutdown()
	})
}

func TestRelayIgnoresAnOlderSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(func(context.Context, cloudevents.Event, int) error { return errDown })
		handler := newHandler(nil)
		r := newTestRelay(t, RelayConfig{Sink: sink, Handlers: inProcessBroker(t, handler)})
		r.Publish(Snapshot{Object: pi, Record: recordOf(3, 0), Request: restartRequest(t, pi, recordOf(3, 0))})
		r.Publish(Snapshot{Object: pi, Record: recordOf(2, 2), Request: restartRequest(t, pi, recordOf(2, 0))})
		synctest.Wait()
		r.expectProgress(pi, Progress{Pending: 3, LastError: "sink is down"})
		r.expect("requests", handler.got(), "pi3")
		r.Shutdown()
	})
}

func TestRelaySendsANewRecordAfterALostOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(nil)
		r := newTestRelay(t, RelayConfig{Sink: sink})
		r.Publish(Snapshot{Object: pi, Record: recordOf(9, 0)})
		synctest.Wait()
		fresh := recordOf(2, 0)
		for i := range fresh.Transitions {
			fresh.Transitions[i].Time.Time = fresh.Transitions[i].Time.Add(time.Hour)
		}
		r.Publish(Snapshot{Object: pi, Record: fresh})
		synctest.Wait()
		r.expect("sent", sink.got(), "pi1 pi2 pi3 pi4 pi5 pi6 pi7 pi8 pi9 pi1 pi2")
		r.expectProgress(pi, Progress{Acknowledged: 2})
	})
}

func TestRelaySkipsAnEventAfterFiveRejections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(func(_ context.Context, event cloudevents.Event, try int) error {
			switch {
			case !strings.HasSuffix(event.ID(), "2"):
				return nil
			case try == 1:
				return errDown
			default:
				return errPoison
			}
		})
		core, logs := observer.New(zap.ErrorLevel)
		r := newTestRelay(t, RelayConfig{Sink: sink, Logger: zap.New(core).Sugar()})
		r.Publish(Snapshot{Object: pi, Record: recordOf(3, 0)})
		advance(time.Hour)
		r.expect("sent", sink.got(), "pi1 pi2 pi2@200ms pi2@600ms pi2@1.4s pi2@3s pi2@6.2s pi3@6.2s")
		r.expect("progress", r.takeProgress(), "pi pi")
		r.expectProgress(pi, Progress{Acknowledged: 3, Rejected: 1})
		if got := fmt.Sprintf("%s", logs.All()[0].ContextMap()["event"]); got != sink.sends[1].bytes {
			t.Errorf("the log holds %s, want %s", got, sink.sends[1].bytes)
		}

		record := recordOf(3, 3)
		record.Rejected = 1
		r.Publish(Snapshot{Object: pi, Record: record})
		r.expectProgress(pi, Progress{Acknowledged: 3, Rejected: 1})
	})
}

func TestRelaySkipsATransitionWithoutEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(nil)
		core, logs := observer.New(zap.ErrorLevel)
		r := newTestRelay(t, RelayConfig{Sink: sink, Logger: zap.New(core).Sugar()})
		record := recordOf(3, 0)
		record.Transitions[1].State = "Edited"
		r.Publish(Snapshot{Object: pi, Record: record})
		synctest.Wait()
		r.expect("sent", sink.got(), "pi1 pi3")
		r.expectProgress(pi, Progress{Acknowledged: 3, Rejected: 1})
		if got := fmt.Sprintf("%s", logs.All()[0].ContextMap()["event"]); !strings.Contains(got, `"Edited"`) {
			t.Errorf("the log holds %s, want the transition", got)
		}
	})
}

func TestRelayDelaysNoObjectForAnother(t *testing.T) {
	tau := application("tau")
	isPi := func(event cloudevents.Event) bool { return strings.HasPrefix(event.ID(), string(pi.UID)) }
	cases := map[string]struct {
		sends  *fairshare.Limiter
		script func(ctx context.Context, event cloudevents.Event, try int) error
	}{
		"an object whose send hangs holds one slot": {nil, func(ctx context.Context, event cloudevents.Event, _ int) error {
			if isPi(event) {
				<-ctx.Done()
			}
			return ctx.Err()
		}},
		"an object in back-off holds no slot": {fairshare.New(1, 1), func(_ context.Context, event cloudevents.Event, _ int) error {
			if isPi(event) {
				return errDown
			}
			return nil
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := newSink(tc.script)
				r := newTestRelay(t, RelayConfig{Sink: sink, Sends: tc.sends})
				r.Publish(Snapshot{Object: pi, Record: recordOf(3, 0)})
				synctest.Wait()
				r.Publish(Snapshot{Object: tau, Record: recordOf(3, 0)})
				synctest.Wait()
				r.expect("sent", sink.got(), "pi1 tau1 tau2 tau3")
				r.Shutdown()
			})
		})
	}
}

func TestRelaySharesSlotsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(func(context.Context, cloudevents.Event, int) error {
			time.Sleep(time.Second)
			return nil
		})
		r := newTestRelay(t, RelayConfig{Sink: sink, Sends: fairshare.New(1, 1)})
		r.Publish(Snapshot{Object: pi, Record: recordOf(3, 0)})
		synctest.Wait()
		r.Publish(Snapshot{Object: application("tau"), Record: recordOf(3, 0)})
		advance(time.Minute)
		r.expect("sent", sink.got(), "pi1 tau1@1s pi2@2s tau2@3s pi3@4s tau3@5s")
	})
}

func TestRelayBoundsConcurrentSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most := 0, 0
		sink := newSink(func(context.Context, cloudevents.Event, int) error {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		})
		r := newTestRelay(t, RelayConfig{Sink: sink})
		for n := range 200 {
			r.Publish(Snapshot{Object: application(fmt.Sprintf("pi-%d", n)), Record: recordOf(2, 0)})
		}
		advance(time.Minute)
		if len(sink.sends) != 400 || most != 64 {
			t.Errorf("%d events were sent, %d at once, want 400 and 64", len(sink.sends), most)
		}
	})
}

// A reconcile may still run when another replica becomes the leader, or when its object is deleted.
func TestRelayIgnoresLateSnapshotsOfObjectsThatAreNotOwned(t *testing.T) {
	for name, inProcess := range map[string]bool{"with its handler in process": true, "with its handler behind the sink": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				owned := true
				sink, handler := newSink(nil), newHandler(nil)
				r := newTestRelay(t, RelayConfig{
					Sink: sink, Handlers: brokerFor(t, handler, func(string) bool { return inProcess }), Owned: func(Object) bool { return owned },
				})
				record := recordOf(3, 0)
				snapshot := Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)}
				r.Publish(snapshot)
				synctest.Wait()
				owned = false
				r.ForgetMatching(func(Object) bool { return true })
				synctest.Wait()
				published := sink.got() + handler.got()
				r.Publish(snapshot)
				advance(time.Hour)
				r.expect("published in the end", sink.got()+handler.got(), published)
				r.expectProgress(pi, Progress{})

				owned = true
				r.Publish(snapshot)
				synctest.Wait()
				if sink.got()+handler.got() == published {
					t.Error("no event is sent for an object that is owned again")
				}
				r.Forget(pi.UID)
			})
		})
	}
}

// applicationIn returns an application in another namespace.
func applicationIn(namespace, name string) Object {
	o := application(namespace + "-" + name)
	o.Namespace = namespace
	return o
}

// newDeadTriggerSink returns a sink like a Broker with a dead Trigger. It does not answer for events of namespaces that begin with
// "dead" while their sender waits.
func newDeadTriggerSink() *fakeSink {
	return newSink(func(ctx context.Context, event cloudevents.Event, _ int) error {
		if !strings.HasPrefix(NamespaceOf(event), "dead") {
			return nil
		}
		select {
		case <-time.After(time.Minute):
			return errDown
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// tenants holds numbers of namespaces with dead Triggers, and of applications in each.
var tenants = map[string]struct{ namespaces, applications int }{
	"one tenant with 640 applications":  {1, 640},
	"ten tenants with 100 applications": {10, 100},
	"640 tenants with one application":  {640, 1},
	"200 tenants with ten applications": {200, 10},
}

func TestRelayDelaysNoEventsForADeadTriggerOfAnotherNamespace(t *testing.T) {
	for name, dead := range tenants {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := newDeadTriggerSink()
				r := newTestRelay(t, RelayConfig{Sink: sink})
				for n := range dead.namespaces * dead.applications {
					namespace := fmt.Sprintf("dead-%d", n/dead.applications)
					r.Publish(Snapshot{Object: applicationIn(namespace, fmt.Sprint(n)), Record: recordOf(3, 0)})
				}
				synctest.Wait()
				published := time.Now()
				for n := range 100 {
					r.Publish(Snapshot{Object: application(fmt.Sprintf("pi-%d", n)), Record: recordOf(3, 0)})
				}
				synctest.Wait()
				for n := range 100 {
					r.expectProgress(application(fmt.Sprintf("pi-%d", n)), Progress{Acknowledged: 3})
				}
				if took := time.Since(published); took > 0 {
					t.Errorf("the events of the other namespaces took %s", took)
				}
				r.Shutdown()
			})
		})
	}
}

func TestRelayDelaysNoRequestsForADeadTriggerOfAnotherNamespace(t *testing.T) {
	for name, dead := range tenants {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := newDeadTriggerSink()
				r := newTestRelay(t, RelayConfig{Sink: sink})
				record := recordOf(3, 3)
				for n := range dead.namespaces * dead.applications {
					namespace := fmt.Sprintf("dead-%d", n/dead.applications)
					o := applicationIn(namespace, fmt.Sprint(n))
					r.Publish(Snapshot{Object: o, Record: record, Request: restartRequest(t, o, record)})
				}
				synctest.Wait()
				before := len(sink.sends)
				r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)})
				synctest.Wait()
				if got := len(sink.sends) - before; got != 1 {
					t.Errorf("%d requests of the other namespace were sent at once, want 1", got)
				}
				r.Shutdown()
			})
		})
	}
}

// A namespace's events do not wait for its requests, nor do its requests wait for its events.
func TestRelayHasSlotsOfTheirOwnForRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newDeadTriggerSink()
		r := newTestRelay(t, RelayConfig{Sink: sink})
		for n := range 100 {
			r.Publish(Snapshot{Object: applicationIn("dead", fmt.Sprint(n)), Record: recordOf(1, 0)})
		}
		synctest.Wait()
		if got := len(sink.sends); got != 64 {
			t.Errorf("%d events of one namespace are sent at once, want 64", got)
		}
		record := recordOf(3, 3)
		o := applicationIn("dead", "awaiting")
		r.Publish(Snapshot{Object: o, Record: record, Request: restartRequest(t, o, record)})
		synctest.Wait()
		if got := len(sink.sends); got != 65 {
			t.Errorf("%d requests were sent, want 1", got-64)
		}
		r.Shutdown()
	})
}

func TestRelayStopsSendingWhatAnotherReplicaHasDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(func(_ context.Context, event cloudevents.Event, _ int) error {
			if strings.HasSuffix(event.ID(), "3") {
				return nil
			}
			return errDown
		})
		r := newTestRelay(t, RelayConfig{Sink: sink})
		r.Publish(Snapshot{Object: pi, Record: recordOf(3, 0)})
		advance(10 * time.Millisecond)
		r.Publish(Snapshot{Object: pi, Record: recordOf(3, 2)})
		synctest.Wait()
		r.expect("sent", sink.got(), "pi1 pi3@10ms")
		r.expectProgress(pi, Progress{Acknowledged: 3})
	})
}

func TestRelayWithoutSinkAcknowledgesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, RelayConfig{})
		r.Publish(Snapshot{Object: pi, Record: recordOf(3, 1)})
		r.expectProgress(pi, Progress{Acknowledged: 3})
		if r.HasSink() || !newTestRelay(t, RelayConfig{Sink: newSink(nil)}).HasSink() {
			t.Error("HasSink does not report whether there is a sink")
		}
	})
}

func TestRelayForgetsObjects(t *testing.T) {
	hang := func(ctx context.Context, _ cloudevents.Event, _ int) error {
		<-ctx.Done()
		return ctx.Err()
	}
	fail := func(context.Context, cloudevents.Event, int) error { return errDown }
	forget := map[string]func(r *Relay){
		"the object":                  func(r *Relay) { r.Forget(pi.UID) },
		"the objects of a bucket":     func(r *Relay) { r.ForgetMatching(func(o Object) bool { return o.Name == "pi" }) },
		"all objects at the shutdown": func(r *Relay) { r.Shutdown() },
	}
	for name, forgotten := range forget {
		for name, script := range map[string]func(context.Context, cloudevents.Event, int) error{
			name + " in a send": hang, name + " in back-off": fail,
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					sink := newSink(script)
					r := newTestRelay(t, RelayConfig{Sink: sink, Handlers: brokerFor(t, newHandler(nil), func(string) bool { return false })})
					r.Publish(Snapshot{Object: pi, Record: recordOf(3, 0), Request: restartRequest(t, pi, recordOf(3, 0))})
					synctest.Wait()
					forgotten(r.Relay)
					advance(time.Hour)
					r.expect("sent", sink.got(), "pi1")
					r.expect("progress", r.takeProgress(), "")
					r.expectProgress(pi, Progress{})
				})
			})
		}
	}
}

func TestRelayForgetsNoOtherObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(nil)
		r := newTestRelay(t, RelayConfig{Sink: sink})
		r.Publish(Snapshot{Object: pi, Record: recordOf(3, 0)})
		synctest.Wait()
		r.Forget("uid-of-no-object")
		r.ForgetMatching(func(o Object) bool { return o.Name == "tau" })
		r.expectProgress(pi, Progress{Acknowledged: 3})
	})
}

func TestRelayRunsUntilItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newSink(func(ctx context.Context, _ cloudevents.Event, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		})
		r := newTestRelay(t, RelayConfig{Sink: sink, Handlers: inProcessBroker(t, newHandler(nil))})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			r.Run(ctx)
			close(ended)
		}()
		r.Publish(Snapshot{Object: pi, Record: recordOf(3, 0), Request: ttlRequest(t, pi)})
		synctest.Wait()
		if isClosed(ended) {
			t.Error("Run ended before its context")
		}
		cancel()
		<-ended
		r.Publish(Snapshot{Object: pi, Record: recordOf(4, 0)})
		synctest.Wait()
		r.expect("sent", sink.got(), "pi1")
	})
}

func TestRelayIgnoresAnObjectWithoutUID(t *testing.T) {
	r := newTestRelay(t, RelayConfig{Sink: newSink(nil)})
	r.Publish(Snapshot{Record: recordOf(1, 0)})
	r.expectProgress(Object{}, Progress{})
}

func TestRelayConfigIsValidated(t *testing.T) {
	cases := map[string]RelayConfig{
		"tries":                      {MaxRejections: -1},
		"patience":                   {ReportAfter: -time.Second},
		"a back-off that ends early": {SendBackoff: wait.Backoff{Duration: time.Second, Cap: time.Millisecond}},
		"a back-off without start":   {RequestBackoff: wait.Backoff{Cap: time.Second}},
	}
	for name, config := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := NewRelay(config); err == nil {
				t.Error("NewRelay accepted it")
			}
		})
	}
}

func TestRelayJitterShortensByAQuarterAtMost(t *testing.T) {
	for range 1000 {
		if got := shorten(time.Second); got < 750*time.Millisecond || got > time.Second {
			t.Fatalf("shorten(1s) = %s", got)
		}
	}
	if got := shorten(0); got != 0 {
		t.Errorf("shorten(0) = %s", got)
	}
}

// However long a sink is dead, and however often snapshots are published, the relay holds only the transitions of the records and
// one sender for each object.
func TestRelayWithADeadSinkHoldsNoMoreThanTheRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const objects, transitions = 50, 12
		relay := newTestRelay(t, RelayConfig{Sink: newSink(func(context.Context, cloudevents.Event, int) error { return errDown })})
		held := func() (queued, senders int) {
			relay.Relay.mu.Lock()
			defer relay.Relay.mu.Unlock()
			for _, s := range relay.streams {
				queued += len(s.queue)
				if s.sending {
					senders++
				}
			}
			return queued, senders
		}
		for range 20 {
			for n := range objects {
				relay.Publish(Snapshot{Object: application(fmt.Sprintf("app-%d", n)), Record: recordOf(transitions, 0)})
			}
			advance(time.Hour)
			if queued, senders := held(); queued != objects*transitions || senders != objects {
				t.Fatalf("%d events are queued for %d senders, want %d for %d", queued, senders, objects*transitions, objects)
			}
		}
		relay.Shutdown()
	})
}
