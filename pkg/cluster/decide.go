package cluster

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// releaseCheck is how often it is checked whether deleted objects are gone, in case a watch event is missing.
const releaseCheck = 30 * time.Second

// Decide advances a cluster as far as the observation allows. It never changes the given record, which is nil for a
// cluster that was never reconciled. The returned record is never nil.
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
	m.recordSpec()
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

// Understands reports whether this version of Firesteel can work with a record. If it cannot, a newer version wrote
// the record, or a user edited it. Then the running cluster is left alone until it is deleted.
func Understands(record *v1alpha1.Record) bool {
	state := Current(record)
	return !record.HasNewerFormat() && (state == "" || slices.Contains(States, state))
}

// Current returns the state of a record; empty if there is no record.
func Current(record *v1alpha1.Record) State { return State(outbox.Current(record).State) }

// machine holds the state of one call of Decide.
type machine struct {
	record *v1alpha1.Record
	policy Policy
	seen   Observation
	now    time.Time

	changed     bool
	specAdopted bool
	decision    Decision
}

// advance takes one step and reports whether another may follow.
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
		return m.restart()
	default:
		return m.enter(Submitted, "The status was not understood: the cluster is examined again.")
	}
}

func (m *machine) examine(state State) health {
	return examine(state, m.seen, m.policy.NeededWorkers, m.now)
}

// start creates the cluster and waits for its master and workers.
func (m *machine) start() bool {
	switch {
	case m.policy.Refused != nil:
		return m.fail(Failed, *m.policy.Refused)
	case m.seen.Refused != nil:
		cause := *m.seen.Refused
		cause.Message = "Failed to request Spark cluster from scheduler backend. " + cause.Message
		return m.fail(SchedulingFailure, cause)
	case m.policy.Suspend && m.seen.Created.IsZero():
		m.setClaim(nil) // once it is resumed, it begins to wait
		m.decision.Held = lifecycle.HeldSuspended
		return false
	case m.seen.Room != nil && m.awaitsRoom():
		return m.hold()
	case !m.seen.Ensured:
		m.ensure()
		return false
	}
	m.decision.PollInterval = pollFast
	if m.examine(Submitted).healthy {
		return m.enter(RunningHealthy, "Cluster has reached ready state.")
	}
	if slow := m.startedAt().Add(ordinaryStart); m.now.Before(slow) {
		m.requeueAt(slow)
	}
	return m.timeOut()
}

// awaitsRoom takes over the claim, and reports whether the cluster is not created yet because of the quotas.
func (m *machine) awaitsRoom() bool {
	m.setClaim(m.seen.Room.Claim)
	return !m.seen.Room.Confirmed
}

// hold waits for room in the quotas. Without a deadline of its own a watch ends it: of the quotas, or of the cluster.
func (m *machine) hold() bool {
	room := m.seen.Room
	if room.Refused != nil {
		return m.fail(SchedulingFailure, *room.Refused)
	}
	m.decision.Obstacle = room.Waiting
	if !room.RetryAt.IsZero() {
		m.requeueAt(room.RetryAt)
	}
	return false
}

// setClaim records what the cluster asks of the quotas.
func (m *machine) setClaim(claim *v1alpha1.QuotaClaim) {
	if !equality.Semantic.DeepEqual(m.record.Quota, claim) {
		m.record.Quota, m.changed = claim.DeepCopy(), true
	}
}

