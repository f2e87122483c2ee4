package cluster

import (
	"cmp"
	"fmt"
	"strings"
	"time"

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

// The reasons why a cluster is not ready. Its states and the obstacles of its Pods are reasons, too.
const (
	// ReasonMasterNotAsked: the cluster was adopted as running, and no controller has read its master's page yet.
	ReasonMasterNotAsked     = "MasterNotAsked"
	ReasonMasterNotAnswering = "MasterNotAnswering"
	ReasonMasterNotAlive     = "MasterNotAlive"
	ReasonTooFewWorkers      = "TooFewWorkers"
	// ReasonDeleting: the user deleted the cluster, and some of its objects are left.
	ReasonDeleting = "Deleting"
)

// namedLeft bounds the number of objects that are named in the message of a deleted cluster.
const namedLeft = 10

// health is the result of the master's page: whether it answers and has the needed workers.
type health struct {
	healthy bool
	// reason and message say what is wrong. If the cluster is neither healthy nor has a reason, its health is
	// unknown.
	reason, message string
	// due is when a master that does not answer is reported; zero if it answers.
	due time.Time
}

func (h health) known() bool { return h.healthy || h.reason != "" }

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
		return health{reason: ReasonMasterNotAnswering, message: "The master does not answer on its page: " + master.Problem + "."}
	case master.Closed:
		return workerHealth(seen.ReadyWorkers, needed)
	case !master.Alive:
		return health{reason: ReasonMasterNotAlive, message: "The master answers and does not lead: it is in standby or recovers."}
	default:
		return workerHealth(master.Workers, needed)
	}
}

func workerHealth(workers, needed int32) health {
	if workers < needed {
		return health{reason: ReasonTooFewWorkers, message: fmt.Sprintf("Too few workers are registered with the master; needed are %d.", needed)}
	}
	return health{healthy: true}
}

// warnings returns sentences about what readers of the cluster's status would not expect.
func warnings(state State, master *Master) []string {
	if master == nil || !master.Closed || state.AttemptEnded() || state == ResourceReleased {
		return nil
	}
	return []string{fmt.Sprintf(
		"The master's page does not show which workers are registered: %s. Workers whose Pods are ready are counted instead.", master.Problem)}
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
	cause := lifecycle.Cause{
		Class: lifecycle.ClassTimeout, Reason: "MasterStartTimedOut",
		Message: fmt.Sprintf("The master has not answered within %s: %s.", limit, master.Problem),
	}
	if obstacle := m.seen.Obstacle; obstacle != nil {
		cause.Reason, cause.Message = obstacle.Reason, cause.Message+" "+obstacle.Message
	}
	return m.fail(Failed, cause)
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
		return Readiness{Reason: ReasonMasterNotAsked, Message: "The master has not been asked yet which workers are registered with it."}
	case h.healthy && state.Running(), state == RunningHealthy && !h.known():
		return Readiness{Ready: true, Reason: string(RunningHealthy), Message: fmt.Sprintf(
			"The master answers, and enough workers are registered with it; needed are %d.", m.policy.NeededWorkers)}
	case h.known() && state.Running():
		return Readiness{Reason: h.reason, Message: h.message + m.because()}
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
	if reported.Reason == ReasonDeleting || reported.Reason != "" && m.decision.Held != HeldReleasing {
		return reported
	}
	return Readiness{Reason: ReasonDeleting, Message: fmt.Sprintf("The cluster is being deleted. It is removed when these objects are gone: %s.", named(left))}
}

// named returns the names of the first objects that are left.
func named(left []string) string {
	names := strings.Join(left[:min(len(left), namedLeft)], ", ")
	if more := len(left) - namedLeft; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return names
}

// obstacle returns what currently keeps objects from being created or Pods from starting.
func (m *machine) obstacle() *lifecycle.Cause { return cmp.Or(m.seen.Awaited, m.seen.Obstacle) }

// because returns the likely reason for missing workers.
func (m *machine) because() string {
	if obstacle := m.obstacle(); obstacle != nil {
		return " " + obstacle.Message
	}
	return ""
}

// starting returns what is missing in a cluster that was never ready.
func (m *machine) starting(h health) Readiness {
	slow := m.startedAt().Add(ordinaryStart)
	switch obstacle := m.obstacle(); {
	case m.decision.Held == lifecycle.HeldSuspended:
		return Readiness{Reason: string(lifecycle.HeldSuspended), Message: "spec.suspend holds the creation."}
	case obstacle != nil:
		return Readiness{Reason: obstacle.Reason, Message: obstacle.Message}
	case h.known() && !m.now.Before(slow):
		return Readiness{Reason: h.reason, Message: h.message}
	default:
		return Readiness{Reason: string(Submitted), Message: "The master and the workers are being started."}
	}
}
