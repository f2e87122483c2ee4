package outbox_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/outbox"
)

var start = time.Date(2026, 3, 1, 8, 0, 0, 123_456_789, time.UTC)

func sequences(record *v1alpha1.Record) []int64 {
	var all []int64
	for _, t := range record.Transitions {
		all = append(all, t.Sequence)
	}
	return all
}

// recordOf returns a record with n transitions of its current attempt, some of them acknowledged.
func recordOf(n, acknowledged int64) *v1alpha1.Record {
	record := &v1alpha1.Record{}
	for range n {
		Append(record, v1alpha1.Transition{State: "RunningHealthy"}, start)
	}
	record.Acknowledged = acknowledged
	return record
}

func TestAppendNumbersAndClonesATransition(t *testing.T) {
	record := &v1alpha1.Record{Attempt: v1alpha1.Attempt{ID: 3}, Sequence: 7}
	status := &corev1.PodStatus{Message: "seen"}
	Append(record, v1alpha1.Transition{State: "Failed", Message: strings.Repeat("x", 5000), DriverStatus: status}, start)
	status.Message = "changed"
	got := Current(record)
	if got.Sequence != 8 || record.Sequence != 8 || got.Attempt != 3 {
		t.Errorf("sequence %d of %d, attempt %d", got.Sequence, record.Sequence, got.Attempt)
	}
	if !got.Time.Time.Equal(start.Truncate(time.Microsecond)) {
		t.Errorf("time is %s", got.Time)
	}
	if Size(got.Message) > MaxMessage || !strings.HasSuffix(got.Message, "...") {
		t.Errorf("the message is not cut: %d bytes", Size(got.Message))
	}
	if got.DriverStatus.Message != "seen" {
		t.Errorf("the record shares a value with the caller")
	}
}

func TestPruneKeepsPendingTransitionsAndTheLastTwo(t *testing.T) {
	for name, test := range map[string]struct {
		n, acknowledged int64
		first, last     int64
	}{
		"few":                         {n: 10, acknowledged: 10, first: 1, last: 10},
		"too many, all acknowledged":  {n: 100, acknowledged: 100, first: 37, last: 100},
		"too many, none acknowledged": {n: 100, acknowledged: 0, first: 1, last: 100},
		"too many, few acknowledged":  {n: 100, acknowledged: 5, first: 6, last: 100},
	} {
		t.Run(name, func(t *testing.T) {
			record := recordOf(test.n, test.acknowledged)
			Prune(record)
			got := sequences(record)
			if got[0] != test.first || got[len(got)-1] != test.last || int64(len(got)) != test.last-test.first+1 {
				t.Errorf("kept %v", got)
			}
		})
	}
	old := recordOf(5, 5)
	old.Attempt.ID = 2
	Prune(old)
	if got := sequences(old); !slices.Equal(got, []int64{4, 5}) {
		t.Errorf("of an earlier attempt %v is kept", got)
	}
}

func TestRoomEndsWithManyPendingTransitions(t *testing.T) {
	if r := recordOf(63, 0); !HasRoomForProgress(r) || IsFull(r) {
		t.Error("63 short transitions should leave room")
	}
	if r := recordOf(64, 0); HasRoomForProgress(r) || IsFull(r) {
		t.Error("64 short transitions should leave room for another attempt, but not for running states")
	}
	long := &v1alpha1.Record{}
	for range 30 {
		Append(long, v1alpha1.Transition{State: "Failed", Message: strings.Repeat("x", MaxMessage)}, start)
	}
	if HasRoomForProgress(long) || !IsFull(long) {
		t.Error("30 long transitions should leave no room")
	}
	long.Acknowledged = long.Sequence
	if !HasRoomForProgress(long) || IsFull(long) {
		t.Error("acknowledged transitions should take no room")
	}
}

func TestRepairCorrectsAnEditedRecord(t *testing.T) {
	record := recordOf(3, 3)
	record.Sequence, record.Acknowledged = 1, 9
	Repair(record)
	if record.Sequence != 3 || record.Acknowledged != 3 {
		t.Errorf("sequence %d, acknowledged %d", record.Sequence, record.Acknowledged)
	}
}