// run keeps a running cluster as its spec says. A running cluster never ends by itself: a lost master returns, and a
// refused edit leaves the objects unchanged.
func (m *machine) run(state State) bool {
	h := m.examine(state)
	if m.seen.Complete {
		m.setClaim(nil) // the quotas count the Pods
	}
	switch {
	case h.wrong.Reason != "" && state == RunningHealthy && outbox.HasRoomForProgress(m.record):
		return m.enter(Degraded, h.wrong.Message())
	case h.healthy && state == Degraded && outbox.HasRoomForProgress(m.record):
		return m.enter(RunningHealthy, "Cluster has recovered.")
	case !h.due.IsZero():
		m.requeueAt(h.due)
	}
	m.decision.PollInterval = pollFast
	if h.healthy {
		m.decision.PollInterval = pollSlow
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

// ensure creates or changes the objects. If the last try could not finish, it waits until RetryAt first.
func (m *machine) ensure() {
	if m.seen.Awaited != nil && m.now.Before(m.seen.RetryAt) {
		m.requeueAt(m.seen.RetryAt)
		return
	}
	m.decision.Effect = Ensure
}

// conclude releases the objects of a cluster that has ended.
func (m *machine) conclude() bool {
	if !m.released() {
		return false
	}
	return m.terminate("Spark cluster resources are released after its failure.", v1alpha1.OutcomeFailed)
}

// shutDown releases a cluster that the user deleted, in any state.
func (m *machine) shutDown() bool {
	message := "Spark cluster has been shutdown as requested."
	if !m.released() {
		if !m.deletionTimedOut() {
			return false
		}
		message = fmt.Sprintf("%s These objects are left terminating: %s.", message, diagnosis.Objects(m.seen.Left))
	}
	outcome := v1alpha1.OutcomeDeleted
	if Current(m.record).AttemptEnded() {
		outcome = v1alpha1.OutcomeFailed
	}
	return m.terminate(message, outcome)
}

// deletionTimedOut reports whether the deletion stops waiting for objects that stay, such as a Pod on a lost node.
func (m *machine) deletionTimedOut() bool {
	if m.decision.Effect != NoEffect || m.policy.DeletionGrace <= 0 {
		return false
	}
	due := m.seen.Deleted.Add(m.policy.DeletionGrace)
	if m.now.Before(due) {
		m.requeueAt(due)
		return false
	}
	return true
}

// released reports whether no object of the cluster is left. If one is, it sets the effect that deletes it.
func (m *machine) released() bool {
	switch {
	case m.seen.Released:
		return true
	case !m.seen.ReleaseAccepted:
		m.decision.Effect = Release
	default:
		m.decision.Held = HeldReleasing
		m.requeueAt(m.now.Add(releaseCheck))
	}
	return false
}

// restart begins another attempt after a cluster has ended and its spec was edited. Until then it deletes what a replica has created late,
// that led the cluster before.
func (m *machine) restart() bool {
	switch {
	case !m.seen.Deleted.IsZero():
		return false
	case !edited(m.record, m.policy):
		m.released()
		return false
	}
	if outbox.IsFull(m.record) {
		m.decision.Held = lifecycle.HeldEventsUndelivered
		return false
	}
	previous := m.record.Attempt
	m.record.Previous = &previous
	m.seen = Observation{Room: m.seen.Room} // all else was about the previous attempt
	next := v1alpha1.Attempt{ID: previous.ID + 1}
	next.TakeUnknown(previous)
	return m.begin(next, "The spec was edited: the cluster is created again.")
}

// begin starts an attempt.
func (m *machine) begin(attempt v1alpha1.Attempt, message string) bool {
	attempt.Since = outbox.RecordTime(m.now)
	m.record.Attempt, m.record.Quota = attempt, nil
	m.policy.Spec.Note(m.record)
	return m.enter(Submitted, message)
}

// AwaitsCreation reports whether the cluster is about to be created: it begins, or begins again after an edit.
func AwaitsCreation(record *v1alpha1.Record, policy Policy) bool {
	state := Current(record)
	return state == "" || state == Submitted || state == ResourceReleased && edited(record, policy)
}

// edited reports whether the spec differs from that of the last attempt.
func edited(record *v1alpha1.Record, policy Policy) bool {
	return policy.Spec.Since(record) == spec.Edited
}

// recordSpec records the spec of the attempt. While the attempt is starting, an edit restarts its timeout. After the
// attempt has ended, an edit belongs to the next one.
func (m *machine) recordSpec() {
	state, change := Current(m.record), m.policy.Spec.Since(m.record)
	if m.policy.Spec.Hash == nil || !m.seen.Deleted.IsZero() || change == spec.Edited && (state.AttemptEnded() || state == ResourceReleased) {
		return
	}
	if change == spec.Edited && state == Submitted {
		m.record.Attempt.Since = outbox.RecordTime(m.now)
	}
	if change == spec.Edited && m.seen.Room == nil {
		m.setClaim(nil) // it was for another number of Pods, and scaling is not held
	}
	m.specAdopted = change == spec.Unknowable
	m.changed = m.changed || change != spec.Unchanged
	m.policy.Spec.Note(m.record)
}

func (m *machine) requeueAt(at time.Time) {
	if m.decision.RequeueAt.IsZero() || at.Before(m.decision.RequeueAt) {
		m.decision.RequeueAt = at
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
