package lifecycle

import "github.com/firesteel-dev/firesteel/pkg/outbox"

// Executors holds how many ready executors make an application healthy. The zero value asks for none.
type Executors struct {
	// Init is the number of executors with which the application counts as running.
	Init int
	// Min is the number below which a running application is below its threshold.
	Min int
	// Max is the number below which it runs with partial capacity; zero if there is no such number.
	Max int
	// Dynamic reports whether Spark itself sets the number. Then fewer than Max are not reported.
	Dynamic bool
}

// Requested reports whether executors are asked for.
func (e Executors) Requested() bool { return e.Init > 0 }

// stateFor returns the state of an application whose driver is ready, by the Apache operator's rules. wereReady
// reports whether Init executors were ready before: then the application runs, even if no transition was written yet.
func (e Executors) stateFor(state State, ready int, wereReady bool) State {
	running := state.Running() || wereReady && ready < e.Init
	enough := e.Init
	if running {
		enough = e.Min
	}
	switch {
	case !e.Requested(), running && e.Min <= 0:
		return RunningHealthy
	case ready >= enough && ready < e.Max && !e.Dynamic:
		return RunningWithPartialCapacity
	case ready >= enough:
		return RunningHealthy
	case running:
		return RunningWithBelowThresholdExecutors
	case ready > 0:
		return InitializedBelowThresholdExecutors
	default:
		return state
	}
}

// CountsExecutors reports whether the next decision depends on the number of ready executors.
func CountsExecutors(state State, policy Policy) bool {
	started := state == DriverStarted && policy.ExecutorsFromStart
	counted := started || state == DriverReady || state == InitializedBelowThresholdExecutors || state.Running()
	return counted && policy.Executors.Requested()
}

// executorMessages are the Apache operator's.
var executorMessages = map[State]string{
	InitializedBelowThresholdExecutors: "The application is running with less than minimal number of requested initial executors.",
	RunningHealthy:                     "Application is running healthy.",
	RunningWithPartialCapacity:         "Application is running with executor count between minimum and maximum capacity, exclusive.",
	RunningWithBelowThresholdExecutors: "The Spark application is running with less than minimal number of requested executors.",
}

// reportNoExecutors sets the obstacle if executors are refused, or if the driver never had one and should have had some. Then only the
// driver's log has the reason.
func (m *machine) reportNoExecutors() {
	if m.obstacle = m.seen.ExecutorsRefused; m.obstacle != nil {
		return
	}
	if limit := m.policy.ReportNoExecutorsAfter; limit > 0 && m.seen.NoExecutorSeen {
		if due := outbox.Current(m.record).Time.Add(limit); m.now.Before(due) {
			m.requeueAt(due)
			return
		}
		m.obstacle = &Cause{Class: ClassInfrastructure, Reason: "NoExecutors", Message: "The driver runs, and none of its executors was ever " +
			"seen. If it asked for some, its log has the reason: the API server refuses executors whose priority class or service " +
			"account does not exist, what a quota or an admission webhook forbids, and all if the driver's own service account may not create Pods."}
	}
}

// recordExecutorsReady records that Init executors were ready. No transition shows it if the driver is not ready or
// the record has no room.
func (m *machine) recordExecutorsReady(state State) {
	launch := m.record.Launch
	if launch == nil || launch.ExecutorsReady || !state.Starting() || !CountsExecutors(state, m.policy) {
		return
	}
	if m.seen.ReadyExecutors >= m.policy.Executors.Init {
		launch.ExecutorsReady, m.changed = true, true
	}
}

// recordExecutorsComplete records that all executors for which room was reserved existed at once. While the application starts, that waits for
// the write of its next state.
func (m *machine) recordExecutorsComplete(state State) {
	claim := m.record.Quota
	if claim == nil || claim.Complete || !m.seen.ExecutorsComplete || !state.Running() {
		return
	}
	claim.Complete, m.changed = true, true
}

// followExecutors advances an application whose driver is ready, by its number of executors.
func (m *machine) followExecutors(state State) bool {
	next := m.policy.Executors.stateFor(state, m.seen.ReadyExecutors, m.record.Launch.ExecutorsReady)
	switch {
	case next == state:
		m.reportNoExecutors()
		return m.timeOut(state)
	case next.Running():
		return m.enterRunning(next, executorMessages[next]) // without room in the record it waits, and does not time out
	default:
		return m.enter(next, executorMessages[next])
	}
}
