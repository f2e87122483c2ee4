package function

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/events"
)

// The events pass through a relay, a sink, and a receiver that is overloaded at first, to a handler.
func TestReceiverGetsTheEventsOfARelay(t *testing.T) {
	var got []string
	receiver, err := NewReceiver(func(_ context.Context, event cloudevents.Event) error {
		object, err := events.Identify(event)
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
	sink, err := events.NewHTTPSink(server.URL)
	must(t, err)
	delivered := make(chan struct{})
	relay, err := events.NewRelay(events.RelayConfig{Sink: sink, OnProgress: func(types.NamespacedName) { close(delivered) }})
	must(t, err)
	defer relay.Shutdown()

	record := &v1alpha1.Record{Sequence: 3, Transitions: []v1alpha1.Transition{
		transition(1, "Submitted"), transition(2, "DriverRequested"), transition(3, "DriverStarted"),
	}}
	relay.Publish(events.Snapshot{Object: pi, Record: record})
	<-delivered

	want := []string{
		"pi dev.firesteel.application.submitted.v1",
		"pi dev.firesteel.application.driver-requested.v1",
		"pi dev.firesteel.application.driver-started.v1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || requests.Load() != 4 {
		t.Errorf("after %d requests the handler got %q, want %q", requests.Load(), got, want)
	}
	if progress := relay.Progress(pi.UID); progress != (events.Progress{Acknowledged: 3}) {
		t.Errorf("progress is %+v", progress)
	}
}
