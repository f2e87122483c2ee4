package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// maxRecord bounds a record in JSON.
const maxRecord = 64 * 1024

func size(t *testing.T, value any) int {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return len(encoded)
}

// badTexts are texts that take more in JSON than in memory.
var badTexts = map[string]string{
	"a long one":                   strings.Repeat("word ", 10_000),
	"one of wide characters":       strings.Repeat("火鋼", 5_000),
	"one of escaped characters":    strings.Repeat("<\x01\">&", 5_000),
	"one that is no text":          strings.Repeat("\xff-", 5_000),
	"one that ends in a character": strings.Repeat("x", 1020) + "火",
}

func TestTextsAreBounded(t *testing.T) {
	const limit = 1024
	for name, text := range badTexts {
		t.Run(name, func(t *testing.T) {
			cause := Cause{Class: ClassApplication, Reason: text, Message: text}
			got, _ := Decide(submitted().Running().Obj(), plain(), Observation{Driver: ended(Failed, cause)}, start)
			end := outbox.LastEnd(got)
			for field, text := range map[string]string{"message": end.Message, "end": end.End.Message, "reason": end.End.Reason} {
				if got := size(t, text); got > limit {
					t.Errorf("the %s takes %d bytes, want at most %d", field, got, limit)
				}
				if !utf8.ValidString(text) {
					t.Errorf("the %s is no valid text: %q", field, text)
				}
				if !strings.HasSuffix(text, "...") {
					t.Errorf("the %s does not show that it was cut: %q", field, text)
				}
			}
			if got := size(t, end.Message); got < limit-16 {
				t.Errorf("the message takes %d bytes only", got)
			}
			if got := size(t, end.End.Reason); got > 128 {
				t.Errorf("the reason takes %d bytes, want at most 128", got)
			}

			judged := submitted().Running().EndedRestartable(Failed).Verdict(false, time.Time{}, text).Obj()
			got, _ = Decide(judged, plain(), Observation{DriverGone: true}, start)
			if got := size(t, outbox.Current(got).Message); got > limit {
				t.Errorf("a handler's reason takes %d bytes, want at most %d", got, limit)
			}
		})
	}
}

func TestTextsThatFitAreKept(t *testing.T) {
	for _, text := range []string{"", "It broke.", "火 & <鋼>", strings.Repeat("x", 1022)} {
		cause := Cause{Class: ClassApplication, Message: text}
		got, _ := Decide(submitted().Running().Obj(), plain(), Observation{Driver: ended(Failed, cause)}, start)
		if end := outbox.LastEnd(got); end.Message != text || end.End.Message != text {
			t.Errorf("%q became %q and %q", text, end.Message, end.End.Message)
		}
	}
}

func TestADriversStatusIsBounded(t *testing.T) {
	for name, text := range badTexts {
		t.Run(name, func(t *testing.T) {
			big := driverPod().Phase(corev1.PodFailed).Reason("OOM", text)
			for i := range 50 {
				big.Container(fmt.Sprintf("container-%d", i), waits("Reason", text))
			}
			pod := big.Obj()
			got, _ := Decide(submitted().Running().Obj(), plain(), Observation{Driver: ObserveDriver(pod, "")}, start)
			status := outbox.LastEnd(got).DriverStatus
			if status.Phase != corev1.PodFailed || status.Reason != "OOM" || status.Message == "" {
				t.Errorf("what is kept is %v", status)
			}
			if got := size(t, status); got > 2048 {
				t.Errorf("the status takes %d bytes", got)
			}
		})
	}
}

// worstAttempt appends the most that one attempt may add.
func worstAttempt(t *testing.T, record *v1alpha1.Record, policy Policy, now time.Time) *v1alpha1.Record {
	t.Helper()
	name := strings.Repeat("n", 253)
	record = record.DeepCopy()
	record.Launch = &v1alpha1.Launch{ID: name[:64], SpecHash: name[:64], DriverPod: name, ApplicationID: name[:128]}
	record, _ = Decide(record, policy, Observation{Launched: driverUID, Driver: readyDriver}, now)
	text := strings.Repeat("<bad>", 1000)
	status := driverPod().Phase(corev1.PodFailed).Reason("Failed", strings.Repeat("x", 11*1024)).Obj().Status
	broken := ended(Failed, Cause{Class: ClassApplication, Reason: text, Message: text})
	broken.Status = &status
	record, _ = Decide(record, policy, Observation{Driver: broken}, now)
	return record
}

