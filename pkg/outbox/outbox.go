package outbox

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

const (
	// maxTransitions bounds the transitions of a record. Beyond it, the oldest acknowledged ones are dropped. If so many are not
	// acknowledged, running states are not recorded any more. Ends of attempts and final states always are.
	maxTransitions = 64
	// maxPendingBytes bounds the transitions that the sink has not acknowledged, in bytes of JSON without drivers' statuses. Beyond it,
	// no attempt is started, and running states are not recorded any more. Including the transitions of one more attempt, the
	// record stays below 64 KiB.
	maxPendingBytes = 24 * 1024
	// maxUnknownBytes bounds the fields of a record that this version of Firesteel does not know, in bytes of JSON. Newer versions need
	// a few, but a handler that writes a verdict could write many.
	maxUnknownBytes = 8 * 1024
)

// Append adds a transition of the current attempt to a record, with the next sequence.
func Append(record *v1alpha1.Record, t v1alpha1.Transition, now time.Time) {
	record.Sequence++
	t.Sequence = record.Sequence
	t.Time = RecordTime(now)
	t.Message = Clip(t.Message, MaxMessage)
	t.Attempt = record.Attempt.ID
	record.Transitions = append(record.Transitions, *t.DeepCopy()) // the caller may change its value
}

// RecordTime returns a time with the precision of a record.
func RecordTime(now time.Time) metav1.MicroTime {
	return metav1.NewMicroTime(now.UTC().Truncate(time.Microsecond))
}

// Current returns the last transition of a record, or the zero transition if there is none.
func Current(record *v1alpha1.Record) v1alpha1.Transition {
	if record == nil || len(record.Transitions) == 0 {
		return v1alpha1.Transition{}
	}
	return record.Transitions[len(record.Transitions)-1]
}

// LastEnd returns the transition that ended the current attempt. It returns nil while the attempt lasts.
func LastEnd(record *v1alpha1.Record) *v1alpha1.Transition {
	if record == nil {
		return nil
	}
	for i := len(record.Transitions) - 1; i >= 0; i-- {
		if t := &record.Transitions[i]; t.End != nil && t.Attempt == record.Attempt.ID {
			return t
		}
	}
	return nil
}

// HasRoomForProgress reports whether running states are still recorded. They are not if too many transitions are pending.
func HasRoomForProgress(record *v1alpha1.Record) bool {
	return record.Sequence-record.Acknowledged < maxTransitions && !IsFull(record)
}

// IsFull reports whether the record has no room for another attempt.
func IsFull(record *v1alpha1.Record) bool { return pendingBytes(record) > maxPendingBytes }

// pendingBytes returns the size of the transitions that the sink has not acknowledged, in bytes of JSON.
func pendingBytes(record *v1alpha1.Record) int {
	size := 0
	for _, t := range record.Transitions {
		if t.Sequence > record.Acknowledged {
			t.DriverStatus = nil
			size += Size(t)
		}
	}
	return size
}

// Repair corrects the counters of a record that was edited. Otherwise a sequence could be used twice, or a transition never be sent.
func Repair(record *v1alpha1.Record) {
	for _, t := range record.Transitions {
		record.Sequence = max(record.Sequence, t.Sequence)
	}
	record.Acknowledged = min(record.Acknowledged, record.Sequence)
}

// Prune drops acknowledged transitions of attempts before the previous one. If there are still too many, it also drops the oldest
// acknowledged ones. The last two transitions always stay, since they hold the object's state and its begin.
func Prune(record *v1alpha1.Record) {
	excess := len(record.Transitions) - maxTransitions
	kept := record.Transitions[:0]
	for i, t := range record.Transitions {
		acknowledged := t.Sequence <= record.Acknowledged
		if acknowledged && i < len(record.Transitions)-2 && (t.Attempt < record.Attempt.ID-1 || i < excess) {
			continue
		}
		if t.Attempt < record.Attempt.ID-1 {
			t.DriverStatus = nil
		}
		kept = append(kept, t)
	}
	record.Transitions = kept
	v1alpha1.BoundUnknown(unknownFields(record), maxUnknownBytes)
}
