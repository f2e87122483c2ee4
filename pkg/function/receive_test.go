package function

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/cloudevents/sdk-go/v2/binding"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/events"
)

func TestReceiverAnswers(t *testing.T) {
	resource := schema.GroupResource{Group: "spark.apache.org", Resource: "sparkapplications"}
	cases := map[string]struct {
		err  error
		want int
	}{
		"success is 204":                                    {nil, 204},
		"a permanent error is 400":                          {events.Permanent(errors.New("poison")), 400},
		"a wrapped permanent error is 400":                  {fmt.Errorf("restart: %w", events.Permanent(errors.New("poison"))), 400},
		"an API server with too many requests":              {apierrors.NewTooManyRequests("slow down", 1), 503},
		"an API server that is unavailable":                 {apierrors.NewServiceUnavailable("etcd"), 503},
		"an API server that timed out":                      {apierrors.NewServerTimeout(resource, "get", 1), 503},
		"an API server that is unreachable":                 {fmt.Errorf("get: %w", syscall.ECONNREFUSED), 503},
		"a deadline that passed":                            {fmt.Errorf("get: %w", context.DeadlineExceeded), 503},
		"a conflict is 500, so that the broker tries again": {apierrors.NewConflict(resource, "pi", errors.New("edited")), 500},
		"an unknown error is 500":                           {errors.New("surprise"), 500},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			response := deliver(t, func(context.Context, cloudevents.Event) error { return tc.err }, eventRequest(t))
			if response.Code != tc.want {
				t.Errorf("answer is %d %s, want %d", response.Code, response.Body, tc.want)
			}
			if tc.err == nil && response.Body.Len() > 0 {
				t.Errorf("a success has the body %q, which a broker would take for a reply", response.Body)
			}
		})
	}
}

func TestReceiverPassesTheEventToTheHandler(t *testing.T) {
	want := failed(t)
	var got cloudevents.Event
	handler := func(ctx context.Context, event cloudevents.Event) error {
		if _, limited := ctx.Deadline(); !limited {
			t.Error("the handler has no deadline")
		}
		got = event
		return nil
	}
	deliver(t, handler, eventRequest(t))
	if got.String() != want.String() {
		t.Errorf("handler got %s, want %s", got, want)
	}
}

func TestReceiverRefusesInvalidEvents(t *testing.T) {
	cases := map[string]struct {
		spoil func(*http.Request)
		want  int
	}{
		"a GET":                        {func(r *http.Request) { r.Method = http.MethodGet }, 405},
		"a request without attributes": {func(r *http.Request) { r.Header = http.Header{} }, 400},
		"an event without id":          {func(r *http.Request) { r.Header.Del("ce-id") }, 400},
		"an event of another spec":     {func(r *http.Request) { r.Header.Set("ce-specversion", "9") }, 400},
		"a body that is too large":     {func(r *http.Request) { r.Body = http.NoBody; oversizedBody(r) }, 413},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			request := eventRequest(t)
			tc.spoil(request)
			response := deliver(t, func(context.Context, cloudevents.Event) error {
				t.Error("the handler was called")
				return nil
			}, request)
			if response.Code != tc.want {
				t.Errorf("answer is %d %s, want %d", response.Code, response.Body, tc.want)
			}
		})
	}
}

// An event of 2 MiB is sent in both modes.
func TestReceiverLogsRefusedEvents(t *testing.T) {
	for mode, encoding := range map[string]func(context.Context) context.Context{
		"binary": binding.WithForceBinary, "structured": binding.WithForceStructured,
	} {
		t.Run(mode, func(t *testing.T) {
			event := failed(t)
			must(t, event.SetData(cloudevents.ApplicationJSON, map[string]string{"message": strings.Repeat("x", 2<<20)}))
			core, logged := observer.New(zap.WarnLevel)
			ctx := logging.WithLogger(encoding(t.Context()), zap.New(core).Sugar())
			request, err := cloudevents.NewHTTPRequestFromEvent(ctx, "http://handler", event)
			must(t, err)
			response := deliver(t, func(context.Context, cloudevents.Event) error {
				t.Error("the handler was called")
				return nil
			}, request)
			if response.Code != http.StatusRequestEntityTooLarge {
				t.Errorf("answer is %d %s, want 413", response.Code, response.Body)
			}
			if lines := logged.All(); len(lines) != 1 || lines[0].ContextMap()["status"] != int64(413) {
				t.Errorf("the log has %v", lines)
			}
		})
	}
}

