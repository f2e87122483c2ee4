// Package delivery has what the reconcilers of objects with a record have in common towards the relay that tells of it: how far the
// sink is, when that alone is worth a write, and how long a deletion waits for it.
package delivery

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// CursorDelay is the time without a transition after which a cursor is written for its own sake.
const CursorDelay = 30 * time.Second

// Publisher takes what is to be told of objects; the relay of pkg/events is one.
type Publisher interface {
	Publish(story events.Snapshot)
	Progress(uid types.UID) events.Progress
	Forget(uid types.UID)
	ForgetMatching(gone func(events.Object) bool)
	HandlerSettingsChanged()
	HasSink() bool
}

// CatchUp is a copy of a record with what the sink has taken since it was written.
func CatchUp(record *v1alpha1.Record, progress events.Progress) *v1alpha1.Record {
	record = record.DeepCopy()
	record.Acknowledged = max(record.Acknowledged, min(progress.Acknowledged, record.Sequence))
	record.Rejected = max(record.Rejected, progress.Rejected)
	return record
}

// Of is how the sink does, of which written is what was recorded last; nil where nothing was.
func Of(written *v1alpha1.Record, progress events.Progress) dialect.Delivery {
	return dialect.Delivery{
		Undelivered: progress.SinkFailure,
		Delivering:  written != nil && progress.Acknowledged > written.Acknowledged,
	}
}

// CursorDueAt is when the cursor of a record is to be written for its own sake; zero where it has not moved.
func CursorDueAt(record *v1alpha1.Record, progress events.Progress) time.Time {
	if progress.Acknowledged <= record.Acknowledged {
		return time.Time{}
	}
	return outbox.Current(record).Time.Add(CursorDelay)
}

// WorthWriting says that a record has news that are worth a write: a transition, or a cursor at rest. before is the one that is
// written, nil where none is. Where there are no such news, others may be worth it: changed is asked of the record without the
// cursor's.
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

// NotUnderstood is why nothing is done for an object whose record this version of Firesteel does not understand.
func NotUnderstood(record *v1alpha1.Record) string {
	if record.Foreign() {
		return NewerFormat(record.Format)
	}
	return fmt.Sprintf("status.firesteel has the state %q, which this version of Firesteel does not know. Nothing is done for the "+
		"object, and what runs is left alone. Upgrade Firesteel to the version that wrote it, or delete the object.",
		outbox.Clip(outbox.Current(record).State, outbox.MaxReason))
}

// NewerFormat is why nothing is done for an object whose record has a format that this version of Firesteel does not know.
func NewerFormat(format int64) string {
	if format == v1alpha1.FormatUnreadable {
		return "status.firesteel.format is no format that this version of Firesteel can read. " + leftAlone
	}
	return fmt.Sprintf("status.firesteel.format is %d, and this version of Firesteel knows formats up to %d. %s",
		format, v1alpha1.Format, leftAlone)
}

const leftAlone = "Nothing is done for the object, and what runs is left alone. Upgrade Firesteel to the version that wrote it, or " +
	"delete the object."

// Pruned reports whether the API server dropped a written record, or a part that is always kept since this version.
func Pruned(written, stored *v1alpha1.Record) bool {
	return stored == nil || written.Attempt.Spec != nil && stored.Attempt.Spec == nil
}

// SpecAdopted says by a Kubernetes Event that nobody can tell whether the spec of an object was edited.
func SpecAdopted(ctx context.Context, object runtime.Object, record *v1alpha1.Record) {
	controller.GetEventRecorder(ctx).Eventf(object, corev1.EventTypeWarning, "SpecAdopted",
		"metadata.generation is %d: whether spec was edited cannot be told, since another version of Firesteel noted the spec of "+
			"attempt %d. The attempt counts as one of the present spec. Edit spec again to have the edit run.",
		record.Attempt.Spec.Generation, record.Attempt.ID)
}

// LeftToNewer is for how long a deleted object still waits for the version of Firesteel that understands its record.
func LeftToNewer(ctx context.Context, object metav1.Object, now time.Time) time.Duration {
	if object.GetDeletionTimestamp() == nil {
		return 0
	}
	return object.GetDeletionTimestamp().Add(config.FromContext(ctx).Events.DeletionGrace).Sub(now)
}

// DeletionGrace is how long a deleted object still waits for its story to be told; none where that is told, or was given up. Meanwhile a
// Kubernetes Event says why it waits.
func DeletionGrace(
	ctx context.Context, object runtime.Object, record *v1alpha1.Record, progress events.Progress, now time.Time,
) time.Duration {
	if record == nil {
		return 0
	}
	// That nothing is pending proves nothing: a relay that was shut down, or whose leader was demoted, knows of nothing.
	if progress.Pending == 0 && max(record.Acknowledged, progress.Acknowledged) >= record.Sequence {
		return 0
	}
	limit := config.FromContext(ctx).Events.DeletionGrace
	if progress.LastError != "" {
		controller.GetEventRecorder(ctx).Eventf(object, corev1.EventTypeWarning, "EventsUndelivered",
			"The deletion waits for the sink to take %d event(s), at most %s: %s", progress.Pending, limit, progress.LastError)
	}
	grace := outbox.Current(record).Time.Add(limit).Sub(now)
	if grace <= 0 {
		logging.FromContext(ctx).Errorw("A deleted object goes with events undelivered",
			"pending", progress.Pending, "acknowledged", progress.Acknowledged, "lastError", progress.LastError, "record", record)
	}
	return grace
}
