package integration

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/sink"
)

func TestDeliveryWaitsForASinkThatIsDown(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.sink.SetAnswer(s.ns, func(*http.Request, eventlog.Entry) int { panic(http.ErrAbortHandler) })
	app := s.create(App("pi"))
	s.run("pi", 0).succeed()
	if record := s.untilState("pi", "ResourceReleased").Status.Firesteel; record.Acknowledged != 0 || len(record.Transitions) != len(plainRun) {
		t.Errorf("the record has %d transitions and its cursor at %d, want all %d and 0",
			len(record.Transitions), record.Acknowledged, len(plainRun))
	}
	s.sink.SetAnswer(s.ns, sink.Accept)
	s.untilPublished(app, plainRun...)
	s.untilAcknowledged("pi", int64(len(plainRun)))
}

func TestDeliveryIsRetriedAfterATemporaryRefusal(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.sink.SetAnswer(s.ns, inTurn(http.StatusInternalServerError, http.StatusTooManyRequests, http.StatusNotFound, http.StatusOK))
	app := s.create(App("pi"))
	s.run("pi", 0).succeed()
	s.untilPublished(app, plainRun...)
	s.untilCondition("pi", "Succeeded", metav1.ConditionTrue, "Succeeded")
	if c := s.condition("pi", "EventsDelivered"); c.Status == metav1.ConditionFalse {
		t.Errorf("it has the condition %+v", c)
	}
}

// Responses of a sink while its policies, address or tokens change lose no event, however often they repeat.
func TestDeliveryIsRetriedWhileTheSinkForbidsIt(t *testing.T) {
	t.Parallel()
	const refusals = 7 // more than the tries of an event that is refused for good
	for _, status := range []int{
		http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusGone, http.StatusMisdirectedRequest,
		http.StatusPermanentRedirect,
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			var tries atomic.Int32
			s.sink.SetAnswer(s.ns, func(*http.Request, eventlog.Entry) int {
				if tries.Add(1) <= refusals {
					return status
				}
				return http.StatusAccepted
			})
			app := s.create(App("pi"))
			s.run("pi", 0).succeed()
			s.untilPublished(app, plainRun...)
			if got := tries.Load(); got < refusals {
				t.Errorf("the sink refused %d times, want %d", got, refusals)
			}
		})
	}
}

// inTurn answers each event with one status after another.
func inTurn(statuses ...int) sink.Answer {
	var mutex sync.Mutex
	tries := map[string]int{}
	return func(_ *http.Request, d eventlog.Entry) int {
		mutex.Lock()
		defer mutex.Unlock()
		tries[d.ID()]++
		return statuses[(tries[d.ID()]-1)%len(statuses)]
	}
}

func TestDeliverySkipsAnEventThatIsRefusedForGood(t *testing.T) {
	t.Parallel()
	const tries = 5
	s := newEnv(t).sharesController()
	s.sink.SetAnswer(s.ns, func(_ *http.Request, d eventlog.Entry) int {
		if d.State() == "DriverStarted" {
			return http.StatusBadRequest
		}
		return http.StatusAccepted
	})
	s.create(App("pi"))
	s.run("pi", 0).succeed()
	s.untilState("pi", "ResourceReleased")
	s.untilCondition("pi", "EventsDelivered", metav1.ConditionFalse, "Rejected")
	s.untilCondition("pi", "Succeeded", metav1.ConditionTrue, "Succeeded")
	heard := s.untilDelivered("the events after it", func(heard []eventlog.Entry) bool {
		return len(heard) > 0 && heard[len(heard)-1].State() == "ResourceReleased"
	})
	if refused := len(heard) - len(plainRun) + 1; refused != tries {
		t.Errorf("the event was tried %d times, want %d:\n%s", refused, tries, listed(heard))
	}
}

func TestDeliveryOfASlowApplicationDelaysNoOther(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	released, release := s.untilCalled()
	s.sink.SetAnswer(s.ns, func(_ *http.Request, d eventlog.Entry) int {
		if d.Name() == "slow" {
			<-released
		}
		return http.StatusAccepted
	})
	slow, quick := s.create(App("slow")), s.create(App("quick"))
	s.run("slow", 0).succeed() // its events are late, itself it is not
	s.run("quick", 0).succeed()
	s.untilPublished(quick, plainRun...)
	if heard, _ := s.sink.Events(s.ns); len(eventsOf(heard, slow)) > 0 {
		t.Errorf("the slow subscriber answered:\n%s", listed(heard))
	}
	release()
	s.untilPublished(slow, plainRun...)
}

