package status

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// projectExecutors writes what is known of the executors of the run that a status shows. It adds to what the status shows
// already.
func projectExecutors(status *v1beta2.SparkApplicationStatus, executors Executors) {
	state := status.AppState.State
	if nothingRuns(state) {
		return
	}
	states := make(map[string]v1beta2.ExecutorState, len(executors.Seen))
	for name, before := range status.ExecutorState {
		states[name] = before
		if executors.Seen != nil || driverOver(state) {
			states[name] = executorState(before, missingPod, state)
		}
	}
	for name, seen := range executors.Seen {
		states[name] = executorState(status.ExecutorState[name], seen, state)
	}
	dropExecutors(states, executors.Tracked)
	if len(states) == 0 {
		states = nil
	}
	status.ExecutorState = states
}

// missingPod is an executor whose Pod does not exist any more.
var missingPod = dialect.Executor{Gone: true}

// executorState returns the state of an executor: that of its Pod, as long as the Pod exists. The state of an executor that
// ended does not change. If the driver has ended, the executor has ended as well, even if its Pod still exists.
func executorState(
	before v1beta2.ExecutorState, seen dialect.Executor, state v1beta2.ApplicationStateType,
) v1beta2.ExecutorState {
	now := phases[seen.Phase]
	switch {
	case executorOver(before):
		return before
	case executorOver(now):
		return now
	case state == v1beta2.SucceedingState, state == v1beta2.CompletedState:
		return v1beta2.ExecutorCompletedState
	case driverOver(state):
		return v1beta2.ExecutorFailedState
	case seen.Gone, now == "":
		return v1beta2.ExecutorUnknownState
	default:
		return now
	}
}

var phases = map[corev1.PodPhase]v1beta2.ExecutorState{
	corev1.PodPending:   v1beta2.ExecutorPendingState,
	corev1.PodRunning:   v1beta2.ExecutorRunningState,
	corev1.PodSucceeded: v1beta2.ExecutorCompletedState,
	corev1.PodFailed:    v1beta2.ExecutorFailedState,
}

func executorOver(state v1beta2.ExecutorState) bool {
	return state == v1beta2.ExecutorCompletedState || state == v1beta2.ExecutorFailedState
}

// driverOver reports whether the driver of the run with this state has ended.
func driverOver(state v1beta2.ApplicationStateType) bool {
	switch state {
	case v1beta2.SucceedingState, v1beta2.CompletedState, v1beta2.FailingState, v1beta2.FailedState:
		return true
	default:
		return false
	}
}

// dropExecutors bounds the executors that a status shows. It drops first those that ended, oldest first, then those that
// live, youngest first.
func dropExecutors(states map[string]v1beta2.ExecutorState, tracked int) {
	excess := len(states) - tracked
	if tracked <= 0 || excess <= 0 {
		return
	}
	names := make([]string, 0, len(states))
	for name := range states {
		names = append(names, name)
	}
	lives := func(name string) int {
		if executorOver(states[name]) || states[name] == v1beta2.ExecutorUnknownState {
			return 0
		}
		return 1
	}
	slices.SortFunc(names, func(a, b string) int {
		older := cmp.Or(cmp.Compare(executorNumber(a), executorNumber(b)), cmp.Compare(a, b))
		if lives(a) == 1 {
			older = -older
		}
		return cmp.Or(cmp.Compare(lives(a), lives(b)), older)
	})
	for _, name := range names[:excess] {
		delete(states, name)
	}
}

// executorNumber returns the number at the end of the name of an executor's Pod, which Spark counts up; 0 if there is none.
func executorNumber(name string) int {
	number, err := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
	if err != nil {
		return 0
	}
	return number
}
