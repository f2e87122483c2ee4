package lifecycle

import (
	"fmt"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// follow advances an attempt whose driver was launched.
func (m *machine) follow(state State) bool {
	driver := m.seen.Driver
	m.recordDriverGone()
	m.recordExecutorsReady(state)
	m.recordExecutorsComplete(state)
	switch {
	case m.record.Launch == nil:
		return m.failNotUnderstood("UnknownLaunch")
	case driver != nil && driver.End != nil: // even if the Pod is gone: its end is known
		return m.end(*driver.End)
	case m.mustStop(): // also if its Pod is gone: the user wanted that
		return m.fail(Failed, *m.policy.Stop)
	case m.seen.DriverGone, m.record.Launch.Released: // released already: adopted without a driver
		return m.fail(Failed, driverLostCause(driver))
	case m.checkActiveDeadline():
		return true
	case m.driverLost():
		return m.fail(Failed, nodeLostCause(driver))
	case state == Unknown:
		return m.leaveUnknown()
	case m.policy.HasUnknown && m.driverUnknown() && outbox.HasRoomForProgress(m.record):
		return m.enter(Unknown, "The driver's node does not report the driver's state any more.")
	case driver != nil && state == DriverRequested && driver.Started:
		return m.enter(DriverStarted, "Driver has started running.")
	case driver != nil && (state == DriverRequested || state == DriverStarted) && driver.Ready:
		return m.enter(DriverReady, "Driver has reached ready state.")
	case m.heldUp(state):
		return true
	case state == DriverRequested, state == DriverStarted:
		m.setObstacle()
		return m.timeOut(state)
	default:
		return m.followExecutors(state)
	}
}

// driverLost reports whether the driver's Pod is overdue: it was deleted, its time is over, and how it ended is
// unknown. Within its own grace period the driver may still live. A driver that the user started has no such time.
func (m *machine) driverLost() bool {
	driver := m.seen.Driver
	if driver == nil || !driver.Terminating {
		return false
	}
	m.held = HeldDriverTerminating
	limit := m.policy.Timeouts.ForceTermination
	if limit <= 0 {
		return false
	}
	if due := driver.ForceDeleteAt(limit); m.now.Before(due) {
		m.requeueAt(due)
		return false
	}
	return true
}

func driverLostCause(driver *Driver) Cause {
	if driver != nil && driver.Disruption != nil {
		return *driver.Disruption
	}
	return Cause{
		Class: ClassInfrastructure, Reason: ReasonDriverLost,
		Message: "Driver removed. This could be caused by 'exit' called in the driver process, or by a deletion of the Pod.",
	}
}

// reasonNodeLost is the reason of an attempt whose deleted driver Pod does not disappear. Kubernetes uses the same
// for a Pod whose node does not answer.
const reasonNodeLost = "NodeLost"

func nodeLostCause(driver *Driver) Cause {
	cause := Cause{
		Class: ClassInfrastructure, Reason: reasonNodeLost,
		Message: "The driver Pod was deleted and does not disappear: its node, or the kubelet there, does not answer. It is deleted by force. " +
			"Behind a network partition the driver may still run, beside the next one.",
	}
	if driver.Disruption != nil {
		cause.Detail = driver.Disruption.Message
	}
	return cause
}

// PreparationTime is how long a node may prepare a Pod before that is reported as an obstacle.
const PreparationTime = time.Minute

// PreparingCause is why a Pod does not start whose node has not prepared its volumes and network. what names the Pod.
func PreparingCause(what string) *Cause {
	return &Cause{
		Class: ClassInfrastructure, Reason: "PodNotReadyToStartContainers",
		Message: fmt.Sprintf("The %s waits on its node for its volumes or its network: look for a volume, Secret or ConfigMap "+
			"that does not exist; kubectl describe shows the Pod's events.", what),
	}
}

// setObstacle sets what keeps the driver from starting.
func (m *machine) setObstacle() {
	driver := m.seen.Driver
	switch {
	case driver == nil:
	case driver.Waiting != nil:
		m.obstacle = driver.Waiting
	case driver.PreparingSince.IsZero():
	case m.now.Before(driver.PreparingSince.Add(PreparationTime)):
		m.requeueAt(driver.PreparingSince.Add(PreparationTime))
	default:
		m.obstacle = PreparingCause("driver Pod")
	}
}

const (
	slowDriver      = "The driver has not responded to the initial health check request within the allotted start-up time."
	slowDriverByAPI = "This can be configured by setting .spec.applicationTolerations.applicationTimeoutConfig."
	slowExecutors   = "The Spark application failed to get enough executors in the given time threshold."
)

// wait is the time limit of a state, and what follows it.
type wait struct {
	limit   time.Duration
	next    State
	message string
}

// waits returns the time limit of a state.
func (m *machine) waits(state State) wait {
	timeouts := m.policy.Timeouts
	executors := wait{timeouts.ExecutorStart, ExecutorsStartTimedOut, slowExecutors}
	switch {
	case state == DriverRequested:
		return wait{timeouts.DriverStart, DriverStartTimedOut, slowDriver}
	case state == DriverStarted && !m.policy.ExecutorsFromStart:
		return wait{timeouts.DriverReady, DriverReadyTimedOut, slowDriver}
	case state == DriverStarted && (!m.policy.Executors.Requested() || m.record.Launch.ExecutorsReady):
		return wait{}
	case state == DriverStarted, state == DriverReady, state == InitializedBelowThresholdExecutors:
		return executors
	default:
		return wait{}
	}
}

// limitSource names what sets the limit of a wait.
func (m *machine) limitSource(wait wait) string {
	sources := m.policy.Sources
	switch {
	case wait.next == ExecutorsStartTimedOut && sources.ExecutorStart != "":
		return limitText(wait.limit, sources.ExecutorStart)
	case wait.next == ExecutorsStartTimedOut:
		return ""
	case wait.next == DriverStartTimedOut && sources.DriverStart != "":
		return limitText(wait.limit, sources.DriverStart)
	default:
		return slowDriverByAPI
	}
}

func (m *machine) timeOut(state State) bool {
	wait := m.waits(state)
	if wait.limit <= 0 {
		return false
	}
	due := outbox.Current(m.record).Time.Add(wait.limit)
	if m.now.Before(due) {
		m.requeueAt(due)
		return false
	}
	cause := Cause{Class: ClassTimeout, Reason: string(wait.next), Message: wait.message}
	if wait.next == ExecutorsStartTimedOut {
		cause.addSentence(fmt.Sprintf("%d of %d were ready.", m.seen.ReadyExecutors, m.policy.Executors.Init))
	}
	cause.addSentence(m.limitSource(wait))
	switch {
	case wait.next == ExecutorsStartTimedOut:
	case m.obstacle != nil:
		cause.Reason, cause.Message = m.obstacle.Reason, cause.Message+" "+m.obstacle.Message
	default:
		cause.addSentence(unreadyContainers(m.seen.Driver))
	}
	return m.fail(wait.next, cause)
}
