package events

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"k8s.io/apimachinery/pkg/types"
)

// TestStoryOverHTTP takes a story all the way: relay, sink, a receiver that is overloaded at first, handler.
func TestStoryOverHTTP(t *testing.T) {
	var got []string
	receiver, err := NewReceiver(func(_ context.Context, event cloudevents.Event) error {
		object, err := Identify(event)
		if err != nil {
			return err
		}
		got = append(got, object.Name+" "+event.Type())
		return nil
	})
	must(t, err)
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if requests.Add(1) == 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		receiver.ServeHTTP(w, request)
	}))
	defer server.Close()
	sink, err := NewHTTPSink(server.URL)
	must(t, err)
	told := make(chan struct{})
	relay, err := NewRelay(RelayConfig{Sink: sink, OnProgress: func(types.NamespacedName) { close(told) }})
	must(t, err)
	defer relay.Shutdown()

	relay.Tell(Story{Object: pi, Record: recordOf(3, 0)})
	<-told

	want := []string{
		"pi dev.firesteel.application.scheduled-to-restart.v1",
		"pi dev.firesteel.application.driver-requested.v1",
		"pi dev.firesteel.application.driver-started.v1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || requests.Load() != 4 {
		t.Errorf("after %d requests the handler got %q, want %q", requests.Load(), got, want)
	}
	if progress := relay.Progress(pi.UID); progress != (Progress{Acknowledged: 3}) {
		t.Errorf("progress is %+v", progress)
	}
}
