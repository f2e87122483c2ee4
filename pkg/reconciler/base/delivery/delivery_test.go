package delivery_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	. "github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

var start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// recordWith returns a record with a number of transitions, of which the sink acknowledged some. The last is at the start.
func recordWith(transitions, acknowledged int64) *v1alpha1.Record {
	record := &v1alpha1.Record{}
	for range transitions {
		outbox.Append(record, v1alpha1.Transition{State: "ResourceReleased"}, start)
	}
	record.Acknowledged = acknowledged
	return record
}

func TestDeletionWaitsForUndeliveredEvents(t *testing.T) {
	const grace = 5 * time.Minute
	for name, test := range map[string]struct {
		record   *v1alpha1.Record
		progress events.Progress
		after    time.Duration // its end
		want     time.Duration
	}{
		"not if no controller reconciled it":                      {},
		"not where all are taken":                                 {recordWith(4, 2), events.Progress{Acknowledged: 4}, 0, 0},
		"not where the record says that all are taken":            {recordWith(4, 4), events.Progress{}, 0, 0},
		"while some are pending":                                  {recordWith(4, 2), events.Progress{Acknowledged: 3, Pending: 1}, time.Minute, grace - time.Minute},
		"while only a clock event is pending":                     {recordWith(4, 4), events.Progress{Acknowledged: 4, Pending: 1}, 0, grace},
		"where the relay was shut down and so knows of none":      {recordWith(4, 2), events.Progress{}, time.Minute, grace - time.Minute},
		"not for longer than its grace, whatever is pending":      {recordWith(4, 2), events.Progress{Pending: 2}, grace, 0},
		"not for longer than its grace where the relay is silent": {recordWith(4, 2), events.Progress{}, grace, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := controller.WithEventRecorder(config.ToContext(t.Context(), config.Default()), record.NewFakeRecorder(1))
			if got := DeletionGrace(ctx, &corev1.Pod{}, test.record, test.progress, start.Add(test.after)); got != test.want {
				t.Errorf("it waits for %s, want %s", got, test.want)
			}
		})
	}
}

func TestRecordTakesTheCursorOfTheSink(t *testing.T) {
	record := recordWith(4, 2)
	if got := CatchUp(record, events.Progress{Acknowledged: 9, Rejected: 3}); got.Acknowledged != 4 || got.Rejected != 3 || record.Acknowledged != 2 {
		t.Errorf("%d of 4 are taken, of which %d is rejected; before %d", got.Acknowledged, got.Rejected, record.Acknowledged)
	}
	if got := CatchUp(record, events.Progress{}); got.Acknowledged != 2 {
		t.Errorf("a relay that knows of nothing took %d back", 2-got.Acknowledged)
	}
}

func TestCursorAloneIsWrittenAtRest(t *testing.T) {
	if at := CursorDueAt(recordWith(4, 2), events.Progress{Acknowledged: 2}); !at.IsZero() {
		t.Errorf("one that has not moved is written at %s", at)
	}
	if at := CursorDueAt(recordWith(4, 2), events.Progress{Acknowledged: 3}); !at.Equal(start.Add(CursorDelay)) {
		t.Errorf("it is written at %s", at)
	}
	// A stale cache: the write could not be made, so the object would be requeued again and again.
	if at := CursorDueAt(recordWith(4, 4), events.Progress{Acknowledged: 5}); !at.IsZero() {
		t.Errorf("a cursor beyond the record is written at %s", at)
	}
	for name, test := range map[string]struct {
		before, record *v1alpha1.Record
		after          time.Duration // the last transition
		changed, want  bool
	}{
		"the first record":      {record: recordWith(1, 0), want: true},
		"a transition":          {before: recordWith(1, 0), record: recordWith(2, 0), want: true},
		"a cursor":              {before: recordWith(2, 0), record: recordWith(2, 2)},
		"a cursor at rest":      {before: recordWith(2, 0), record: recordWith(2, 2), after: CursorDelay, want: true},
		"nothing at rest":       {before: recordWith(2, 2), record: recordWith(2, 2), after: CursorDelay},
		"something else":        {before: recordWith(2, 0), record: recordWith(2, 2), changed: true, want: true},
		"nothing that is known": {before: recordWith(2, 0), record: recordWith(2, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			got := WorthWriting(test.before, test.record, start.Add(test.after), func(unmoved *v1alpha1.Record) bool {
				if unmoved.Acknowledged != test.before.Acknowledged {
					t.Error("the cursor's own news are asked for")
				}
				return test.changed
			})
			if got != test.want {
				t.Errorf("worth a write: %t", got)
			}
		})
	}
}