// An application whose events the sink does not accept is not restarted for ever: its record is bounded.
func TestRestartWaitsForASinkThatTakesNoEvents(t *testing.T) {
	t.Parallel()
	const recordLimit = 64 << 10
	s := newEnv(t).sharesController()
	s.sink.SetAnswer(s.ns, always(http.StatusServiceUnavailable))
	s.kubelet.Fail(s.ns)
	app := s.create(App("pi").Restart(sparkv1.RestartOnFailure, 1000, 0))
	held := until(s, s.apps(), "pi", "wait for the sink", func(app *sparkv1.SparkApplication) bool {
		c := meta.FindStatusCondition(app.Status.Conditions, "Succeeded")
		return c != nil && contains(c.Message, "until the sink takes")
	})
	record := held.Status.Firesteel
	text, err := json.Marshal(record)
	s.must(err)
	if t.Logf("after %d attempts the record has %d bytes", record.Attempt.ID+1, len(text)); len(text) > recordLimit {
		t.Errorf("the record has %d bytes, more than %d", len(text), recordLimit)
	}
	s.sink.SetAnswer(s.ns, sink.Accept)
	until(s, s.apps(), "pi", "be restarted", func(app *sparkv1.SparkApplication) bool {
		return app.Status.Firesteel.Attempt.ID > record.Attempt.ID
	})
	s.untilDelivered("what the record held", func(heard []eventlog.Entry) bool { return int64(len(firstAccepted(heard, app))) > record.Sequence })
	s.delete("pi")
	untilGone(s, s.apps(), "pi")
	heard, _ := s.sink.Events(s.ns)
	s.check(checkEvents(heard, app))
}

// A token is for the sink only. Over plain http others could read it, so neither the token nor an event that needs one is sent.
func TestDeliveryWithATokenWaitsForHTTPS(t *testing.T) {
	alone(t)
	s := newEnv(t)
	process := s.ownController(controller{sink: s.sink.URL(), environment: []string{"K_AUDIENCE=broker"}})
	app := s.create(App("pi"))
	s.run("pi", 0).succeed()
	s.untilState("pi", "ResourceReleased")
	c := s.untilCondition("pi", "EventsDelivered", metav1.ConditionFalse, "SinkUnavailable")
	for _, part := range []string{"K_AUDIENCE", "K_SINK", "https URL"} {
		if !strings.Contains(c.Message, part) {
			t.Errorf("the condition does not name %s: %s", part, c.Message)
		}
	}
	if heard, _ := s.sink.Events(s.ns); len(heard) > 0 {
		t.Errorf("the sink heard:\n%s", listed(heard))
	}
	process.Kill()

	s.ownController(controller{sink: s.sink.URL()})
	s.untilPublished(app, plainRun...)
}

// Applications run with an invalid sink. A valid sink later gets the events that were not sent.
func TestDeliveryWaitsForAValidSink(t *testing.T) {
	alone(t)
	s := newEnv(t)
	process := s.ownController(controller{sink: "broker-ingress"})
	app := s.create(App("pi"))
	s.run("pi", 0).succeed()
	s.untilState("pi", "ResourceReleased")
	s.untilCondition("pi", "Succeeded", metav1.ConditionTrue, "Succeeded")
	s.untilCondition("pi", "EventsDelivered", metav1.ConditionFalse, "SinkUnavailable")
	const why = `K_SINK \"broker-ingress\" is not an absolute http or https URL`
	if log, err := os.ReadFile(process.Log); err != nil || !strings.Contains(string(log), why) {
		t.Errorf("the log does not say %s: %v\n%s", why, err, log)
	}
	if c := s.condition("pi", "EventsDelivered"); !strings.Contains(c.Message, `K_SINK "broker-ingress"`) {
		t.Errorf("the condition does not name the variable: %s", c.Message)
	}
	process.Kill()

	s.ownController(controller{sink: s.sink.URL()})
	s.untilPublished(app, plainRun...)
	s.untilCondition("pi", "EventsDelivered", metav1.ConditionTrue, "Delivered")
}
