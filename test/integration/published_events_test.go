package integration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

// untilPublished waits until the sink has acknowledged the application's final transition, and checks all transitions before it.
func (s *env) untilPublished(app metav1.Object, states ...string) {
	s.Helper()
	heard := s.untilDelivered("the end of "+app.GetName(), func(heard []eventlog.Entry) bool {
		return len(firstAccepted(heard, app)) >= len(states)
	})
	if got := statesOf(firstAccepted(heard, app)); !slices.Equal(got, states) {
		s.Errorf("the sink received %v, want %v", got, states)
	}
	s.check(checkEvents(heard, app))
}

// check reports an error, if there is one.
func (s *env) check(err error) {
	s.Helper()
	if err != nil {
		s.Error(err)
	}
}

// firstAccepted returns the first acknowledged delivery of each transition of an application.
func firstAccepted(heard []eventlog.Entry, app metav1.Object) []eventlog.Entry {
	var first []eventlog.Entry
	seen := map[int64]bool{}
	for _, d := range eventsOf(heard, app) {
		if d.Sequence() > 0 && d.Taken && !seen[d.Sequence()] {
			seen[d.Sequence()] = true
			first = append(first, d)
		}
	}
	return first
}

// eventsOf returns the deliveries about one application, by its UID.
func eventsOf(heard []eventlog.Entry, app metav1.Object) []eventlog.Entry {
	var its []eventlog.Entry
	for _, d := range heard {
		if strings.HasSuffix(d.Attributes["source"], "/"+string(app.GetUID())) {
			its = append(its, d)
		}
	}
	return its
}

func statesOf(heard []eventlog.Entry) []string {
	var states []string
	for _, d := range heard {
		states = append(states, d.State())
	}
	return states
}

// checkEvents checks what holds for all events: the same id has the same bytes, the first deliveries are in order, and
// no transition is missing among them.
func checkEvents(heard []eventlog.Entry, app metav1.Object) error {
	bytes := map[string]string{}
	for _, d := range eventsOf(heard, app) {
		before, ok := bytes[d.ID()]
		if err := invariants.SameBytes(!ok || before == d.Bytes(), d); err != nil {
			return err
		}
		bytes[d.ID()] = d.Bytes()
	}
	var taken int64
	for _, d := range firstAccepted(heard, app) {
		if err := invariants.InOrder(taken, d.Sequence()); err != nil {
			return fmt.Errorf("%w:\n%s", err, listed(heard))
		}
		taken = d.Sequence()
	}
	return nil
}

// history are the states in an application's status, in order, of the attempt that ran last.
func history(app *sparkv1.SparkApplication) []string {
	type entry struct {
		key   int
		state string
	}
	var entries []entry
	for key, state := range app.Status.StateTransitionHistory {
		var number int
		_, _ = fmt.Sscan(key, &number)
		entries = append(entries, entry{number, state.CurrentStateSummary})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	var states []string
	for _, e := range entries {
		states = append(states, e.state)
	}
	return states
}

// untilAcknowledged waits until the record has the acknowledgement of a transition.
func (s *env) untilAcknowledged(name string, sequence int64) *sparkv1.SparkApplication {
	s.Helper()
	return until(s, s.apps(), name, fmt.Sprintf("have its cursor at %d", sequence), func(app *sparkv1.SparkApplication) bool {
		return app.Status.Firesteel != nil && app.Status.Firesteel.Acknowledged >= sequence
	})
}
