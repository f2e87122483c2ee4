package events

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"knative.dev/pkg/logging"
)

func TestReceiverAnswers(t *testing.T) {
	resource := schema.GroupResource{Group: "spark.apache.org", Resource: "sparkapplications"}
	cases := map[string]struct {
		err  error
		want int
	}{
		"done is 204":                               {nil, 204},
		"what can never work is 400":                {Permanent(errors.New("poison")), 400},
		"so it is when wrapped":                     {fmt.Errorf("restart: %w", Permanent(errors.New("poison"))), 400},
		"an API server with too many requests":      {apierrors.NewTooManyRequests("slow down", 1), 503},
		"an API server that is unavailable":         {apierrors.NewServiceUnavailable("etcd"), 503},
		"an API server that timed out":              {apierrors.NewServerTimeout(resource, "get", 1), 503},
		"an API server that is not there":           {fmt.Errorf("get: %w", syscall.ECONNREFUSED), 503},
		"a deadline that passed":                    {fmt.Errorf("get: %w", context.DeadlineExceeded), 503},
		"a conflict is tried again by the broker":   {apierrors.NewConflict(resource, "pi", errors.New("edited")), 500},
		"an error that nobody knows is tried again": {errors.New("surprise"), 500},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			response := deliver(t, func(context.Context, cloudevents.Event) error { return tc.err }, eventRequest(t))
			if response.Code != tc.want {
				t.Errorf("answer is %d %s, want %d", response.Code, response.Body, tc.want)
			}
			if tc.err == nil && response.Body.Len() > 0 {
				t.Errorf("a success has the body %q, which a broker takes for a reply", response.Body)
			}
		})
	}
}

func TestReceiverHandsOverTheEvent(t *testing.T) {
	want, err := ForTransition(pi, failed())
	must(t, err)
	var got cloudevents.Event
	handler := func(ctx context.Context, event cloudevents.Event) error {
		if _, limited := ctx.Deadline(); !limited {
			t.Error("the handler has no deadline")
		}
		got = event
		return nil
	}
	deliver(t, handler, eventRequest(t))
	if wire(t, got) != wire(t, want) {
		t.Errorf("handler got %s, want %s", wire(t, got), wire(t, want))
	}
}

func TestReceiverRefusesWhatIsNoEvent(t *testing.T) {
	cases := map[string]struct {
		spoil func(*http.Request)
		want  int
	}{
		"a GET":                        {func(r *http.Request) { r.Method = http.MethodGet }, 405},
		"a request without attributes": {func(r *http.Request) { r.Header = http.Header{} }, 400},
		"an event without id":          {func(r *http.Request) { r.Header.Del("ce-id") }, 400},
		"an event of another spec":     {func(r *http.Request) { r.Header.Set("ce-specversion", "9") }, 400},
		"a body that is too large":     {func(r *http.Request) { r.Body = http.NoBody; tooMuch(r) }, 413},
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

func tooMuch(r *http.Request) {
	large := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat(" ", requestLimit+1)))
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

func TestPermanent(t *testing.T) {
	if Permanent(nil) != nil {
		t.Error("Permanent makes an error of none")
	}
	if cause := errors.New("cause"); !errors.Is(Permanent(cause), cause) {
		t.Error("Permanent hides its cause")
	}
	if IsPermanent(errors.New("other")) {
		t.Error("any error is permanent")
	}
}

func eventRequest(t *testing.T) *http.Request {
	t.Helper()
	event, err := ForTransition(pi, failed())
	must(t, err)
	request, err := cloudevents.NewHTTPRequestFromEvent(t.Context(), "http://handler", event)
	must(t, err)
	return request
}

func deliver(t *testing.T, handler Handler, request *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	receiver, err := NewReceiver(handler)
	must(t, err)
	response := httptest.NewRecorder()
	receiver.ServeHTTP(response, request)
	return response
}
