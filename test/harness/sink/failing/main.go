// Command failing is a sink that takes events as a broker with two Triggers does, and fails as brokers do. It logs each event
// before it answers.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"sync"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/rng"
)

func main() {
	var s sink
	var listen, dir string
	var incarnation int
	var seed uint64
	flag.StringVar(&listen, "listen", "", "the address to listen on")
	flag.StringVar(&dir, "events", "", "the folder of the event log")
	flag.IntVar(&incarnation, "incarnation", 1, "how often the sink was started, this time included")
	flag.Uint64Var(&seed, "seed", 1, "the seed of the faults")
	flag.Float64Var(&s.rate, "rate", 0, "the share of events that fail")
	flag.DurationVar(&s.delay, "delay", time.Second, "the longest delay of an answer")
	flag.StringVar(&s.restart, "restart", "", "the URL of the restart handler")
	flag.StringVar(&s.ttl, "ttl", "", "the URL of the ttl handler")
	flag.StringVar(&s.deadTenant, "dead", "", "the namespace whose subscriber never answers")
	flag.StringVar(&s.slowTenant, "slow", "", "the namespace whose subscriber is slow")
	flag.Parse()
	s.rng = rng.New(seed, fmt.Sprintf("sink %d", incarnation))
	s.refusals = map[string]int{}
	var err error
	if s.events, err = eventlog.Create(dir, incarnation); err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: listen, Handler: &s, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

type sink struct {
	events       *eventlog.Writer
	rng          *rng.Rand
	rate         float64
	delay        time.Duration
	restart, ttl string
	// deadTenant and slowTenant are namespaces with their own subscriber.
	deadTenant, slowTenant string

	mutex    sync.Mutex
	refusals map[string]int
}

// fault is a way in which the sink handles an event wrongly.
type fault struct {
	name   string
	weight float64
	// taken reports whether the sink takes the event nevertheless.
	taken bool
	// code is the HTTP status of the answer; 0 if the connection is cut.
	code int
	// slow reports whether the answer is delayed, and always whether it is delayed for the whole -delay.
	slow, always bool
	// dead reports whether there is no answer at all.
	dead bool
}

// subscriber is the fault of a tenant's own subscriber; the zero fault if it has none.
func (s *sink) subscriber(namespace string) fault {
	switch {
	case namespace == "":
		return fault{}
	case namespace == s.deadTenant:
		return fault{name: "dead subscriber", dead: true}
	case namespace == s.slowTenant:
		return fault{name: "slow subscriber", taken: true, code: http.StatusAccepted, always: true}
	default:
		return fault{}
	}
}

var faults = []fault{
	{name: "400", weight: 2, code: http.StatusBadRequest},
	{name: "404", weight: 1, code: http.StatusNotFound},
	{name: "409", weight: 1, code: http.StatusConflict},
	{name: "429", weight: 2, code: http.StatusTooManyRequests},
	{name: "500", weight: 2, code: http.StatusInternalServerError},
	{name: "503", weight: 2, code: http.StatusServiceUnavailable},
	{name: "redirect", weight: 1, code: http.StatusFound},
	{name: "cut", weight: 2},
	{name: "hang", weight: 2, slow: true},
	{name: "taken, 500", weight: 3, taken: true, code: http.StatusInternalServerError},
	{name: "taken, cut", weight: 3, taken: true},
	{name: "taken, slow", weight: 2, taken: true, slow: true, code: http.StatusAccepted},
	{name: "taken, hang", weight: 2, taken: true, slow: true},
}

func (s *sink) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the event did not reach the sink
	}
	fault := s.subscriber(request.Header.Get("Ce-Sparknamespace"))
	if fault.name == "" {
		fault = s.draw(request.Header.Get("Ce-Id"))
	}
	err = s.events.Write(eventlog.Entry{
		At: time.Now(), Attributes: eventlog.Attributes(request.Header), Body: string(body), Taken: fault.taken, Fault: fault.name,
	})
	if err != nil {
		log.Fatal(err)
	}
	if fault.taken && !s.trigger(request, body) {
		fault.code = http.StatusServiceUnavailable // as a broker whose subscriber fails
	}
	switch {
	case fault.dead:
		<-request.Context().Done() // until the sender gives up
	case fault.always:
		<-time.After(s.delay)
	case fault.slow:
		<-time.After(s.rng.Between(0, s.delay))
	}
	if fault.code == 0 {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(fault.code)
}

// draw draws the fault of an event. Each event is refused for good at most once, since the relay gives up after five.
func (s *sink) draw(id string) fault {
	if !s.rng.Chance(s.rate) {
		return fault{taken: true, code: http.StatusAccepted}
	}
	drawn := rng.Pick(s.rng, faults, func(f fault) float64 { return f.weight })
	if drawn.code != http.StatusBadRequest {
		return drawn
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.refusals[id]++; s.refusals[id] > 1 {
		return fault{taken: true, code: http.StatusAccepted}
	}
	return drawn
}

// triggerTimeout is how long a handler may take.
const triggerTimeout = 10 * time.Second

// trigger sends an event to the handler that subscribes to it, if any. It reports whether the handler accepted it.
func (s *sink) trigger(request *http.Request, body []byte) bool {
	target := ""
	switch {
	case request.Header.Get("Ce-Sparkrestartallowed") == "true":
		target = s.restart
	case request.Header.Get("Ce-Type") == events.ExpiredType:
		target = s.ttl
	}
	if target == "" {
		return true
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(request.Context()), triggerTimeout)
	defer cancel()
	forward, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		log.Panic(err)
	}
	forward.Header = request.Header.Clone()
	answer, err := http.DefaultClient.Do(forward)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.StatusCode < 300
}
