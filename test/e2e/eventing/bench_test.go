package eventing

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"
)

var rounds = flag.Int("rounds", 1, "Applications for each row of the table of how soon a handler acts.")

// It prints how long it takes at the median, from the end of an attempt until a subscriber of the Broker has the event, and until
// the controller acts on the restart handler's verdict: by the handler's Pod behind the Broker, and by the handler in the
// controller's own process. make bench-eventing runs it often enough to mean something, with nothing else to be done.
func TestHandlerGetsTheEventSoonAfterTheTransition(t *testing.T) {
	s := newEnv(t)
	s.subscribe(trigger{name: "all", path: s.path("all", "ok")})
	t.Cleanup(func() { s.place("external") })
	table := fmt.Sprintf("%-10s  %19s  %20s\n", "handler", "transition to event", "transition to effect")
	for _, where := range []string{"external", "in-process"} {
		s.place(where)
		var arrived, acted []time.Duration
		for i := range *rounds {
			name := fmt.Sprintf("%s-%d", where, i)
			s.submit(name, 1)
			s.untilSucceeded(name, 1)
			its := s.untilWhole("all", name)
			failed := s.find(its, "Failed")
			arrived = append(arrived, failed.Arrived.Sub(failed.Event.Time()))
			acted = append(acted, s.find(its, "ScheduledToRestart").Event.Time().Sub(failed.Event.Time()))
		}
		table += fmt.Sprintf("%-10s  %19s  %20s\n", where, median(arrived), median(acted))
	}
	t.Logf("medians of %d applications\n%s", *rounds, table)
}

// find is the first delivery of a state.
func (s *env) find(deliveries []delivery, state string) delivery {
	s.t.Helper()
	i := slices.IndexFunc(deliveries, func(d delivery) bool { return d.Event.Extensions()["sparkstate"] == state })
	if i < 0 {
		s.t.Fatalf("no subscriber got %s:\n%s", state, story(deliveries))
	}
	return deliveries[i]
}

func median(durations []time.Duration) time.Duration {
	slices.Sort(durations)
	return durations[len(durations)/2].Round(100 * time.Microsecond)
}
