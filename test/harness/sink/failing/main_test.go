package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/rng"
)

func newSink(t *testing.T, rate float64) (*sink, string) {
	t.Helper()
	dir := t.TempDir()
	writer, err := eventlog.Create(dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &sink{events: writer, rng: rng.New(1, t.Name()), rate: rate, refusals: map[string]int{}}, dir
}

// send sends an event and returns the answer's code; 0 where there is none.
func send(t *testing.T, s *sink, attributes map[string]string) int {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range attributes {
		request.Header.Set("Ce-"+key, value)
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func TestAcceptedEventsAreInTheLog(t *testing.T) {
	s, dir := newSink(t, 0)
	if code := send(t, s, map[string]string{"Id": "x", "Sequence": "0000000007"}); code != http.StatusAccepted {
		t.Errorf("answered with %d", code)
	}
	entries, err := eventlog.NewReader(dir).Read()
	if err != nil || len(entries) != 1 {
		t.Fatalf("the event log has %v, %v", entries, err)
	}
	if e := entries[0]; !e.Taken || e.Fault != "" || e.Body != `{"a":1}` || e.Sequence() != 7 || e.Attributes["id"] != "x" {
		t.Errorf("the event log says %+v", e)
	}
}

func TestEachFaultIsInTheLog(t *testing.T) {
	s, dir := newSink(t, 1)
	var codes []int
	for range 100 {
		codes = append(codes, send(t, s, map[string]string{"Id": "x"}))
	}
	entries, err := eventlog.NewReader(dir).Read()
	if err != nil || len(entries) != len(codes) {
		t.Fatalf("the event log has %d entries, %v", len(entries), err)
	}
	rejected := 0
	for i, entry := range entries {
		want := http.StatusAccepted
		for _, f := range faults {
			if f.name == entry.Fault {
				want = f.code
				if f.taken != entry.Taken {
					t.Errorf("the event log says of %q that it was taken: %t", f.name, entry.Taken)
				}
			}
		}
		if codes[i] != want {
			t.Errorf("%q was answered with %d", entry.Fault, codes[i])
		}
		if codes[i] == http.StatusBadRequest {
			rejected++
		}
	}
	if rejected != 1 {
		t.Errorf("one event was refused for good %d times", rejected)
	}
}

func TestTheSinkCallsTheHandlersThatEventsAsk(t *testing.T) {
	for name, test := range map[string]struct {
		attributes map[string]string
		answer     int
		want       int
		called     string
	}{
		"an event of no handler":            {map[string]string{"Type": "other"}, 500, http.StatusAccepted, ""},
		"the end of an attempt":             {map[string]string{"Sparkrestartallowed": "true"}, 204, http.StatusAccepted, "/restart"},
		"an end that no other can follow":   {map[string]string{"Sparkrestartallowed": "false"}, 204, http.StatusAccepted, ""},
		"the end of the time to live":       {map[string]string{"Type": events.ExpiredType}, 204, http.StatusAccepted, "/ttl"},
		"an event that its handler refuses": {map[string]string{"Type": events.ExpiredType}, 500, http.StatusServiceUnavailable, "/ttl"},
	} {
		t.Run(name, func(t *testing.T) {
			called := ""
			handler := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
				body, _ := io.ReadAll(request.Body)
				called = request.URL.Path
				if string(body) != `{"a":1}` {
					called += " without its body"
				}
				w.WriteHeader(test.answer)
			}))
			defer handler.Close()
			s, _ := newSink(t, 0)
			s.restart, s.ttl = handler.URL+"/restart", handler.URL+"/ttl"
			if code := send(t, s, test.attributes); code != test.want || called != test.called {
				t.Errorf("answered with %d and called %q", code, called)
			}
		})
	}
}

func TestSubscribersOfTenants(t *testing.T) {
	s, dir := newSink(t, 0)
	s.deadTenant, s.slowTenant, s.delay = "dead", "slow", time.Millisecond
	if code := send(t, s, map[string]string{"Id": "a", "Sparknamespace": "slow"}); code != http.StatusAccepted {
		t.Errorf("the slow one answers with %d", code)
	}
	if code := send(t, s, map[string]string{"Id": "b", "Sparknamespace": "other"}); code != http.StatusAccepted {
		t.Errorf("that of others answers with %d", code)
	}
	server := httptest.NewServer(s)
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Ce-Sparknamespace", "dead")
	answered := make(chan error, 1)
	go func() {
		_, err := http.DefaultTransport.RoundTrip(request) //nolint:bodyclose // there is none
		answered <- err
	}()
	for entries := 0; entries < 3; {
		logged, err := eventlog.NewReader(dir).Read()
		if err != nil {
			t.Fatal(err)
		}
		entries = len(logged)
	}
	select {
	case err := <-answered:
		t.Errorf("the dead one answers: %v", err)
	default:
	}
	cancel()
	if err := <-answered; err == nil {
		t.Error("the dead one answers a client that gives up")
	}
}
