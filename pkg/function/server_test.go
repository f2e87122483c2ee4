package function

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.uber.org/zap"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/events"
)

// served is a server under test.
type served struct {
	t    *testing.T
	url  string
	stop context.CancelFunc
	done chan error
}

func newServed(t *testing.T, handler events.Handler, leave time.Duration) *served {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, stop := context.WithCancel(logging.WithLogger(t.Context(), zap.NewNop().Sugar()))
	s := &served{t: t, url: "http://" + listener.Addr().String(), stop: stop, done: make(chan error, 1)}
	go func() { s.done <- serve(ctx, listener, nil, handler, options{notReadyPeriod: leave}) }()
	return s
}

func (s *served) get(path string) int {
	s.t.Helper()
	response, err := http.Get(s.url + path)
	must(s.t, err)
	defer response.Body.Close()
	return response.StatusCode
}

func (s *served) post() int {
	s.t.Helper()
	return s.send(failed(s.t))
}

func (s *served) send(event cloudevents.Event) int {
	s.t.Helper()
	request, err := cloudevents.NewHTTPRequestFromEvent(context.Background(), s.url, event)
	must(s.t, err)
	response, err := http.DefaultClient.Do(request)
	must(s.t, err)
	defer response.Body.Close()
	return response.StatusCode
}

// serving serves a receiver, and returns its URL.
func serving(t *testing.T, receiver http.Handler) string {
	t.Helper()
	server := httptest.NewUnstartedServer(receiver)
	server.Config.BaseContext = func(net.Listener) context.Context {
		return logging.WithLogger(context.Background(), zap.NewNop().Sugar())
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func TestServerFinishesAcceptedEvents(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	s := newServed(t, func(ctx context.Context, _ cloudevents.Event) error {
		close(begun)
		<-release
		return ctx.Err()
	}, 0)
	answered := make(chan int, 1)
	go func() { answered <- s.post() }()
	<-begun
	s.stop()
	close(release)
	if got := <-answered; got != http.StatusNoContent {
		t.Errorf("the accepted event is answered with %d, want 204", got)
	}
	if err := <-s.done; err != nil {
		t.Errorf("the server returned %v, want nil after its context ended", err)
	}
}

// A stopping server still accepts events for a while.
func TestServerIsNotReadyBeforeItStops(t *testing.T) {
	s := newServed(t, func(context.Context, cloudevents.Event) error { return nil }, time.Hour)
	if live, ready, event := s.get("/healthz"), s.get("/readyz"), s.post(); live != 200 || ready != 200 || event != 204 {
		t.Errorf("at first liveness is %d, readiness %d, and an event is answered with %d", live, ready, event)
	}
	s.stop()
	for s.get("/readyz") == 200 {
		t.Log("the server is still ready")
	}
	if live, ready, event := s.get("/healthz"), s.get("/readyz"), s.post(); live != 200 || ready != 503 || event != 204 {
		t.Errorf("when the server stops, liveness is %d, readiness %d, and an event is answered with %d", live, ready, event)
	}
}

func TestHandleRefusesInvalidSettings(t *testing.T) {
	for variable, value := range map[string]string{"PORT": "http", "LOG_LEVEL": "loud"} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, value)
			err := runHandler(t.Context(), func(context.Context, cloudevents.Event) error { return nil })
			if err == nil || !strings.Contains(err.Error(), variable) {
				t.Errorf("error is %v, want one that names %s", err, variable)
			}
		})
	}
}

func TestServerReportsAPortInUse(t *testing.T) {
	listener, err := net.Listen("tcp", ":0")
	must(t, err)
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	if err := Serve(t.Context(), port, func(context.Context, cloudevents.Event) error { return nil }); err == nil {
		t.Error("Serve serves at a port that is taken")
	}
}
