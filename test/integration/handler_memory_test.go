package integration

import (
	"net/http"
	"sync"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"

	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// A handler needs at most 30 MiB, at rest and after a thousand events.
func TestHandlersMemoryIsSmall(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	app := s.create(App("pi"))
	s.run("pi", 0)
	pi := events.Object{
		Group: "spark.apache.org", Resource: "sparkapplications", Kind: "SparkApplication",
		Namespace: s.ns, Name: app.Name, UID: app.UID,
	}
	schedule := pi
	schedule.Group, schedule.Resource, schedule.Kind = "firesteel.dev", "scheduledsparkapplications", "ScheduledSparkApplication"
	for name, about := range map[string]events.Object{"restart": pi, "ttl": pi, "schedule": schedule} {
		t.Run(name, func(t *testing.T) {
			h := s.handler(name)
			idle := h.resident(t)
			h.sendEvents(t, about, 400)
			busy := h.resident(t)
			t.Logf("%.1f MiB at rest, %.1f MiB after 400 events", idle, busy)
			if max(idle, busy) >= 30 {
				t.Errorf("it takes %.1f MiB at rest and %.1f MiB after 400 events", idle, busy)
			}
		})
	}
}

// sendEvents sends a handler so many events of an object, 16 at a time.
func (h *handler) sendEvents(t *testing.T, about events.Object, count int) {
	t.Helper()
	var senders sync.WaitGroup
	for range 16 {
		senders.Go(func() {
			for i := range count / 16 {
				event, err := events.NewExpiredEvent(about, time.Unix(int64(i), 0))
				if err != nil {
					t.Error(err)
					return
				}
				request, err := cloudevents.NewHTTPRequestFromEvent(t.Context(), h.url, event)
				if err != nil {
					t.Error(err)
					return
				}
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Error(err)
					return
				}
				if response.Body.Close(); response.StatusCode != http.StatusNoContent {
					t.Errorf("it answers %s", response.Status)
				}
			}
		})
	}
	senders.Wait()
}

// resident is the memory of a handler, in MiB.
func (h *handler) resident(t *testing.T) float64 {
	t.Helper()
	return residentOf(t, h.Process)
}

func residentOf(t *testing.T, process *process.Process) float64 {
	t.Helper()
	resident, err := process.Resident()
	if err != nil {
		t.Fatal(err)
	}
	return float64(resident) / (1 << 20)
}
