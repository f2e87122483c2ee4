// Package delivery is what the reconcilers of objects with a record do for the delivery of events: how far the sink is, when that
// alone is worth a write, how long a deletion waits for the sink, and how often a status is restored that another writer changes.
package delivery

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// CursorDelay is the time after the last transition from which on a cursor is written for its own sake. The cursor of a record is
// the sequence of the last event that the sink acknowledged.
const CursorDelay = 30 * time.Second

// Publisher publishes the events of objects. The relay of pkg/events is one.
type Publisher interface {
	Publish(snapshot events.Snapshot)
	Progress(uid types.UID) events.Progress
	Forget(uid types.UID)
	ForgetMatching(gone func(events.Object) bool)
	HandlerSettingsChanged()
	HasSink() bool
}

// CatchUp returns a copy of a record with what the sink acknowledged since the record was written.
func CatchUp(record *v1alpha1.Record, progress events.Progress) *v1alpha1.Record {
	record = record.DeepCopy()
	record.Acknowledged = acknowledged(record, progress)
	record.Rejected = max(record.Rejected, progress.Rejected)
	return record
}

// acknowledged returns the cursor of a record with the progress of the delivery. If the cache is stale, the sink may have
// acknowledged transitions that the record does not have yet.
func acknowledged(record *v1alpha1.Record, progress events.Progress) int64 {
	return max(record.Acknowledged, min(progress.Acknowledged, record.Sequence))
}

// Of returns the state of the delivery. written is the last written record, nil if there is none.
func Of(written *v1alpha1.Record, progress events.Progress) diagnosis.Delivery {
	return diagnosis.Delivery{
		Undelivered: progress.SinkFailure,
		Delivering:  written != nil && progress.Acknowledged > written.Acknowledged,
	}
}

// CursorDueAt returns when the cursor of a record is written for its own sake, zero if the cursor has not moved.
func CursorDueAt(record *v1alpha1.Record, progress events.Progress) time.Time {
	if acknowledged(record, progress) == record.Acknowledged {
		return time.Time{}
	}
	return outbox.Current(record).Time.Add(CursorDelay)
}

// WorthWriting reports whether a record is worth a write: it has a transition, or its cursor is due. before is the written record,
// nil if there is none. Otherwise changed decides, which is given the record without news of the cursor.
func WorthWriting(before, record *v1alpha1.Record, now time.Time, changed func(unmoved *v1alpha1.Record) bool) bool {
	if before == nil || before.Sequence != record.Sequence {
		return true
	}
	if rests := outbox.Current(record).Time.Add(CursorDelay); !now.Before(rests) && before.Acknowledged != record.Acknowledged {
		return true
	}
	unmoved := record.DeepCopy()
	spec.Unnote(unmoved, before)
	unmoved.Acknowledged = before.Acknowledged
	unmoved.Transitions = before.Transitions // acknowledged ones may have been dropped
	return changed(unmoved)
}

// DeletionGrace returns how long a deleted object waits for the delivery of its events. It is zero once they are acknowledged, or
// after the setting's time. Meanwhile a Kubernetes Event says why the object waits.
func DeletionGrace(
	ctx context.Context, object runtime.Object, record *v1alpha1.Record, progress events.Progress, now time.Time,
) time.Duration {
	if record == nil {
		return 0
	}
	// No pending event proves nothing: a relay that was shut down, or whose leader was demoted, knows of none.
	if progress.Pending == 0 && max(record.Acknowledged, progress.Acknowledged) >= record.Sequence {
		return 0
	}
	limit := config.FromContext(ctx).Events.DeletionGrace
	if progress.LastError != "" {
		why := diagnosis.DeletionWaitsForSink(progress.Pending, limit, progress.LastError)
		controller.GetEventRecorder(ctx).Event(object, corev1.EventTypeWarning, why.Reason, why.Message())
	}
	grace := outbox.Current(record).Time.Add(limit).Sub(now)
	if grace <= 0 {
		logging.FromContext(ctx).Errorw("finalizer removed from a deleted object with undelivered events",
			"pending", progress.Pending, "acknowledged", progress.Acknowledged, "lastError", progress.LastError, "record", record)
	}
	return grace
}