// With a sink that takes nothing, the record of an application that restarts for ever must not grow without bound.
// The restart waits for the sink, a condition says so, and it goes on when there is room. No transition is lost.
func TestRestartsWaitForTheSink(t *testing.T) {
	policy := plain(restarts(RestartAlways), func(p *Policy) { p.Restart.MaxAttempts, p.Restart.Backoff = 1e6, 0 })
	record, _ := Decide(nil, policy, Observation{}, start)
	var decision Decision
	seen, gone, now := int64(0), Observation{DriverGone: true}, start
	restart := func() bool {
		record = worstAttempt(t, record, policy, now)
		verdict, judged := Judge(record, policy)
		if !judged {
			t.Fatalf("no verdict on %s", outbox.Current(record).State)
		}
		record.Verdict = &verdict
		record, decision = Decide(record, policy, gone, now)
		for _, transition := range record.Transitions {
			if transition.Sequence > record.Acknowledged+1 && transition.Sequence > seen+1 {
				t.Fatalf("transition %d is lost", seen+1)
			}
			seen = max(seen, transition.Sequence)
		}
		if got := size(t, record); got > maxRecord {
			t.Fatalf("the record takes %d bytes in attempt %d", got, record.Attempt.ID)
		}
		return decision.Held == ""
	}
	for restart() {
		if record.Attempt.ID > 100 {
			t.Fatal("the restarts go on for ever")
		}
	}
	if record.Attempt.ID < 3 {
		t.Errorf("the restarts wait from attempt %d on", record.Attempt.ID)
	}
	if !decision.Changed || decision.Held != HeldEventsUndelivered || decision.Effect != NoEffect || !record.Launch.Released {
		t.Errorf("the decision is %+v of a driver released: %v", decision, record.Launch.Released)
	}

	record.Acknowledged = record.Sequence
	record, decision = Decide(record, policy, Observation{}, now)
	if decision.Effect != Launch || outbox.Current(record).State != string(ScheduledToRestart) {
		t.Errorf("with room again, the decision is %+v in %s", decision, outbox.Current(record).State)
	}
	for range 100 {
		record.Acknowledged = record.Sequence
		if !restart() {
			t.Fatal("a restart waits for a sink that takes everything")
		}
	}
}

func TestOldAcknowledgedTransitionsAreDropped(t *testing.T) {
	life := func() *recordBuilder {
		return submitted().Running().EndedRestartable(Failed).
			Restarting().Running().EndedRestartable(Failed).
			Restarting().Running()
	}
	withStatuses := func(r *v1alpha1.Record) {
		for i := range r.Transitions {
			r.Transitions[i].DriverStatus = &corev1.PodStatus{Phase: corev1.PodFailed}
		}
	}
	many := func(r *v1alpha1.Record) {
		for range 100 {
			r.Sequence++
			more := outbox.Current(r)
			more.Sequence = r.Sequence
			r.Transitions = append(r.Transitions, more)
		}
	}
	acknowledged := func(n int64) func(*v1alpha1.Record) {
		return func(r *v1alpha1.Record) { r.Acknowledged = n }
	}
	tests := map[string]struct {
		record *v1alpha1.Record
		// from is the first transition that stays, and statusFrom the first whose driver status stays.
		from, statusFrom int64
	}{
		"unacknowledged transitions stay":                               {life().With(withStatuses).Obj(), 1, 7},
		"acknowledged transitions of the last two attempts stay":        {life().With(withStatuses).Acknowledged().Obj(), 7, 7},
		"of a partly acknowledged record the unacknowledged part stays": {life().With(withStatuses).With(acknowledged(3)).Obj(), 4, 7},
		"of a single attempt the last 64 stay":                          {life().With(many).With(withStatuses).Acknowledged().Obj(), 54, 54},
		"of a single attempt all unacknowledged stay":                   {life().With(many).With(acknowledged(20)).Obj(), 21, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, decision := Decide(test.record, plain(), Observation{Driver: readyDriver}, start)
			if decision.Changed {
				t.Error("what is dropped is news")
			}
			if first := got.Transitions[0].Sequence; first != test.from {
				t.Errorf("transition %d is the first, want %d", first, test.from)
			}
			for _, transition := range got.Transitions {
				if want := test.statusFrom > 0 && transition.Sequence >= test.statusFrom; (transition.DriverStatus != nil) != want {
					t.Errorf("transition %d has its driver's status: %v, want %v", transition.Sequence, transition.DriverStatus != nil, want)
				}
			}
		})
	}
}

// Even in a badly edited record, the current state and its time stay known.
func TestTheLastTwoTransitionsStay(t *testing.T) {
	record := submitted().Running().Ended(Failed).After(time.Minute).Released().Acknowledged().
		With(func(r *v1alpha1.Record) { r.Attempt.ID = 1000 }).Obj()
	policy := plain(ttl(time.Hour))
	for range 3 {
		record, _ = Decide(record, policy, Observation{}, at(30*time.Minute))
	}
	want := []string{"6/0 Failed [pi-0-driver pi-0] | ended Failed", "7/0 ResourceReleased [pi-0-driver pi-0] | final Failed"}
	if diff := cmp.Diff(want, describe(record.Transitions)); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
	if due, _ := ExpiresAt(record, policy); !due.Equal(at(time.Hour)) {
		t.Errorf("the application expires at %v", due)
	}
}
