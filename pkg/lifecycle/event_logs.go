package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/eventlog"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// A sidecar that sends the driver's event log to the archive must not decide whether the driver runs. If it holds up the driver, or if the driver is refused
// with it, the driver is launched once more within the attempt, without it.

// sidecarPatience is how long the sidecar may hold up a driver.
const sidecarPatience = time.Minute

// heldUpSince returns since when a Pod waits for nothing but the start of the sidecar that sends its event log; zero if it does not.
func heldUpSince(pod *corev1.Pod) time.Time {
	statuses := pod.Status.InitContainerStatuses
	at := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == eventlog.Container })
	scheduled, prepared := condition(pod, corev1.PodScheduled), condition(pod, corev1.PodReadyToStartContainers)
	if at < 0 || ptr.Deref(statuses[at].Started, false) || pod.Status.Phase != corev1.PodPending ||
		scheduled == nil || scheduled.Status != corev1.ConditionTrue || prepared != nil && prepared.Status != corev1.ConditionTrue {
		return time.Time{}
	}
	since := scheduled.LastTransitionTime.Time
	if prepared != nil {
		since = later(since, prepared.LastTransitionTime.Time)
	}
	for _, before := range statuses[:at] {
		switch {
		case before.State.Running != nil && ptr.Deref(before.Started, false): // a sidecar, too
			since = later(since, before.State.Running.StartedAt.Time)
		case before.State.Terminated != nil && before.State.Terminated.ExitCode == 0:
			since = later(since, before.State.Terminated.FinishedAt.Time)
		default:
			return time.Time{} // another init container holds it up
		}
	}
	return since
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// readyBut reports whether a Pod is not ready for its sidecar for event logs alone, which the driver does not need.
func readyBut(pod *corev1.Pod) bool {
	unready := func(s corev1.ContainerStatus) bool { return !s.Ready }
	at := slices.IndexFunc(pod.Status.InitContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == eventlog.Container && !s.Ready })
	others := slices.ContainsFunc(pod.Status.InitContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name != eventlog.Container && !s.Ready })
	ready := condition(pod, corev1.PodReady)
	return at >= 0 && !others && ready != nil && ready.Reason == "ContainersNotReady" && len(pod.Status.ContainerStatuses) > 0 &&
		find(pod.Status.ContainerStatuses, unready) == nil
}

// heldUp reports whether the sidecar for event logs holds up the driver for too long.
func (m *machine) heldUp(state State) bool {
	driver := m.seen.Driver
	if state != DriverRequested || driver == nil || driver.HeldUpSince.IsZero() || driver.Terminating || m.record.Attempt.WithoutEventLogs != "" || m.followsUser() {
		return false
	}
	due := driver.HeldUpSince.Add(sidecarPatience)
	if m.now.Before(due) {
		m.requeueAt(due)
		return false
	}
	reason := fmt.Sprintf("it held up the driver for %s", sidecarPatience)
	if driver.Waiting != nil {
		reason += " (" + strings.TrimSuffix(driver.Waiting.Message, ".") + ")"
	}
	m.record.Launch.HeldUp, m.changed = outbox.Clip(reason, outbox.MaxMessage), true
	return true
}

// replaces reports whether a driver is launched in place of the one that its sidecar held up.
func (m *machine) replaces(state State) bool {
	return state == DriverRequested && m.record.Launch != nil && m.record.Launch.HeldUp != ""
}

// replace stops a driver that its sidecar held up, and launches another one in the same attempt. If the driver has started after all, it goes on.
func (m *machine) replace() bool {
	launch, driver := m.record.Launch, m.seen.Driver
	if driver != nil && !driver.Terminating && !m.seen.ReleaseAccepted && (driver.Started || driver.End != nil) {
		launch.HeldUp, m.changed = "", true
		return true
	}
	switch {
	case m.mustStop():
		return m.fail(Failed, *m.policy.Stop)
	case !m.released(time.Time{}), m.recordFull():
		return m.effect == NoEffect && (m.checkActiveDeadline() || m.timeOut(DriverRequested))
	}
	m.record.Attempt.WithoutEventLogs, m.record.Launch, m.record.Quota = launch.HeldUp, nil, nil
	m.seen = Observation{Deleted: m.seen.Deleted, HasOrphan: m.seen.HasOrphan, OrphanDriver: m.seen.OrphanDriver} // the rest is about the previous driver
	return m.enter(ScheduledToRestart, "The driver is launched once more, without the sidecar for its event log: "+launch.HeldUp+".")
}

// launchWithout notes that the driver was refused with its sidecar for event logs. It is launched once more, and what is refused then ends the attempt.
func (m *machine) launchWithout() {
	refused := m.seen.RefusedWithEventLogs
	if refused == nil || !CurrentState(m.record).Initializing() {
		return
	}
	m.record.Attempt.WithoutEventLogs = outbox.Clip("it was refused with it ("+strings.TrimSuffix(refused.Message, ".")+")", outbox.MaxMessage)
	m.seen.RefusedWithEventLogs, m.changed = nil, true
}
