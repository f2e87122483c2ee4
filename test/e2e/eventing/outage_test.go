package eventing

import (
	"context"
	"fmt"
	"testing"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// apps are the applications of a test with an outage, and how many of their attempts fail.
var apps = map[string]int{"one": 1, "two": 2, "three": 3}

func (s *env) submitAll() {
	s.t.Helper()
	for name, failures := range apps {
		s.submit(name, failures)
	}
}

func (s *env) untilAllSucceeded() {
	s.t.Helper()
	for name, failures := range apps {
		s.untilSucceeded(name, int64(failures))
	}
}

func TestBrokerLosesNothingWhenItRestarts(t *testing.T) {
	for _, selector := range []string{
		"eventing.knative.dev/brokerRole=ingress", "eventing.knative.dev/brokerRole=filter", "messaging.knative.dev/role=dispatcher",
	} {
		t.Run(selector, func(t *testing.T) {
			s := newEnv(t)
			s.subscribe(trigger{name: "all", path: s.path("all", "ok")})
			s.submitAll()
			cluster.Must(t, s.until(func(context.Context) bool { return len(s.taken("all")) > 3 }))
			gone := s.Run(t, "", "kubectl", "-n", "knative-eventing", "delete", "pods", "-l", selector, "--grace-period=0", "--force", "-o", "name")
			if gone == "" {
				t.Fatal("no Pod was there to delete")
			}
			s.untilAllSucceeded()
			for name := range apps {
				s.untilWhole("all", name)
			}
		})
	}
}

func TestHandlerKilledInTheMiddleLeavesNoApplicationWaiting(t *testing.T) {
	s := newEnv(t)
	s.subscribe(trigger{name: "all", path: s.path("all", "ok")})
	s.submitAll()
	for attempt := range int64(3) {
		s.untilFailed("three", attempt)
		s.kubectl("delete", "pods", "-l", "app.kubernetes.io/name=handler-restart", "--grace-period=0", "--force")
	}
	s.untilAllSucceeded()
	for name := range apps {
		s.untilWhole("all", name)
	}
}

// untilFailed waits until the subscriber heard that an attempt failed.
func (s *env) untilFailed(name string, attempt int64) {
	s.t.Helper()
	cluster.Must(s.t, s.until(func(context.Context) bool {
		for _, d := range of(s.taken("all"), name) {
			if d.Event.Extensions()["sparkstate"] == "Failed" && d.Event.Extensions()["sparkattempt"] == fmt.Sprint(attempt) {
				return true
			}
		}
		return false
	}))
}

// The Broker gives up and its dead-letter sink takes the event. The controller asks again.
func TestHandlerDownForLongerThanTheBrokerRetriesIsRequestedAgain(t *testing.T) {
	s := newEnv(t)
	s.subscribe(trigger{name: "all", path: s.path("all", "ok")})
	s.kubectl("scale", "deployment/handler-restart", "--replicas=0")
	t.Cleanup(func() {
		s.finally("scale", "deployment/handler-restart", "--replicas=1")
		s.finally("rollout", "status", "deployment/handler-restart", "--timeout=60s")
	})
	s.kubectl("wait", "--for=delete", "pods", "-l", "app.kubernetes.io/name=handler-restart", "--timeout=60s")
	s.submit("app", 1)
	s.untilDeadLetter("app", "Failed", "500")
	s.untilState("app", "Failed", 0)
	s.kubectl("scale", "deployment/handler-restart", "--replicas=1")
	s.untilSucceeded("app", 1)
	s.untilWhole("all", "app")
}

func TestHandlerMovesWithoutLossOrDuplicates(t *testing.T) {
	s := newEnv(t)
	s.subscribe(trigger{name: "all", path: s.path("all", "ok")})
	t.Cleanup(func() { s.place("external") })
	s.submitAll()
	for attempt := range int64(3) {
		s.place("in-process")
		s.untilFailed("three", attempt)
		s.place("external")
	}
	s.untilAllSucceeded()
	for name, failures := range apps {
		whole := s.untilWhole("all", name)
		if requested := countIDs(whole, "DriverRequested"); requested != failures+1 {
			t.Errorf("%s requested %d drivers, want %d", name, requested, failures+1)
		}
	}
}

// place moves the restart handler.
func (s *env) place(where string) {
	s.finally("patch", "configmap/config-handlers", "--type=merge", "-p", fmt.Sprintf(`{"data": {"restart": %q}}`, where))
}
