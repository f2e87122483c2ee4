package lifecycle

import "github.com/firesteel-dev/firesteel/pkg/outbox"

// Executors says how many ready executors make an application healthy. The zero value asks for none.
type Executors struct {
	// Init is the number from which on the application runs at all.
	Init int
	// Min is the number that it is to keep.
	Min int
	// Max is the number below which it runs with partial capacity only; zero for no such number.
	Max int
	// Dynamic says that Spark itself sets the number, so that fewer than Max are nothing to tell.
	Dynamic bool
}

// Requested says that a number of executors is asked for.
func (e Executors) Requested() bool { return e.Init > 0 }

// stateFor is the state that a number of ready executors puts an application into whose driver is ready: the Apache
// operator's rules. came reports that the executors to begin with were ready before: then the application runs, though no
// state says so yet.
func (e Executors) stateFor(state State, ready int, came bool) State {
	running := state.Running() || came && ready < e.Init
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

// CountsExecutors says that what follows depends on the number of ready executors.
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

// reportNoExecutors says that no executor came, where some are to be expected: the driver alone is told why.
func (m *machine) reportNoExecutors() {
	if limit := m.policy.ReportNoExecutorsAfter; limit > 0 && m.seen.NoExecutorSeen {
		if due := outbox.Current(m.record).Time.Add(limit); m.now.Before(due) {
			m.requeueAt(due)
			return
		}
		m.obstacle = &Cause{Class: ClassInfrastructure, Reason: "NoExecutors", Message: "The driver runs, and no executor of it was ever " +
			"seen. Where it asked for some, its log says why none came: the API server refuses executors whose priority class or service " +
			"account does not exist, what a quota or an admission webhook forbids, and all if the driver's own service account may not create Pods."}
	}
}

// recordExecutorsReady records that the executors to begin with are ready. Where the driver is not, or where there is no room, no
// transition says so.
func (m *machine) recordExecutorsReady(state State) {
	launch := m.record.Launch
	if launch == nil || launch.ExecutorsReady || !state.Starting() || !CountsExecutors(state, m.policy) {
		return
	}
	if m.seen.ReadyExecutors >= m.policy.Executors.Init {
		launch.ExecutorsReady, m.changed = true, true
	}
}

// followExecutors moves on with the number of executors of a driver that is ready.
func (m *machine) followExecutors(state State) bool {
	next := m.policy.Executors.stateFor(state, m.seen.ReadyExecutors, m.record.Launch.ExecutorsReady)
	switch {
	case next == state:
		m.reportNoExecutors()
		return m.timeOut(state)
	case next.Running():
		return m.enterRunning(next, executorMessages[next]) // where there is no room for it, it is no late start either
	default:
		return m.enter(next, executorMessages[next])
	}
}
