package integration

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
)

// filters are those of the handlers' Triggers: an attribute and its value.
var filters = map[string][2]string{
	"restart":  {"sparkrestartallowed", "true"},
	"ttl":      {"type", "dev.firesteel.application.expired.v1"},
	"schedule": {"type", "dev.firesteel.schedule.due.v1"},
}

// optInFilters are those of the Triggers of handlers that are off by default.
var optInFilters = map[string][2]string{"namespace": {"type", "dev.firesteel.namespace.requested.v1"}}

// broker stands for a Broker with the handlers' Triggers. It sends each event to all replicas of a handler at the same time, and
// each third event twice. It accepts every event, as a Broker with a dead-letter sink does.
type broker struct {
	env *env

	mutex    sync.Mutex
	replicas map[string][]*handler
	passed   int
	refused  []string
}

func (b *broker) answer(_ *http.Request, d eventlog.Entry) int {
	var posts sync.WaitGroup
	for _, replica := range b.receivers(d) {
		posts.Go(func() { b.note(d, b.env.post(replica.url, d)) })
	}
	posts.Wait()
	return http.StatusAccepted
}

// receivers returns the handlers that get an event. A handler that gets it twice is in the list twice.
func (b *broker) receivers(d eventlog.Entry) []*handler {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	var all []*handler
	for name := range b.replicas {
		filter, ok := filters[name]
		if !ok {
			filter = optInFilters[name]
		}
		if d.Attributes[filter[0]] == filter[1] {
			all = append(all, b.replicas[name]...)
		}
	}
	if b.passed++; b.passed%3 == 0 {
		all = slices.Concat(all, all)
	}
	return all
}

// note records the events that a handler refuses for good.
func (b *broker) note(d eventlog.Entry, answer int) {
	if answer < 400 || answer >= 500 || answer == http.StatusTooManyRequests {
		return
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.refused = append(b.refused, fmt.Sprintf("%s -> %d", d.Type(), answer))
}

// subscribe replaces all subscribers.
func (b *broker) subscribe(replicas map[string][]*handler) (before map[string][]*handler) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	before, b.replicas = b.replicas, replicas
	return before
}

// failingApplications are applications that fail at each attempt. The last of them has no restart. All are deleted soon after their
// end.
type failingApplications []*sparkv1.SparkApplication

// failingRestarts is how often the others are restarted.
const failingRestarts = 2

func (s *env) createFailing(prefix string) (all failingApplications) {
	s.Helper()
	for i := range 3 {
		all = append(all, s.create(App(fmt.Sprintf("%s-again-%d", prefix, i)).
			Restart(sparkv1.RestartOnFailure, failingRestarts, 200*time.Millisecond).TTL(300*time.Millisecond)))
	}
	return append(all, s.create(App(prefix+"-once").TTL(0)))
}

func (all failingApplications) untilGone(s *env) {
	s.Helper()
	for _, app := range all {
		untilGone(s, s.apps(), app.Name)
	}
}

// untilAllRequested waits until each handler has been asked since an instant, and was asked again.
func (s *env) untilAllRequested(since time.Time) {
	s.Helper()
	s.untilDelivered("each handler to be asked again", func(heard []eventlog.Entry) bool {
		again := map[string]bool{}
		times := map[string]int{}
		for _, d := range heard {
			for name, filter := range filters {
				if d.Attributes[filter[0]] == filter[1] && d.At.After(since) {
					times[d.ID()+d.Type()]++
					again[name] = again[name] || times[d.ID()+d.Type()] > 1
				}
			}
		}
		return again["restart"] && again["ttl"] && again["schedule"]
	})
}

// runHandlers sets where all handlers run.
func (s *env) runHandlers(where string) {
	s.Helper()
	for name := range filters {
		s.must(s.Configure(s.Context(), "config-handlers", map[string]string{name: where}))
	}
}