func TestReceiverAcceptsStructuredMode(t *testing.T) {
	want := failed(t)
	request, err := cloudevents.NewHTTPRequestFromEvent(binding.WithForceStructured(t.Context()), "http://handler", want)
	must(t, err)
	if mode := request.Header.Get("Content-Type"); !strings.HasPrefix(mode, "application/cloudevents+json") {
		t.Fatalf("the request is of the type %s", mode)
	}
	expectPassed(t, request, want)
}

// expectPassed checks that a request succeeds, and that the handler gets its event.
func expectPassed(t *testing.T, request *http.Request, want cloudevents.Event) {
	t.Helper()
	var got cloudevents.Event
	response := deliver(t, func(_ context.Context, event cloudevents.Event) error {
		got = event
		return nil
	}, request)
	if response.Code != http.StatusNoContent || got.String() != want.String() {
		t.Errorf("answer is %d, and the handler got %s, want %s", response.Code, got, want)
	}
}

// A broker also carries the events that other functions reply with.
func TestReceiverPassesEventsOfOtherTypes(t *testing.T) {
	want := failed(t)
	want.SetType("com.example.order.created")
	request, err := cloudevents.NewHTTPRequestFromEvent(t.Context(), "http://handler", want)
	must(t, err)
	expectPassed(t, request, want)
}

// The test fills all slots, and then frees one.
func TestReceiverIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		handler, err := NewReceiver(func(context.Context, cloudevents.Event) error {
			<-release
			return nil
		})
		must(t, err)
		ctx := logging.WithLogger(t.Context(), zap.NewNop().Sugar())
		post := func() int {
			response := httptest.NewRecorder()
			handler.ServeHTTP(response, eventRequest(t).WithContext(ctx))
			return response.Code
		}
		answers := make(chan int, maxCallsPerNamespace+1)
		for range maxCallsPerNamespace {
			go func() { answers <- post() }()
		}
		synctest.Wait()
		if got := post(); got != http.StatusTooManyRequests {
			t.Errorf("answer is %d, want 429", got)
		}
		go func() { answers <- post() }()
		synctest.Wait()
		close(release)
		for range maxCallsPerNamespace + 1 {
			if got := <-answers; got != http.StatusNoContent {
				t.Errorf("answer is %d, want 204", got)
			}
		}
	})
}

func oversizedBody(r *http.Request) {
	large := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat(" ", maxRequestBytes+1)))
	r.Body, r.ContentLength = large.Body, large.ContentLength
}

func TestReceiverSurvivesAPanic(t *testing.T) {
	quiet := logging.WithLogger(t.Context(), zap.NewNop().Sugar())
	panics := func(context.Context, cloudevents.Event) error { panic("secret") }
	response := deliver(t, panics, eventRequest(t).WithContext(quiet))
	if response.Code != http.StatusInternalServerError || strings.Contains(response.Body.String(), "goroutine") {
		t.Errorf("answer is %d %s, want 500 without a stack", response.Code, response.Body)
	}
}

func TestReceiverNeedsAHandler(t *testing.T) {
	if _, err := NewReceiver(nil); err == nil {
		t.Error("NewReceiver took no handler")
	}
}

func eventRequest(t *testing.T) *http.Request {
	t.Helper()
	event := failed(t)
	request, err := cloudevents.NewHTTPRequestFromEvent(t.Context(), "http://handler", event)
	must(t, err)
	return request
}

func deliver(t *testing.T, handler events.Handler, request *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	receiver, err := NewReceiver(handler)
	must(t, err)
	response := httptest.NewRecorder()
	receiver.ServeHTTP(response, request)
	return response
}
