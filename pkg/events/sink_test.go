package events

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/google/go-cmp/cmp"
)

func TestHTTPSinkSendsInBinaryMode(t *testing.T) {
	var header http.Header
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	sink, err := NewHTTPSink(server.URL)
	must(t, err)
	event, err := NewTransitionEvent(pi, failed())
	must(t, err)

	must(t, sink.Send(t.Context(), event))

	want := map[string]string{
		"Content-Type":           "application/json",
		"Ce-Specversion":         "1.0",
		"Ce-Id":                  "uid-of-pi.0000000007",
		"Ce-Type":                "dev.firesteel.application.failed.v1",
		"Ce-Source":              pi.Source(),
		"Ce-Subject":             "team-a/pi",
		"Ce-Time":                "2026-03-01T08:15:30.5Z",
		"Ce-Dataschema":          event.DataSchema(),
		"Ce-Sequence":            "0000000007",
		"Ce-Sparkkind":           "SparkApplication",
		"Ce-Sparknamespace":      "team-a",
		"Ce-Sparkname":           "pi",
		"Ce-Sparkstate":          "Failed",
		"Ce-Sparkattempt":        "2",
		"Ce-Sparkoutcome":        "Failed",
		"Ce-Sparkrestartallowed": "true",
	}
	if diff := cmp.Diff(want, eventHeaders(header)); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(string(event.Data()), string(body)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func eventHeaders(header http.Header) map[string]string {
	got := map[string]string{}
	for name := range header {
		if name == "Content-Type" || strings.HasPrefix(name, "Ce-") {
			got[name] = header.Get(name)
		}
	}
	return got
}

func TestHTTPSinkClassifiesAnswers(t *testing.T) {
	const taken, rejected, transient = "taken", "rejected", "transient"
	cases := map[int]string{
		200: taken, 202: taken, 204: taken,
		400: rejected, 413: rejected, 422: rejected,
		401: transient, 402: transient, 403: transient, 404: transient, 405: transient, 406: transient, 407: transient,
		408: transient, 409: transient, 410: transient, 411: transient, 412: transient, 414: transient, 415: transient,
		421: transient, 423: transient, 426: transient, 429: transient, 431: transient, 451: transient, 499: transient,
		300: transient, 301: transient, 302: transient, 303: transient, 304: transient, 307: transient, 308: transient,
		500: transient, 501: transient, 502: transient, 503: transient, 504: transient, 505: transient,
	}
	for status, want := range cases {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					t.Errorf("sink sent %s", r.Method)
				}
				w.Header().Set("Location", "/")
				w.WriteHeader(status)
				if status != http.StatusNoContent && status != http.StatusNotModified {
					_, _ = io.WriteString(w, "the reason\xff")
				}
			}))
			defer server.Close()
			sink, err := NewHTTPSink(server.URL)
			must(t, err)

			err = sink.Send(t.Context(), clockEvent(t, pi))

			if got := classOf(err); got != want {
				t.Errorf("%d is %s (%v), want %s", status, got, err, want)
			}
			if err != nil && status != http.StatusNotModified && !strings.HasSuffix(err.Error(), ": the reason") {
				t.Errorf("error %q does not end with the sink's text", err)
			}
		})
	}
}

func classOf(err error) string {
	switch {
	case err == nil:
		return "taken"
	case IsRejected(err):
		return "rejected"
	default:
		return "transient"
	}
}

func clockEvent(t *testing.T, o Object) cloudevents.Event {
	t.Helper()
	event, err := NewExpiredEvent(o, failed().Time.Time)
	must(t, err)
	return event
}

func TestHTTPSinkThatIsUnreachableIsTransient(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	sink, err := NewHTTPSink(server.URL)
	must(t, err)
	if err := sink.Send(t.Context(), clockEvent(t, pi)); classOf(err) != "transient" {
		t.Errorf("Send = %v, want a transient error", err)
	}
}

func TestHTTPSinkStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	released := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		cancel()
		<-released
	}))
	defer server.Close()
	defer close(released)
	sink, err := NewHTTPSink(server.URL)
	must(t, err)
	if err := sink.Send(ctx, clockEvent(t, pi)); classOf(err) != "transient" {
		t.Errorf("Send = %v, want a transient error", err)
	}
}

func TestHTTPSinkRejectsAnInvalidEvent(t *testing.T) {
	sink, err := NewHTTPSink("http://localhost:1")
	must(t, err)
	if err := sink.Send(t.Context(), cloudevents.NewEvent()); !IsRejected(err) {
		t.Errorf("Send = %v, want a rejection", err)
	}
}
