package v1_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

func TestAHistoryHasTheStatesOfOneAttemptAndKeepsTheirNumbers(t *testing.T) {
	record := &v1alpha1.Record{Transitions: []v1alpha1.Transition{
		{Sequence: 3, Attempt: 0, State: "Failed"}, {Sequence: 4, Attempt: 1, State: "Submitted"}, {Sequence: 12, Attempt: 1, State: "Succeeded"},
	}}
	history := sparkv1.History(record, 1, func(transition v1alpha1.Transition) string { return transition.State })
	if len(history) != 2 || history["3"] != "Submitted" || history["11"] != "Succeeded" {
		t.Errorf("the history is %v", history)
	}
	for key, want := range map[string]int64{"0": 1, "11": 12} {
		if got, err := sparkv1.ParseHistoryKey(key); err != nil || got != want {
			t.Errorf("key %s is of transition %d, %v", key, got, err)
		}
	}
	for _, key := range []string{"", "-1", "first", "9223372036854775807"} {
		if got, err := sparkv1.ParseHistoryKey(key); err == nil {
			t.Errorf("key %q is of transition %d", key, got)
		}
	}
}

func TestTheTimeOfAStateIsParsedAsItWasFormatted(t *testing.T) {
	zone := time.FixedZone("", 3600)
	given := metav1.NewMicroTime(time.Date(2026, 3, 1, 9, 0, 0, 123_456_000, zone))
	text := sparkv1.FormatStateTime(given)
	if text != "2026-03-01T08:00:00.123456Z" {
		t.Errorf("the time is written as %s", text)
	}
	if got, err := sparkv1.ParseStateTime(text); err != nil || !got.Equal(given.Time) {
		t.Errorf("%s is read as %s, %v", text, got, err)
	}
}