// Handlers move out of the controller and back while applications await verdicts and their deletion, and a run is due. Outside the
// controller each handler has two replicas.
func TestHandlersMoveWithoutLossOrDuplicates(t *testing.T) {
	alone(t)
	s := newEnv(t)
	for name := range filters {
		s.configured("config-handlers", name, config.InProcess)
	}
	b := &broker{env: s}
	s.sink.SetAnswer(s.ns, b.answer)
	s.ownController(controllerOf(s))
	runs := &register{uids: map[string]map[types.UID]bool{}}
	s.follow(runs.see)
	s.kubelet.Fail(s.ns)
	s.populate("pi", 1, "@every 3s", heldRun)
	replicas := map[string][]*handler{}
	for name := range filters {
		replicas[name] = []*handler{s.handler(name), s.handler(name)}
	}

	before := s.createFailing("before")
	s.runHandlers(config.External)
	moved, out := time.Now(), s.createFailing("out")
	s.untilAllRequested(moved)
	b.subscribe(replicas)
	before.untilGone(s)
	out.untilGone(s)

	outside := s.createFailing("outside")
	for _, dead := range slices.Concat(slices.Collect(maps.Values(b.subscribe(nil)))...) {
		dead.Kill()
	}
	moved, back := time.Now(), s.createFailing("back")
	s.untilAllRequested(moved)
	s.runHandlers(config.InProcess)
	outside.untilGone(s)
	back.untilGone(s)

	for _, app := range slices.Concat(before, out, outside, back) {
		s.wantEndedOnce(app)
	}
	s.wantStartedOnce("pi-0", 3*time.Second, runs)
	if len(b.refused) > 0 {
		t.Errorf("handlers refused %v", b.refused)
	}
}

// wantEndedOnce checks that a failing application had all its attempts, that all its transitions were published, and that it was
// deleted once.
func (s *env) wantEndedOnce(app *sparkv1.SparkApplication) {
	s.Helper()
	attempts := 1
	if strings.Contains(app.Name, "again") {
		attempts += failingRestarts
	}
	if drivers := s.untilHad(app.Name, attempts); len(drivers) != attempts {
		s.Errorf("%s had %d drivers, want %d", app.Name, len(drivers), attempts)
	}
	heard := s.untilDelivered("the end of "+app.Name, func(heard []eventlog.Entry) bool {
		first := firstAccepted(heard, app)
		return len(first) > 0 && first[len(first)-1].Attributes["sparkfinal"] == "true"
	})
	s.check(checkEvents(heard, app))
	failures := slices.DeleteFunc(statesOf(firstAccepted(heard, app)), func(state string) bool { return state != "Failed" })
	if len(failures) != attempts {
		s.Errorf("%s had %d failures, want %d:\n%s", app.Name, len(failures), attempts, listed(eventsOf(heard, app)))
	}
	if deletes := s.done("delete sparkapplications", app.Name); len(deletes) != 1 {
		s.Errorf("%s was deleted by %v", app.Name, deletes)
	}
}

// wantStartedOnce checks that no instant of a schedule has two runs, and that those without one are counted as missed. So may be
// one whose run was created and not recorded when the next came.
func (s *env) wantStartedOnce(name string, period time.Duration, runs *register) {
	s.Helper()
	pi := &scheduleEnv{env: s, kind: variant.Apache, name: name}
	created := pi.now().GetCreationTimestamp().Time
	until := time.Now()
	status := pi.until("settle its instants", func(s *firesteelv1alpha1.ScheduleStatus) bool {
		return s.Firesteel != nil && s.Firesteel.SettledUntil.After(until)
	}).GetScheduleStatus()
	instants, started := 0, 0
	count := func(context.Context) (bool, error) { // the runs are heard of in their own time
		instants, started = 0, 0
		for at := created.Add(period); !at.After(until); at = at.Add(period) { // later ones may be seen to be settled first
			instants++
			started += min(runs.count(name, at), 1)
		}
		return started > 0 && started+int(status.MissedRuns) >= instants, nil
	}
	_ = wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, count) // what it comes to is checked
	for at := created.Add(period); !at.After(until); at = at.Add(period) {
		if count := runs.count(name, at); count > 1 {
			s.Errorf("the instant %s has %d runs", at, count)
		}
	}
	if s.Logf("%d instants, %d runs, %d missed", instants, started, status.MissedRuns); started == 0 || started+int(status.MissedRuns) < instants {
		s.Errorf("of %d instants %d were started and %d missed", instants, started, status.MissedRuns)
	}
}

// done returns the requests about an object of the env that the controller or a handler made with success.
func (s *env) done(kind, name string) []string {
	s.Helper()
	var granted []string
	for account := range roles {
		requests, err := s.Plane.Audit(userOf(account)).Requests()
		s.must(err)
		for _, r := range requests {
			if r.Kind() == kind && r.Namespace == s.ns && r.Name == name && r.Code < 300 {
				granted = append(granted, account)
			}
		}
	}
	return granted
}
