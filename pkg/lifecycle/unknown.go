package lifecycle

import "time"

// unresponsiveAfter is how long a Pod may outlast its grace before its node is taken to be out of touch: a kubelet that
// answers kills what is left and says so.
const unresponsiveAfter = 30 * time.Second

// driverUnknown says that nobody tells any more what the driver does: its node is lost, or does not do as it is told.
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

// leaveUnknown goes back to the state that the driver was lost in. A Pod that is not seen tells nothing.
func (m *machine) leaveUnknown() bool {
	if m.seen.Driver == nil || m.driverUnknown() {
		return false
	}
	return m.enter(m.previousState(), "The driver's node tells of the driver again.")
}

// previousState is the state that the application was in before the current one, where its driver lived then.
func (m *machine) previousState() State {
	if n := len(m.record.Transitions); n > 1 {
		before := State(m.record.Transitions[n-2].State)
		if before.Starting() || before.Running() {
			return before
		}
	}
	return DriverRequested
}
