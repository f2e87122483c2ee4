package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// releaseCheck is how often it is looked whether what was deleted is gone, should its watch not tell.
const releaseCheck = 30 * time.Second

// Decide takes a cluster as far as what is observed allows. It never changes the record it is given; nil stands for a
// cluster that was never looked at. The record returned is never nil.
func Decide(record *v1alpha1.Record, policy Policy, seen Observation, now time.Time) (*v1alpha1.Record, Decision) {
	m := machine{policy: policy, seen: seen, now: now}
	if record == nil {
		m.record = &v1alpha1.Record{}
		m.begin(v1alpha1.Attempt{}, "Spark cluster has been created on Kubernetes Cluster.")
	} else {
		m.record = record.DeepCopy()
		if !Understands(record) && seen.Deleted.IsZero() {
			return m.record, Decision{Held: lifecycle.HeldNotUnderstood}
		}
		outbox.Repair(m.record)
	}
	m.noteSpec()
	for m.advance() {
		m.decision = Decision{}
	}
	state := Current(m.record)
	m.decision.Changed, m.decision.SpecAdopted = m.changed, m.specAdopted
	m.decision.Ready = m.readiness(m.examine(state))
	m.decision.Warnings = warnings(state, m.seen.Master)
	outbox.Prune(m.record)
	return m.record, m.decision
}

// Understands reports whether this version of Firesteel can tell how a cluster with a record stands. If it cannot, a newer
// version wrote the record, or somebody edited it: what runs is left alone until the cluster is deleted.
func Understands(record *v1alpha1.Record) bool {
	state := Current(record)
	return !record.Foreign() && (state == "" || slices.Contains(States, state))
}

// Current is the state of a record; empty where there is none.
func Current(record *v1alpha1.Record) State { return State(outbox.Current(record).State) }

// AtRest says that a cluster is over: nothing follows but its deletion, unless somebody edits its spec.
func AtRest(record *v1alpha1.Record, policy Policy) bool {
	return Current(record) == ResourceReleased && !edited(record, policy)
}

// machine is one run of Decide.
type machine struct {
	record *v1alpha1.Record
	policy Policy
	seen   Observation
	now    time.Time

	changed     bool
	specAdopted bool
	decision    Decision
}

// advance takes one step and says whether there may be another.
func (m *machine) advance() bool {
	switch state := Current(m.record); {
	case !m.seen.Deleted.IsZero() && state != ResourceReleased:
		return m.shutDown()
	case state == Submitted:
		return m.start()
	case state.Running():
		return m.run(state)
	case state.AttemptEnded():
		return m.conclude()
	case state == ResourceReleased:
		return m.anew()
	default:
		return m.enter(Submitted, "The status was not understood: the cluster is looked at anew.")
	}
}

func (m *machine) examine(state State) health {
	return examine(state, m.seen, m.policy.NeededWorkers, m.now)
}

// start has the cluster created, and waits for its master and workers.
func (m *machine) start() bool {
	switch {
	case m.policy.Refused != nil:
		return m.fail(Failed, *m.policy.Refused)
	case m.seen.Refused != nil:
		cause := *m.seen.Refused
		cause.Message = "Failed to request Spark cluster from scheduler backend. " + cause.Message
		return m.fail(SchedulingFailure, cause)
	case m.policy.Suspend && m.seen.Created.IsZero():
		m.decision.Held = lifecycle.HeldSuspended
		return false
	case !m.seen.Ensured:
		m.ensure()
		return false
	}
	m.decision.Ask = askOften
	if m.examine(Submitted).well {
		return m.enter(RunningHealthy, "Cluster has reached ready state.")
	}
	if slow := m.startedAt().Add(ordinaryStart); m.now.Before(slow) {
		m.lookAgain(slow)
	}
	return m.timeOut()
}

// run looks after a cluster that has come to run. It never ends by itself: a master that is lost comes back, and an edit
// that is refused leaves what there is.
func (m *machine) run(state State) bool {
	h := m.examine(state)
	switch {
	case h.reason != "" && state == RunningHealthy && outbox.HasRoomForProgress(m.record):
		return m.enter(Degraded, h.message)
	case h.well && state == Degraded && outbox.HasRoomForProgress(m.record):
		return m.enter(RunningHealthy, "Cluster has recovered.")
	case !h.due.IsZero():
		m.lookAgain(h.due)
	}
	m.decision.Ask = askOften
	if h.well {
		m.decision.Ask = askSeldom
	}
	switch {
	case m.policy.Refused != nil:
		m.decision.Refused = m.policy.Refused
	case m.seen.Refused != nil:
		m.decision.Refused = m.seen.Refused
	case !m.seen.Ensured:
		m.ensure()
	}
	m.decision.Obstacle = m.obstacle()
	return false
}

