package lifecycle

import (
	"fmt"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// reasonActiveDeadline is the reason of an application that was active for longer than its deadline.
const reasonActiveDeadline = "ActiveDeadlineExceeded"

// checkActiveDeadline ends the attempt if the active deadline is over. If not, it requeues at the deadline.
func (m *machine) checkActiveDeadline() bool {
	switch {
	case m.deadlineOver():
		return m.fail(Failed, m.deadlineExceeded())
	case m.policy.ActiveDeadline > 0 && !m.activeSince().IsZero():
		m.requeueAt(m.now.Add(m.policy.ActiveDeadline - m.active()))
	}
	return false
}

// deadlineOver reports whether the application was active for as long as its deadline allows. Then no attempt
// follows.
func (m *machine) deadlineOver() bool {
	return m.policy.ActiveDeadline > 0 && m.active() >= m.policy.ActiveDeadline
}

func (m *machine) deadlineExceeded() Cause {
	return Cause{Class: ClassTimeout, Reason: reasonActiveDeadline, Message: fmt.Sprintf(
		"The application was active for longer than its deadline, over all attempts. %s",
		limitText(m.policy.ActiveDeadline, m.policy.Sources.ActiveDeadline))}
}

// limitText names a limit and what sets it.
func limitText(limit time.Duration, source string) string {
	if source == "" {
		return fmt.Sprintf("The limit is %s.", limit)
	}
	return fmt.Sprintf("The limit is %s, from %s.", limit, source)
}

// endedByTimeout reports whether a start timeout, or the active deadline, ended an attempt whose driver had not
// ended.
func endedByTimeout(ended *v1alpha1.Transition) (start, active bool) {
	state, end := State(ended.State), ended.End
	start = state == DriverStartTimedOut || state == DriverReadyTimedOut || state == ExecutorsStartTimedOut
	return start, end.Class == ClassTimeout && end.Reason == reasonActiveDeadline
}

// active returns the time that counts against the active deadline. It counts from the first driver's start, and not
// between attempts.
func (m *machine) active() time.Duration {
	millis := boundedMillis(m.record.Attempt.ActiveMillis)
	spent := time.Duration(millis) * time.Millisecond
	if since := m.activeSince(); !since.IsZero() {
		spent += max(min(m.now.Sub(since), longestActive), 0)
	}
	return spent
}

// longestActive bounds the time in an edited record, so that sums cannot overflow.
const longestActive = 100 * 365 * 24 * time.Hour

func boundedMillis(millis int64) int64 { return max(min(millis, longestActive.Milliseconds()), 0) }

// activeSince returns since when the attempt counts against the active deadline. It is zero while the attempt does
// not count.
func (m *machine) activeSince() time.Time {
	attempt, state := m.record.Attempt, CurrentState(m.record)
	switch {
	case !state.Starting() && !state.Running() && state != Unknown:
		return time.Time{}
	case attempt.ActiveSince != nil:
		return attempt.ActiveSince.Time
	}
	since := m.startedAt()
	for _, t := range m.record.Transitions {
		if t.Attempt == attempt.ID && countsAsActive(State(t.State), attempt) && (since.IsZero() || t.Time.Time.Before(since)) {
			since = t.Time.Time
		}
	}
	return since
}

// countsAsActive reports whether a state counts against the active deadline. Nothing counts before the first driver's
// start. After that, each attempt counts from its launch.
func countsAsActive(state State, attempt v1alpha1.Attempt) bool {
	if state == DriverRequested {
		return attempt.ActiveMillis > 0
	}
	return state.Starting() || state.Running()
}

// startedAt returns when the driver's container started, as its node reports it. It is zero if that is unknown. A
// node reports whole seconds, rounded down, so one second is added.
func (m *machine) startedAt() time.Time {
	driver := m.seen.Driver
	if driver == nil || driver.RunningSince.IsZero() {
		return time.Time{}
	}
	at := driver.RunningSince.Add(time.Second)
	if since := m.record.Attempt.Since.Time; at.Before(since) {
		return since
	}
	if at.After(m.now) {
		return m.now
	}
	return at
}

// countActive stores the active time in the record. since is when the attempt began to count, as known before the
// last transition; zero if it did not count.
func (m *machine) countActive(since time.Time) {
	attempt := &m.record.Attempt
	if now := m.activeSince(); !now.IsZero() {
		stamp := outbox.RecordTime(now)
		attempt.ActiveSince = &stamp
		return
	}
	if !since.IsZero() {
		spent := max(m.now.Sub(since).Milliseconds(), 1) // never 0 once a driver has started
		attempt.ActiveMillis = boundedMillis(boundedMillis(attempt.ActiveMillis) + boundedMillis(spent))
	}
	attempt.ActiveSince = nil
}
