// The subscriber of the tests of delivery keeps the events that it is sent, and answers as the path says that a Trigger
// leads to:
//
//	/KEY/ok          is content
//	/KEY/status/500  refuses with that status
//	/KEY/slow/2s     is content after that time
//	/KEY/answer      answers with a forged copy of the event; copies are only taken
//
// GET /KEY tells what came under that key, as JSON.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"golang.org/x/sync/errgroup"
	"knative.dev/pkg/signals"
)

// delivery is an event and when it came.
type delivery struct {
	Arrived time.Time         `json:"arrived"`
	Event   cloudevents.Event `json:"event"`
}

type subscriber struct {
	mu    sync.Mutex
	taken map[string][]delivery
}

func main() {
	s := &subscriber{taken: map[string][]delivery{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{key}", s.listEvents)
	mux.HandleFunc("POST /{key}/ok", s.take(func(http.ResponseWriter, *http.Request, cloudevents.Event) {}))
	mux.HandleFunc("POST /{key}/status/{status}", s.take(refuse))
	mux.HandleFunc("POST /{key}/slow/{time}", s.take(wait))
	mux.HandleFunc("POST /{key}/answer", s.take(answer))
	server := &http.Server{Addr: ":8080", Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	group, ctx := errgroup.WithContext(signals.NewContext())
	group.Go(server.ListenAndServe)
	group.Go(func() error {
		<-ctx.Done()
		return server.Close()
	})
	if err := group.Wait(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}

func (s *subscriber) listEvents(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := json.NewEncoder(w).Encode(s.taken[r.PathValue("key")]); err != nil {
		log.Print(err)
	}
}

// take keeps an event before it is answered.
func (s *subscriber) take(reply func(http.ResponseWriter, *http.Request, cloudevents.Event)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		arrived := time.Now()
		event, err := cloudevents.NewEventFromHTTPRequest(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		key := r.PathValue("key")
		s.taken[key] = append(s.taken[key], delivery{Arrived: arrived, Event: *event})
		s.mu.Unlock()
		reply(w, r, *event)
	}
}

func refuse(w http.ResponseWriter, r *http.Request, _ cloudevents.Event) {
	status, err := strconv.Atoi(r.PathValue("status"))
	if err != nil {
		status = http.StatusInternalServerError
	}
	http.Error(w, "on purpose", status)
}

func wait(w http.ResponseWriter, r *http.Request, _ cloudevents.Event) {
	length, err := time.ParseDuration(r.PathValue("time"))
	if err != nil {
		http.Error(w, fmt.Sprintf("time: %v", err), http.StatusInternalServerError)
		return
	}
	select {
	case <-time.After(length):
	case <-r.Context().Done():
	}
}

// forged begins the ids of events that the subscriber made up.
const forged = "forged-"

func answer(w http.ResponseWriter, _ *http.Request, event cloudevents.Event) {
	if strings.HasPrefix(event.ID(), forged) {
		return
	}
	event = event.Clone() // the one that was kept stays as it came
	event.SetID(forged + event.ID())
	body, err := json.Marshal(event)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", cloudevents.ApplicationCloudEventsJSON)
	if _, err := w.Write(body); err != nil {
		log.Print(err)
	}
}