// ensure has the objects made, once what is awaited may be gone.
func (m *machine) ensure() {
	if m.seen.Awaited != nil && m.now.Before(m.seen.TryAgain) {
		m.lookAgain(m.seen.TryAgain)
		return
	}
	m.decision.Effect = Ensure
}

// conclude releases what is left of a cluster that has ended.
func (m *machine) conclude() bool {
	if !m.released() {
		return false
	}
	return m.terminate("Spark cluster resources are released after its failure.", v1alpha1.OutcomeFailed)
}

// shutDown releases a cluster that the user deleted, whatever state it is in.
func (m *machine) shutDown() bool {
	message := "Spark cluster has been shutdown as requested."
	if !m.released() {
		if !m.leaves() {
			return false
		}
		message = fmt.Sprintf("%s What does not go is left terminating: %s.", message, named(m.seen.Left))
	}
	outcome := v1alpha1.OutcomeDeleted
	if Current(m.record).AttemptEnded() {
		outcome = v1alpha1.OutcomeFailed
	}
	return m.terminate(message, outcome)
}

// leaves reports whether a deletion waits no more for what does not go, such as a Pod whose node is lost.
func (m *machine) leaves() bool {
	if m.decision.Effect != NoEffect || m.policy.DeletionGrace <= 0 {
		return false
	}
	due := m.seen.Deleted.Add(m.policy.DeletionGrace)
	if m.now.Before(due) {
		m.lookAgain(due)
		return false
	}
	return true
}

// released says that nothing of the cluster is left; where it is, it sets the effect that gets there.
func (m *machine) released() bool {
	switch {
	case m.seen.Released:
		return true
	case !m.seen.ReleaseAccepted:
		m.decision.Effect = Release
	default:
		m.decision.Held = HeldReleasing
		m.lookAgain(m.now.Add(releaseCheck))
	}
	return false
}

// anew begins again with a cluster that has ended, once its spec is edited.
func (m *machine) anew() bool {
	if !m.seen.Deleted.IsZero() || !edited(m.record, m.policy) {
		return false
	}
	if outbox.IsFull(m.record) {
		m.decision.Held = lifecycle.HeldEventsUndelivered
		return false
	}
	previous := m.record.Attempt
	m.record.Previous = &previous
	m.seen = Observation{} // was of the attempt before
	next := v1alpha1.Attempt{ID: previous.ID + 1}
	next.TakeUnknown(previous)
	return m.begin(next, "The spec was edited: the cluster is created anew.")
}

// begin begins an attempt.
func (m *machine) begin(attempt v1alpha1.Attempt, message string) bool {
	attempt.Since = outbox.RecordTime(m.now)
	m.record.Attempt = attempt
	m.policy.Spec.Note(m.record)
	return m.enter(Submitted, message)
}

// edited says that the spec is another than that of the last attempt.
func edited(record *v1alpha1.Record, policy Policy) bool {
	return policy.Spec.Since(record) == spec.Edited
}

// noteSpec records which spec the attempt is of. While it waits for its start an edit gives it time anew; once it has
// ended an edit is what the next one begins with.
func (m *machine) noteSpec() {
	state, change := Current(m.record), m.policy.Spec.Since(m.record)
	if m.policy.Spec.Hash == nil || !m.seen.Deleted.IsZero() || change == spec.Edited && (state.AttemptEnded() || state == ResourceReleased) {
		return
	}
	if change == spec.Edited && state == Submitted {
		m.record.Attempt.Since = outbox.RecordTime(m.now)
	}
	m.specAdopted = change == spec.Unknowable
	m.changed = m.changed || change != spec.Unchanged
	m.policy.Spec.Note(m.record)
}

func (m *machine) lookAgain(at time.Time) {
	if m.decision.LookAgain.IsZero() || at.Before(m.decision.LookAgain) {
		m.decision.LookAgain = at
	}
}

func (m *machine) enter(state State, message string) bool {
	return m.append(v1alpha1.Transition{State: string(state), Message: message})
}

// fail ends the attempt. No other follows unless the spec is edited.
func (m *machine) fail(state State, cause lifecycle.Cause) bool {
	return m.append(v1alpha1.Transition{State: string(state), Message: cause.Message, End: &v1alpha1.AttemptEnd{
		Outcome: v1alpha1.OutcomeFailed, Class: cause.Class,
		Reason: outbox.Clip(cause.Reason, outbox.MaxReason), Message: outbox.Clip(cause.Message, outbox.MaxEvidence),
	}})
}

func (m *machine) terminate(message, outcome string) bool {
	return m.append(v1alpha1.Transition{State: string(ResourceReleased), Message: message, Outcome: outcome})
}

func (m *machine) append(t v1alpha1.Transition) bool {
	outbox.Append(m.record, t, m.now)
	m.changed = true
	return true
}
