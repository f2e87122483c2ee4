package eventstest_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"

	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/events/eventstest"
)

// received holds the URL of one of the SDK's receivers, and the events that it accepted.
type received struct {
	url    string
	events chan cloudevents.Event
}

func (r *received) take(event cloudevents.Event) { r.events <- event }

// starts starts the SDK's client as a receiver.
func starts(t *testing.T) *received {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	client, err := cloudevents.NewClientHTTP(cehttp.WithListener(listener))
	must(t, err)
	r := &received{url: "http://" + listener.Addr().String(), events: make(chan cloudevents.Event, 1)}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- client.StartReceiver(ctx, r.take) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

// handles starts a server with the SDK's handler.
func handles(t *testing.T) *received {
	t.Helper()
	protocol, err := cloudevents.NewHTTP()
	must(t, err)
	r := &received{events: make(chan cloudevents.Event, 1)}
	handler, err := cloudevents.NewHTTPReceiveHandler(t.Context(), protocol, r.take)
	must(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// binary sends an event in binary mode, as Firesteel does.
func binary(t *testing.T, url string, event cloudevents.Event) {
	t.Helper()
	sink, err := events.NewHTTPSink(url)
	must(t, err)
	must(t, sink.Send(t.Context(), event))
}

// structured sends an event as Firesteel does, through a proxy that converts it to structured mode.
func structured(t *testing.T, url string, event cloudevents.Event) {
	t.Helper()
	client, err := cloudevents.NewClientHTTP(cloudevents.WithTarget(url))
	must(t, err)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		event, err := cloudevents.NewEventFromHTTPRequest(request)
		if err != nil {
			t.Error(err)
			return
		}
		if result := client.Send(cloudevents.WithEncodingStructured(request.Context()), *event); cloudevents.IsUndelivered(result) || cloudevents.IsNACK(result) {
			t.Error(result)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer proxy.Close()
	binary(t, proxy.URL, event)
}

func TestSDKReceiversAcceptEventsOfAllTypes(t *testing.T) {
	for mode, send := range map[string]func(*testing.T, string, cloudevents.Event){"binary": binary, "structured": structured} {
		for name, receive := range map[string]func(*testing.T) *received{"StartReceiver": starts, "NewHTTPReceiveHandler": handles} {
			t.Run(name+" in "+mode+" mode", func(t *testing.T) {
				receiver := receive(t)
				for _, eventType := range events.Types {
					want := fullest(t, eventType)
					send(t, receiver.url, want)
					got := <-receiver.events
					if err := eventstest.Check(got); err != nil {
						t.Errorf("%s: %v", eventType.Name, err)
					}
					if text(t, got) != text(t, want) {
						t.Errorf("received\n%s, want\n%s", text(t, got), text(t, want))
					}
				}
			})
		}
	}
}

func text(t *testing.T, event cloudevents.Event) string {
	t.Helper()
	text, err := json.Marshal(event)
	must(t, err)
	return string(text)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
