package lifecycle

import (
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// expire asks for the deletion of an application whose time to live is over. The time counts from the state before
// the release, as in the Apache operator.
func (m *machine) expire() bool {
	if m.policy.TTL < 0 || !m.seen.Deleted.IsZero() {
		return false
	}
	due, _ := ExpiresAt(m.record, m.policy)
	if m.now.Before(due) {
		m.requeueAt(due)
		return false
	}
	m.awaits, m.awaitsSince = AwaitsDeletion, due
	return false
}

// ExpiresAt returns when the time to live of a released application is over. It returns false if the application is
// not released or has no time to live.
func ExpiresAt(record *v1alpha1.Record, policy Policy) (time.Time, bool) {
	if record == nil || CurrentState(record) != ResourceReleased || policy.TTL < 0 {
		return time.Time{}, false
	}
	since := outbox.Current(record).Time.Time
	if n := len(record.Transitions); n > 1 {
		since = record.Transitions[n-2].Time.Time
	}
	return since.Add(policy.TTL), true
}

// AtRest reports whether an application is finished and its deletion is not requested yet.
func AtRest(record *v1alpha1.Record, policy Policy, now time.Time) bool {
	due, expires := ExpiresAt(record, policy)
	return Finished(record, policy) && (!expires || now.Before(due))
}

// Finished reports whether nothing follows except the deletion, unless a user edits the spec. An application that is
// retained for a time is not finished: its release follows.
func Finished(record *v1alpha1.Record, policy Policy) bool {
	m := machine{record: record, policy: policy}
	state := CurrentState(record)
	if _, bounded := m.retainedUntil(); bounded && state != ResourceReleased {
		return false
	}
	return state.Terminated() && !m.specEdited(state)
}
