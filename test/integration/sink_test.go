package integration

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"

	"github.com/firesteel-dev/firesteel/pkg/events/eventstest"
)

// delivery is one event as it arrived.
type delivery struct {
	ID, Type, State, Application string
	// Sequence is 0 for a clock event.
	Sequence int64
	// Attributes are the event's headers.
	Attributes map[string]string
	Body       string
	At         time.Time
	// Answer is the status that the sink gave it.
	Answer int
}

// bytes is all of the event, for comparison.
func (d delivery) bytes() string {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(d.Attributes)) {
		fmt.Fprintf(&text, "%s: %s\n", key, d.Attributes[key])
	}
	return text.String() + "\n" + d.Body
}

func (d delivery) taken() bool { return d.Answer >= 200 && d.Answer < 300 }

// answering decides on the answer to an event. It may block; the sender's patience is the request's.
type answering func(request *http.Request, d delivery) int

func taking(*http.Request, delivery) int { return http.StatusAccepted }

// sink records the events of all namespaces and answers them as each test has it.
type sink struct {
	server *httptest.Server

	mutex      sync.Mutex
	deliveries map[string][]delivery
	answers    map[string]answering
	news       map[string]chan struct{}
	charges    map[string][]string
}

func newSink() *sink {
	s := &sink{
		deliveries: map[string][]delivery{},
		answers:    map[string]answering{},
		news:       map[string]chan struct{}{},
		charges:    map[string][]string{},
	}
	s.server = httptest.NewServer(s)
	return s
}

func (s *sink) close() {
	s.server.CloseClientConnections()
	s.server.Close()
}

func (s *sink) url() string { return s.server.URL }

// answer sets how the events of a namespace are answered from now on.
func (s *sink) answer(namespace string, answer answering) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.answers[namespace] = answer
}

func (s *sink) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	d := read(request, string(body))
	namespace := d.Attributes["sparknamespace"]
	d.Answer = s.answering(namespace)(request, d)
	s.record(namespace, d)
	s.examine(namespace, request.Header, body)
	w.WriteHeader(d.Answer)
}

func read(request *http.Request, body string) delivery {
	attributes := map[string]string{"content-type": request.Header.Get("Content-Type")}
	for key := range request.Header {
		if name, of := strings.CutPrefix(key, "Ce-"); of {
			attributes[strings.ToLower(name)] = request.Header.Get(key)
		}
	}
	sequence, _ := strconv.ParseInt(attributes["sequence"], 10, 64)
	return delivery{
		ID: attributes["id"], Type: attributes["type"], State: attributes["sparkstate"], Application: attributes["sparkname"],
		Sequence: sequence, Attributes: attributes, Body: body, At: time.Now(),
	}
}

// examine holds an event to the contract.
func (s *sink) examine(namespace string, header http.Header, body []byte) {
	event, err := cloudevents.NewEventFromHTTPRequest(&http.Request{Header: header, Body: io.NopCloser(bytes.NewReader(body))})
	if err == nil {
		err = eventstest.Check(*event)
	}
	if err == nil {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.charges[namespace] = append(s.charges[namespace], fmt.Sprintf("an event breaks the contract: %v\n%s\n%s", err, header, body))
}

// against are the charges of a namespace.
func (s *sink) against(namespace string) []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.charges[namespace])
}

func (s *sink) answering(namespace string) answering {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if answer, set := s.answers[namespace]; set {
		return answer
	}
	return taking
}

func (s *sink) record(namespace string, d delivery) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.deliveries[namespace] = append(s.deliveries[namespace], d)
	if news, waiting := s.news[namespace]; waiting {
		close(news)
		delete(s.news, namespace)
	}
}

// heard returns what came of a namespace until now, and a channel that is closed when more comes.
func (s *sink) heard(namespace string) ([]delivery, <-chan struct{}) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.news[namespace] == nil {
		s.news[namespace] = make(chan struct{})
	}
	return slices.Clone(s.deliveries[namespace]), s.news[namespace]
}
