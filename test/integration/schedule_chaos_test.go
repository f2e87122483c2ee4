package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/test/harness/witness"
)

const (
	// chaosPeriod is the time between two instants: longer than the restart of a killed process.
	chaosPeriod = 15 * time.Second
	// aroundInstant is how long before and after an instant a process is killed.
	aroundInstant = 400 * time.Millisecond
	// instantsEach is how many instants a schedule has. A process is killed at each.
	instantsEach = 20
)

// register knows the uids of the runs for each instant of each schedule, those that are gone included.
type register struct {
	mutex sync.Mutex
	uids  map[string]map[types.UID]bool
}

func (r *register) see(event watch.Event) {
	run, ok := event.Object.(metav1.Object)
	if !ok {
		return // an error of the watch, which goes on
	}
	owner, owned := variant.Apache.Owner(run)
	if !owned {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	key := owner.Name + " " + variant.InstantOf(run).UTC().Format(time.RFC3339)
	if r.uids[key] == nil {
		r.uids[key] = map[types.UID]bool{}
	}
	r.uids[key][run.GetUID()] = true
}

// follow has all events of the env's applications seen, those too that come while the API server ends a watch.
func (s *env) follow(see func(watch.Event)) {
	s.Helper()
	now, err := s.apps().List(s.Context(), metav1.ListOptions{})
	s.must(err)
	s.must(witness.Follow(s.Context(), now.ResourceVersion, s.apps().Watch, see, func() {}))
}

func (r *register) count(schedule string, instant time.Time) int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.uids[schedule+" "+instant.UTC().Format(time.RFC3339)])
}

// The controller and the handler, which runs behind a broker, are killed around each instant, and started again. The
// outages are shorter than the schedule's period.
func TestScheduleMissesAndDoublesNoRun(t *testing.T) {
	alone(t)
	instants := 40
	if text := os.Getenv("FIRESTEEL_INSTANTS"); text != "" {
		var err error
		if instants, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	each := min(instantsEach, max(instants/10, 1))
	count := (instants + each - 1) / each
	s := newEnv(t)
	s.configured("config-handlers", "schedule", "external")
	seen := &register{uids: map[string]map[types.UID]bool{}}
	s.follow(seen.see)
	controller := s.ownController(controllerOf(s))
	handler := s.handler("schedule")
	answer := func() { s.sink.SetAnswer(s.ns, handler.trigger("type", "dev.firesteel.schedule.due.v1")) }
	answer()

	s.populate("pi", count, "@every "+chaosPeriod.String(), heldRun)
	var schedules []*scheduleEnv
	created := map[string]time.Time{}
	for i := range count {
		schedule := &scheduleEnv{env: s, kind: variant.Apache, name: fmt.Sprintf("pi-%d", i)}
		schedules, created[schedule.name] = append(schedules, schedule), schedule.now().GetCreationTimestamp().Time
	}
	for n := range each {
		due := created[schedules[rand.IntN(count)].name].Add(time.Duration(n+1) * chaosPeriod)
		waitUntil(t, due.Add(time.Duration(rand.Int64N(int64(2*aroundInstant)))-aroundInstant))
		if rand.IntN(2) == 0 {
			controller.Kill()
			controller = s.ownController(controllerOf(s))
		} else {
			handler.Kill()
			handler = s.handler("schedule")
			answer()
		}
	}
	for _, schedule := range schedules {
		last := created[schedule.name].Add(time.Duration(each) * chaosPeriod)
		status := schedule.until("settle its instants", func(s *firesteelv1alpha1.ScheduleStatus) bool {
			return s.Firesteel != nil && !s.Firesteel.SettledUntil.Time.Before(last)
		}).GetScheduleStatus()
		if status.MissedRuns > 0 {
			t.Errorf("%s missed %d", schedule.name, status.MissedRuns)
		}
		s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
			return seen.count(schedule.name, last) > 0, nil // another watch may be ahead
		}))
		for at := created[schedule.name].Add(chaosPeriod); !at.After(last); at = at.Add(chaosPeriod) {
			if runs := seen.count(schedule.name, at); runs != 1 {
				t.Errorf("%s has %d runs for %s", schedule.name, runs, at)
			}
		}
	}
	t.Logf("%d instants of %d schedules, %d kills", count*each, count, each)
}

// waitUntil waits for an instant.
func waitUntil(t testing.TB, at time.Time) {
	t.Helper()
	ctx, cancel := context.WithDeadline(t.Context(), at)
	defer cancel()
	<-ctx.Done()
}
