// The sink takes events as a broker with two Triggers would, and fails as brokers do. Whatever reaches it is in its
// journal before it is answered.
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
	"github.com/firesteel-dev/firesteel/test/chaos/dice"
	"github.com/firesteel-dev/firesteel/test/chaos/journal"
)

func main() {
	var s sink
	var listen, dir string
	var incarnation int
	var seed uint64
	flag.StringVar(&listen, "listen", "", "the address to listen on")
	flag.StringVar(&dir, "journal", "", "the folder of the journal")
	flag.IntVar(&incarnation, "incarnation", 1, "the number of this sink among those that were killed")
	flag.Uint64Var(&seed, "seed", 1, "what to draw faults from")
	flag.Float64Var(&s.rate, "rate", 0, "the share of events that a fault befalls")
	flag.DurationVar(&s.delay, "delay", time.Second, "the longest that an answer is delayed")
	flag.StringVar(&s.restart, "restart", "", "the URL of the restart handler")
	flag.StringVar(&s.ttl, "ttl", "", "the URL of the ttl handler")
	flag.StringVar(&s.deadTenant, "dead", "", "the namespace whose events a subscriber of its own holds, which never answers")
	flag.StringVar(&s.slowTenant, "slow", "", "the namespace whose events a subscriber of its own takes, slowly")
	flag.Parse()
	s.dice = dice.New(seed, fmt.Sprintf("sink %d", incarnation))
	s.refusals = map[string]int{}
	var err error
	if s.journal, err = journal.Create(dir, incarnation); err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: listen, Handler: &s, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

type sink struct {
	journal      *journal.Writer
	dice         *dice.Dice
	rate         float64
	delay        time.Duration
	restart, ttl string
	// deadTenant and slowTenant are namespaces with a subscriber of their own.
	deadTenant, slowTenant string

	mutex    sync.Mutex
	refusals map[string]int
}

// fault is what the sink does wrong with an event.
type fault struct {
	name   string
	weight float64
	// taken says that the sink takes the event nevertheless.
	taken bool
	// code is what it answers; 0 where it cuts the connection.
	code int
	// slow says that it makes the sender wait, and always that it does so as long as it may.
	slow, always bool
	// dead says that it never answers.
	dead bool
}

// subscriber is what a tenant's own subscriber does to each of its events; nothing where it has none.
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
	err = s.journal.Write(journal.Entry{
		At: time.Now(), Attributes: journal.Attributes(request.Header), Body: string(body), Taken: fault.taken, Fault: fault.name,
	})
	if err != nil {
		log.Fatal(err)
	}
	if fault.taken && !s.trigger(request, body) {
		fault.code = http.StatusServiceUnavailable // as a broker whose subscriber fails
	}
	switch {
	case fault.dead:
		<-request.Context().Done() // the sender gives up, or somebody dies
	case fault.always:
		<-time.After(s.delay)
	case fault.slow:
		<-time.After(s.dice.Between(0, s.delay))
	}
	if fault.code == 0 {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(fault.code)
}

// draw is what befalls an event. Refusals for good are few for each, since the relay gives up at five.
func (s *sink) draw(id string) fault {
	if !s.dice.Chance(s.rate) {
		return fault{taken: true, code: http.StatusAccepted}
	}
	drawn := dice.Pick(s.dice, faults, func(f fault) float64 { return f.weight })
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

// trigger brings an event to the handler that subscribes to it, if one does.
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
