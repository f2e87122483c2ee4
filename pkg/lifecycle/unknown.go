package lifecycle

import "time"

// unresponsiveAfter is how long a Pod may outlast its grace period before its node counts as unresponsive: a healthy
// kubelet kills the Pod and reports it.
const unresponsiveAfter = 30 * time.Second

// driverUnknown reports whether the driver's state is unknown: its node does not answer, or does not stop the Pod.
func (m *machine) driverUnknown() bool {
	driver := m.seen.Driver
	switch {
	case driver == nil:
		return false
	case driver.Unknown, !driver.Terminating:
		return driver.Unknown
	}
	due := driver.TerminatingUntil.Add(unresponsiveAfter)
	if m.now.Before(due) {
		m.requeueAt(due)
		return false
	}
	return true
}

// leaveUnknown returns to the state before Unknown. A Pod that is not seen proves nothing.
func (m *machine) leaveUnknown() bool {
	if m.seen.Driver == nil || m.driverUnknown() {
		return false
	}
	return m.enter(m.previousState(), "The driver's node reports the driver's state again.")
}

// previousState returns the state before the current one, if its driver was alive then.
func (m *machine) previousState() State {
	if n := len(m.record.Transitions); n > 1 {
		before := State(m.record.Transitions[n-2].State)
		if before.Starting() || before.Running() {
			return before
		}
	}
	return DriverRequested
}
