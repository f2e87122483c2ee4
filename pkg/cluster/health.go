package cluster

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

const (
	// pollFast is the interval for a cluster that is starting or degraded, pollSlow for a healthy one.
	pollFast, pollSlow = 2 * time.Second, 10 * time.Second
	// patience is how long a ready cluster's master may fail to answer before that is reported: it may pause, and its
	// Pod may be replaced.
	patience = 20 * time.Second
	// ordinaryStart is how long a normal start takes. Until then, missing workers are not reported.
	ordinaryStart = 30 * time.Second
)

// health is the result of the master's page: whether it answers and has the needed workers.
type health struct {
	healthy bool
	// wrong is why the cluster is not healthy. If it is neither healthy nor has a reason, its health is unknown.
	wrong diagnosis.Explanation
	// due is when a master that does not answer is reported; zero if it answers.
	due time.Time
}

func (h health) known() bool { return h.healthy || h.wrong.Reason != "" }

// examine derives the health of a cluster in a state from an observation.
func examine(state State, seen Observation, needed int32, now time.Time) health {
	master := seen.Master
	switch {
	case master == nil:
		return health{}
	case !master.FailingSince.IsZero():
		if due := master.FailingSince.Add(patience); state == RunningHealthy && seen.Reported.Ready && now.Before(due) {
			return health{due: due}
		}
		return health{wrong: diagnosis.MasterNotAnswering(master.Problem)}
	case master.Closed:
		return workerHealth(seen.ReadyWorkers, needed)
	case !master.Alive:
		return health{wrong: diagnosis.MasterNotAlive()}
	default:
		return workerHealth(master.Workers, needed)
	}
}

func workerHealth(workers, needed int32) health {
	if workers < needed {
		return health{wrong: diagnosis.TooFewWorkers(needed)}
	}
	return health{healthy: true}
}

// warnings returns sentences about what readers of the cluster's status would not expect.
func warnings(state State, master *Master) []string {
	if master == nil || !master.Closed || state.AttemptEnded() || state == ResourceReleased {
		return nil
	}
	return []string{diagnosis.MasterPageClosed(master.Problem)}
}

// startedAt returns when the start of the current attempt began.
func (m *machine) startedAt() time.Time { return later(m.seen.Created, m.record.Attempt.Since.Time) }

// timeOut fails a cluster whose master never answers.
func (m *machine) timeOut() bool {
	limit, master := m.policy.MasterStartTimeout, m.seen.Master
	if limit <= 0 || master != nil && master.FailingSince.IsZero() {
		return false
	}
	since := m.startedAt()
	if master != nil {
		since = later(since, master.FailingSince) // it may have answered before
	}
	due := since.Add(limit)
	switch {
	case m.now.Before(due):
		m.requeueAt(due)
		return false
	case master == nil: // a new leader polls the master first
		return false
	}
	cause := because(diagnosis.MasterStartTimedOut(limit, master.Problem), m.seen.Obstacle).Cause(lifecycle.ClassTimeout)
	if obstacle := m.seen.Obstacle; obstacle != nil {
		cause.Reason = obstacle.Reason
	}
	return m.fail(Failed, *cause)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// readiness reports whether jobs can be submitted. If the health is unknown, the last reported readiness stays.
func (m *machine) readiness(h health) Readiness {
	current, state := outbox.Current(m.record), Current(m.record)
	end := outbox.LastEnd(m.record)
	switch {
	case !m.seen.Deleted.IsZero() && (state == Submitted || state.Running()):
		return m.deleting()
	case state == Submitted:
		return m.starting(h)
	case state == RunningHealthy && !h.known() && !m.seen.Reported.Ready:
		return readinessOf(diagnosis.MasterNotAsked())
	case h.healthy && state.Running(), state == RunningHealthy && !h.known():
		return readinessOf(diagnosis.ClusterReady(string(RunningHealthy), m.policy.NeededWorkers))
	case h.known() && state.Running():
		return readinessOf(because(h.wrong, m.obstacle()))
	case end != nil && end.End.Reason != "":
		return Readiness{Reason: end.End.Reason, Message: end.End.Message}
	default:
		return Readiness{Reason: current.State, Message: current.Message}
	}
}

// deleting returns what a deleted cluster still waits for. It is written once, when the deletion of all objects is
// accepted, and stays true while they disappear.
func (m *machine) deleting() Readiness {
	reported, left := m.seen.Reported, m.seen.Left
	if reported.Reason == diagnosis.ReasonDeleting || reported.Reason != "" && m.decision.Held != HeldReleasing {
		return reported
	}
	return readinessOf(diagnosis.ClusterDeleting(left))
}

// readinessOf returns the readiness that an explanation gives.
func readinessOf(explanation diagnosis.Explanation) Readiness {
	return Readiness{Ready: explanation.Status == metav1.ConditionTrue, Reason: explanation.Reason, Message: explanation.Message()}
}

// obstacle returns what currently keeps objects from being created or Pods from starting.
func (m *machine) obstacle() *lifecycle.Cause { return cmp.Or(m.seen.Awaited, m.seen.Obstacle) }

// because explains what is missing by an obstacle, if there is one. The remedy is then that of the obstacle.
func because(missing diagnosis.Explanation, obstacle *lifecycle.Cause) diagnosis.Explanation {
	if obstacle != nil {
		missing.Summary, missing.Remedy = missing.Summary+" "+obstacle.Message, ""
	}
	return missing
}

// starting returns what is missing in a cluster that was never ready.
func (m *machine) starting(h health) Readiness {
	slow := m.startedAt().Add(ordinaryStart)
	switch obstacle := m.obstacle(); {
	case m.decision.Held == lifecycle.HeldSuspended:
		return readinessOf(diagnosis.ClusterSuspended())
	case m.seen.Room != nil && m.seen.Room.Waiting != nil:
		return readinessOf(diagnosis.Hindered(m.seen.Room.Waiting))
	case obstacle != nil:
		return readinessOf(diagnosis.Hindered(obstacle))
	case h.known() && !m.now.Before(slow):
		return readinessOf(h.wrong)
	default:
		return readinessOf(diagnosis.ClusterStarting(string(Submitted)))
	}
}
