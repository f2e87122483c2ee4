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
	// askOften is for a cluster that is awaited, and askSeldom for one that is well.
	askOften, askSeldom = 2 * time.Second, 10 * time.Second
	// patience is how long a master that answered may be silent before that is told: it may pause, and its Pod may
	// move on.
	patience = 20 * time.Second
	// ordinaryStart is how long a start takes at which nothing is amiss. What is lacking until then is not worth telling.
	ordinaryStart = 30 * time.Second
)

// The reasons why a cluster is not ready, beside its states and what keeps its Pods from starting.
const (
	// ReasonMasterNotAsked is of a cluster that is said to run, and that nobody has called ready yet: it was taken over.
	ReasonMasterNotAsked     = "MasterNotAsked"
	ReasonMasterNotAnswering = "MasterNotAnswering"
	ReasonMasterNotAlive     = "MasterNotAlive"
	ReasonTooFewWorkers      = "TooFewWorkers"
	// ReasonDeleting is of a cluster that the user deleted, while something is left of it.
	ReasonDeleting = "Deleting"
)

// namedLeft is how many objects are named that are left of a deleted cluster.
const namedLeft = 10

// health is what the master tells: whether it answers and has the workers that are needed.
type health struct {
	well bool
	// reason and message say what is amiss. Where it is not well and there is no reason, it is not known.
	reason, message string
	// due is when a silence becomes one to be told; zero where there is none.
	due time.Time
}

func (h health) known() bool { return h.well || h.reason != "" }

// examine reads the health of a cluster that is in a state off an observation.
func examine(state State, seen Observation, needed int32, now time.Time) health {
	master := seen.Master
	switch {
	case master == nil:
		return health{}
	case !master.FailingSince.IsZero():
		if due := master.FailingSince.Add(patience); state == RunningHealthy && seen.Told.Ready && now.Before(due) {
			return health{due: due}
		}
		return health{reason: ReasonMasterNotAnswering, message: "The master does not answer on its page: " + master.Problem + "."}
	case master.Closed:
		return staffed(seen.ReadyWorkers, needed)
	case !master.Alive:
		return health{reason: ReasonMasterNotAlive, message: "The master answers and does not lead: it stands by or recovers."}
	default:
		return staffed(master.Workers, needed)
	}
}

func staffed(workers, needed int32) health {
	if workers < needed {
		return health{reason: ReasonTooFewWorkers, message: fmt.Sprintf("Too few workers are registered with the master; needed are %d.", needed)}
	}
	return health{well: true}
}

// warnings say what is not as one would expect who reads the cluster's status.
func warnings(state State, master *Master) []string {
	if master == nil || !master.Closed || state.AttemptEnded() || state == ResourceReleased {
		return nil
	}
	return []string{fmt.Sprintf(
		"The master's page does not tell which workers are registered: %s. Those whose Pods are ready are counted instead.", master.Problem)}
}

// startedAt is when what runs now was begun with.
func (m *machine) startedAt() time.Time { return later(m.seen.Created, m.record.Attempt.Since.Time) }

// timeOut fails a cluster whose master does not come to answer.
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
		m.lookAgain(due)
		return false
	case master == nil: // who looks after the cluster only now asks first
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

// readiness says whether jobs can be submitted. What is not known now is as it was last told.
func (m *machine) readiness(h health) Readiness {
	current, state := outbox.Current(m.record), Current(m.record)
	end := outbox.LastEnd(m.record)
	switch {
	case !m.seen.Deleted.IsZero() && (state == Submitted || state.Running()):
		return m.leaving()
	case state == Submitted:
		return m.starting(h)
	case state == RunningHealthy && !h.known() && !m.seen.Told.Ready:
		return Readiness{Reason: ReasonMasterNotAsked, Message: "The master has not been asked yet which workers are registered with it."}
	case h.well && state.Running(), state == RunningHealthy && !h.known():
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

// leaving says what a deleted cluster still waits for. It is said once, when the deletion of all that there is is accepted, in
// words that stay true while that goes.
func (m *machine) leaving() Readiness {
	told, left := m.seen.Told, m.seen.Left
	if told.Reason == ReasonDeleting || told.Reason != "" && m.decision.Held != HeldReleasing {
		return told
	}
	return Readiness{Reason: ReasonDeleting, Message: fmt.Sprintf("The cluster is being deleted, and goes when all of this is gone: %s.", named(left))}
}

// named are the names of what is left, as many as people read.
func named(left []string) string {
	names := strings.Join(left[:min(len(left), namedLeft)], ", ")
	if more := len(left) - namedLeft; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return names
}

// obstacle is what keeps objects from being made or Pods from starting, as far as it is known and may pass.
func (m *machine) obstacle() *lifecycle.Cause { return cmp.Or(m.seen.Awaited, m.seen.Obstacle) }

// because says what may be the reason of a lack.
func (m *machine) because() string {
	if obstacle := m.obstacle(); obstacle != nil {
		return " " + obstacle.Message
	}
	return ""
}

// starting says what a cluster still lacks that is not ready for the first time.
func (m *machine) starting(h health) Readiness {
	slow := m.startedAt().Add(ordinaryStart)
	switch obstacle := m.obstacle(); {
	case m.decision.Held == lifecycle.HeldSuspended:
		return Readiness{Reason: string(lifecycle.HeldSuspended), Message: "The creation is held by spec.suspend."}
	case obstacle != nil:
		return Readiness{Reason: obstacle.Reason, Message: obstacle.Message}
	case h.known() && !m.now.Before(slow):
		return Readiness{Reason: h.reason, Message: h.message}
	default:
		return Readiness{Reason: string(Submitted), Message: "The master and the workers are being started."}
	}
}
