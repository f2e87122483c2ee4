package function

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.uber.org/zap"
	"knative.dev/pkg/logging"
)

// head returns the beginning of a request with a body of a length.
func head(length int) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/cloudevents+json\r\nContent-Length: %d\r\n\r\n", length)
}

const chunked = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/cloudevents+json\r\nTransfer-Encoding: chunked\r\n\r\n"

// connect opens a connection, sends a text, and does not close the connection.
func (s *served) connect(text string) net.Conn {
	s.t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	must(s.t, err)
	s.t.Cleanup(func() { _ = connection.Close() })
	// The server may have closed the connection already, because of its limit.
	_, _ = io.WriteString(connection, text)
	return connection
}

// The server serves the Broker and the kubelet, whatever other clients do.
func TestServerServesTheBrokerBesideConnectionsThat(t *testing.T) {
	for name, test := range map[string]struct {
		number int
		sends  string
	}{
		"send nothing":                       {100, ""},
		"send nothing, and are very many":    {maxConnections + 200, ""},
		"send half of a header":              {100, "POST / HTTP/1.1\r\nHost:"},
		"send half, and are very many":       {maxConnections + 200, "POST / HTTP/1.1\r\nHost:"},
		"keep their body back":               {100, head(1000)},
		"keep it back, and are very many":    {maxConnections + 200, head(1000)},
		"keep a large body back":             {100, head(maxRequestBytes) + strings.Repeat(" ", 10_000)},
		"keep the rest of a large body back": {100, head(maxRequestBytes) + strings.Repeat(" ", 2*maxSmallBody)},
		"keep a chunk back":                  {100, chunked + "10\r\n{"},
		"never end their chunks":             {40, chunked + strings.Repeat("10000\r\n"+strings.Repeat(" ", 0x10000)+"\r\n", 20)},
		"send too much":                      {40, head(maxRequestBytes+1) + strings.Repeat(" ", maxRequestBytes+1)},
		"send a header that is too large":    {100, "POST / HTTP/1.1\r\nX: " + strings.Repeat("x", 4*maxHeaderBytes)},
		"send no HTTP":                       {100, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"},
		"ask for its health only":            {100, "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServed(t, func(context.Context, cloudevents.Event) error { return nil }, 0)
			for range test.number {
				s.connect(test.sends)
			}
			for range 10 {
				if live, ready, event := s.get("/healthz"), s.get("/readyz"), s.post(); live != 200 || ready != 200 || event != 204 {
					t.Fatalf("liveness is %d, readiness %d, and an event is answered with %d", live, ready, event)
				}
			}
		})
	}
}

// A request that arrives too slowly is answered with 408, so that it is sent again.
func TestServerEndsRequestsThatDoNotArrive(t *testing.T) {
	if readTimeout > 30*time.Second {
		t.Fatalf("the timeout of a request is %s", readTimeout)
	}
	s := newServed(t, func(context.Context, cloudevents.Event) error { return nil }, 0)
	response, err := http.ReadResponse(bufio.NewReader(s.connect(head(1000)+"{")), nil)
	must(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusRequestTimeout {
		t.Errorf("the answer is %d, want 408", response.StatusCode)
	}
}

func TestReceiverBoundsLargeEvents(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	s := newServed(t, func(_ context.Context, event cloudevents.Event) error {
		if len(event.Data()) > maxSmallBody {
			begun <- struct{}{}
			<-release
		}
		return nil
	}, 0)
	large := failed(t)
	must(t, large.SetData(cloudevents.TextPlain, bytes.Repeat([]byte("x"), 2*maxSmallBody)))
	answers := make(chan int, maxLargeBodies+1)
	for n := range maxLargeBodies {
		// Each event has its own namespace, so that slots are free.
		event := large.Clone()
		event.SetSource(strings.Replace(large.Source(), "/namespaces/", fmt.Sprintf("/namespaces/n%d-", n), 1))
		go func() { answers <- s.send(event) }()
		<-begun
	}
	if got := s.send(large); got != http.StatusTooManyRequests {
		t.Errorf("another large event is answered with %d, want 429", got)
	}
	if got := s.post(); got != http.StatusNoContent {
		t.Errorf("a small event is answered with %d, want 204", got)
	}
	close(release)
	for range maxLargeBodies {
		if got := <-answers; got != http.StatusNoContent {
			t.Errorf("a large event is answered with %d, want 204", got)
		}
	}
	go func() { answers <- s.send(large) }()
	<-begun
	if got := <-answers; got != http.StatusNoContent {
		t.Errorf("a large event after them is answered with %d, want 204", got)
	}
}

func TestServerHasAPortForProbes(t *testing.T) {
	ctx, stop := context.WithCancel(logging.WithLogger(t.Context(), zap.NewNop().Sugar()))
	var listeners [2]net.Listener
	for i := range listeners {
		var err error
		listeners[i], err = net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
	}
	done := make(chan error)
	go func() {
		done <- serve(ctx, listeners[0], listeners[1], func(context.Context, cloudevents.Event) error { return nil }, options{})
	}()
	events := &served{t: t, url: "http://" + listeners[0].Addr().String()}
	probes := &served{t: t, url: "http://" + listeners[1].Addr().String()}
	if live, ready, event := probes.get("/healthz"), probes.get("/readyz"), events.post(); live != 200 || ready != 200 || event != 204 {
		t.Errorf("liveness is %d, readiness %d, and an event is answered with %d", live, ready, event)
	}
	if live, event := events.get("/healthz"), probes.post(); live == 200 || event == 204 {
		t.Errorf("the port of the events answers a probe with %d, and that of the probes an event with %d", live, event)
	}
	stop()
	must(t, <-done)
}

func TestServerAuthenticatesSenders(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want int
	}{
		"an authenticated sender":         {nil, http.StatusNoContent},
		"a refused sender":                {fmt.Errorf("%w: no token", ErrUnauthenticated), http.StatusUnauthorized},
		"a sender that cannot be checked": {errors.New("no keys"), http.StatusServiceUnavailable},
		"a check that times out":          {context.DeadlineExceeded, http.StatusServiceUnavailable},
		"a check that is cancelled":       {context.Canceled, http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			called := false
			receiver, err := newReceiver(func(context.Context, cloudevents.Event) error {
				called = true
				return nil
			}, func(*http.Request) error { return test.err })
			must(t, err)
			s := &served{t: t, url: serving(t, receiver)}
			if got := s.post(); got != test.want || called != (test.err == nil) {
				t.Errorf("the answer is %d, and the handler was called: %t; want %d", got, called, test.want)
			}
		})
	}
}
