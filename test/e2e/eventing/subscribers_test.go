package eventing

import (
	"context"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// A subscriber that fails delays its application, and no event is lost.
func TestSubscriberThatFailsDelaysNoOther(t *testing.T) {
	for name, test := range map[string]struct {
		failing trigger
		code    string
	}{
		"down":            {trigger{service: "subscriber-down", path: "/"}, "500"},
		"answers 500":     {trigger{path: "status/500"}, "500"},
		"answers 400":     {trigger{path: "status/400"}, "400"},
		"does not answer": {trigger{path: "slow/1m", filter: map[string]string{"sparkstate": "Failed"}}, "<nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t)
			failing := test.failing
			failing.name, failing.delivery = "failing", quick
			if failing.service == "" {
				failing.path = s.path("failing", failing.path)
			}
			s.subscribe(failing, trigger{name: "other", path: s.path("other", "ok")})
			s.submit("app", 1)
			s.untilSucceeded("app", 1)
			s.untilWhole("other", "app")
			s.untilDeadLetter("app", "Failed", test.code)
		})
	}
}

// A broker makes an event of its own of an answer with one. This one is forged: a copy of each event under another id.
func TestSubscriberThatAnswersWithForgedEventsChangesNothing(t *testing.T) {
	s := newEnv(t)
	s.subscribe(trigger{name: "forger", path: s.path("forger", "answer")}, trigger{name: "other", path: s.path("other", "ok")})
	s.submit("app", 2)
	s.untilSucceeded("app", 2)
	whole := s.untilWhole("other", "app")
	forged := 0
	for _, d := range whole {
		if strings.HasPrefix(d.Event.ID(), "forged-") {
			forged++
		}
	}
	if forged == 0 {
		t.Error("no forged event came through the Broker")
	}
	if requested := countIDs(whole, "DriverRequested"); requested != 3 {
		t.Errorf("%d drivers were requested, want 3", requested)
	}
}

// countIDs returns the number of different events of a state, without forged ones.
func countIDs(deliveries []delivery, state string) int {
	ids := map[string]bool{}
	for _, d := range deliveries {
		if d.Event.Extensions()["sparkstate"] == state && !strings.HasPrefix(d.Event.ID(), "forged-") {
			ids[d.Event.ID()] = true
		}
	}
	return len(ids)
}

func TestSlowSubscriberDelaysOneApplicationOnly(t *testing.T) {
	s := newEnv(t)
	s.subscribe(
		trigger{name: "slow", path: s.path("slow", "slow/2500ms"), filter: map[string]string{"sparkname": "delayed"}},
		trigger{name: "all", path: s.path("all", "ok")},
	)
	s.submit("delayed", 1)
	cluster.Must(t, s.until(func(context.Context) bool { return len(s.taken("slow")) > 0 }))
	s.submit("swift", 1)
	s.untilWhole("all", "swift")
	if gap(of(s.taken("all"), "delayed")) == "" {
		t.Error("the swift application's events came after all of the delayed one's")
	}
	s.untilSucceeded("swift", 1)
	s.untilSucceeded("delayed", 1)
	s.untilWhole("all", "delayed")
}
