package base

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
)

// sinkOfTimes is a sink that stores the time of each Event.
type sinkOfTimes struct {
	record.EventSink
	got map[string]time.Time
}

func (s sinkOfTimes) Create(event *corev1.Event) (*corev1.Event, error) {
	s.got[event.Name] = time.Now()
	return event, nil
}

func (s sinkOfTimes) Patch(event *corev1.Event, _ []byte) (*corev1.Event, error) {
	return s.Create(event)
}

func TestKubernetesEventsYieldToNewApplicationsForTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		burst, got := &Burst{Window: launchesWindow}, map[string]time.Time{}
		sink := yieldingSink{EventSink: sinkOfTimes{got: got}, burst: burst, done: t.Context().Done()}
		event := func(name string) *corev1.Event {
			return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: name}, LastTimestamp: metav1.Now()}
		}
		write := func(name string, write func(*corev1.Event) error) {
			t.Helper()
			if err := write(event(name)); err != nil {
				t.Error(err)
			}
		}
		create := func(event *corev1.Event) error { _, err := sink.Create(event); return err }
		patch := func(event *corev1.Event) error { _, err := sink.Patch(event, nil); return err }
		waited := func(name string, since time.Time, want time.Duration) {
			t.Helper()
			if waited := got[name].Sub(since); waited != want {
				t.Errorf("the Event %s waited %s, want %s", name, waited, want)
			}
		}

		at := time.Now()
		write("quiet", create)
		waited("quiet", at, 0)

		arrive(burst, 0, burstSize)
		at = time.Now()
		behind := event("behind")
		write("new", create)
		waited("new", at, eventsYieldFor)
		if err := create(behind); err != nil {
			t.Error(err)
		}
		waited("behind", at, eventsYieldFor)
		at = time.Now()
		write("repeated", patch)
		waited("repeated", at, eventsYieldFor)

		at = time.Now()
		const ends = 3 * time.Second
		time.AfterFunc(ends, func() { finish(burst, 0, burstSize) })
		write("during the burst", create)
		waited("during the burst", at, eventsYieldFor)
		write("at its end", create)
		waited("at its end", at, ends)
	})
}

func TestKubernetesEventsAreCreatedAsProtobuf(t *testing.T) {
	var path, kind string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, kind = r.Method+" "+r.URL.Path, r.Header.Get("Content-Type")
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		fmt.Fprint(w, `{"kind":"Event","apiVersion":"v1","metadata":{"name":"e","uid":"7"}}`)
	}))
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	event, err := newEventWriter(client.CoreV1()).Create(&corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "e"}})
	if err != nil || event.UID != "7" || path != "POST /api/v1/namespaces/team-a/events" || kind != runtime.ContentTypeProtobuf {
		t.Errorf("%s with %s: %v, %v", path, kind, event, err)
	}
}

func TestNoKubernetesEventWaitsWhenTheProcessEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, got := NewProcess(nil, Started{}, nil), map[string]time.Time{}
		arrive(&p.FirstLaunches, 0, burstSize)
		sink := yieldingSink{EventSink: sinkOfTimes{got: got}, burst: &p.FirstLaunches, done: t.Context().Done()}
		time.AfterFunc(100*time.Millisecond, p.FirstLaunches.End)
		at := time.Now()
		if _, err := sink.Create(&corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "last"}, LastTimestamp: metav1.Now()}); err != nil {
			t.Error(err)
		}
		if waited := got["last"].Sub(at); waited != 100*time.Millisecond {
			t.Errorf("the Event waited %s after the end, want none", waited-100*time.Millisecond)
		}
	})
}
