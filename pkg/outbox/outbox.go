package outbox

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

const (
	// maxPendingTransitions is the number of transitions that the sink has not taken from which on states that come and go
	// are no longer recorded. Ends always are.
	maxPendingTransitions = 64
	// maxStoredTransitions bounds the acknowledged transitions that a record keeps.
	maxStoredTransitions = 64
	// maxPendingBytes bounds the transitions that the sink has not taken, in bytes of JSON without drivers' statuses:
	// beyond it no further attempt is begun, and states that come and go are no longer recorded. With what one attempt
	// may add the record stays below 64 KiB.
	maxPendingBytes = 24 * 1024
	// maxUnknownBytes bounds the fields of a record that this version of Firesteel does not know, in bytes of JSON: newer versions
	// need a few, and whoever writes a verdict may write more.
	maxUnknownBytes = 8 * 1024
)

// Append adds a transition of the current attempt to a record, as the next in sequence.
func Append(record *v1alpha1.Record, t v1alpha1.Transition, now time.Time) {
	record.Sequence++
	t.Sequence = record.Sequence
	t.Time = RecordTime(now)
	t.Message = Clip(t.Message, MaxMessage)
	t.Attempt = record.Attempt.ID
	record.Transitions = append(record.Transitions, *t.DeepCopy()) // what was observed is the caller's
}

// RecordTime is a time as a record keeps it.
func RecordTime(now time.Time) metav1.MicroTime {
	return metav1.NewMicroTime(now.UTC().Truncate(time.Microsecond))
}

// Current is the last transition of a record; the zero transition where there is none.
func Current(record *v1alpha1.Record) v1alpha1.Transition {
	if record == nil || len(record.Transitions) == 0 {
		return v1alpha1.Transition{}
	}
	return record.Transitions[len(record.Transitions)-1]
}

// LastEnd is the transition that ended the current attempt; nil while it lasts.
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

// HasRoomForProgress says that the sink is not so far behind that what comes and goes is left out.
func HasRoomForProgress(record *v1alpha1.Record) bool {
	return record.Sequence-record.Acknowledged < maxPendingTransitions && !IsFull(record)
}

// IsFull says that a record has no room for another attempt.
func IsFull(record *v1alpha1.Record) bool { return pendingBytes(record) > maxPendingBytes }

// pendingBytes is the size of what the sink has not taken, in bytes of JSON.
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

// Repair keeps a record that somebody edited from telling a sequence twice, or a transition never.
func Repair(record *v1alpha1.Record) {
	for _, t := range record.Transitions {
		record.Sequence = max(record.Sequence, t.Sequence)
	}
	record.Acknowledged = min(record.Acknowledged, record.Sequence)
}

// Prune drops what nobody needs any more: transitions that the sink has taken, of attempts before the previous
// one, and the oldest of what is still too many. The last two stay: they say where the object stands, and since
// when.
func Prune(record *v1alpha1.Record) {
	excess := len(record.Transitions) - maxStoredTransitions
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
