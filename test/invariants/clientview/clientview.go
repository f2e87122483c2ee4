// Package clientview knows what clients of the Kubeflow operator may see of an application, from one of its revisions
// to the next: its states in the order of that operator's controllers, and what goes with each.
package clientview

import (
	"fmt"
	"maps"
	"slices"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

type state = v1beta2.ApplicationStateType

// next are the states that may follow each, but for INVALIDATING and for what a stop leads to, which may follow any.
var next = map[state][]state{
	v1beta2.NewState:              submitted,
	v1beta2.SubmittedState:        {v1beta2.RunningState, v1beta2.UnknownState, v1beta2.SucceedingState, v1beta2.FailingState, v1beta2.SuspendingState},
	v1beta2.RunningState:          {v1beta2.UnknownState, v1beta2.SucceedingState, v1beta2.FailingState, v1beta2.SuspendingState},
	v1beta2.UnknownState:          {v1beta2.SubmittedState, v1beta2.RunningState, v1beta2.SucceedingState, v1beta2.FailingState, v1beta2.SuspendingState},
	v1beta2.SucceedingState:       {v1beta2.CompletedState, v1beta2.PendingRerunState, v1beta2.SuspendingState},
	v1beta2.FailingState:          {v1beta2.FailedState, v1beta2.PendingRerunState, v1beta2.SuspendingState},
	v1beta2.FailedSubmissionState: append([]state{v1beta2.FailedState}, submitted...),
	v1beta2.PendingRerunState:     submitted,
	v1beta2.InvalidatingState:     {v1beta2.PendingRerunState},
	v1beta2.SuspendingState:       {v1beta2.SuspendedState},
	v1beta2.SuspendedState:        {v1beta2.ResumingState},
	v1beta2.ResumingState:         submitted,
	v1beta2.CompletedState:        nil,
	v1beta2.FailedState:           nil,
}

// submitted is what follows where the application is about to be submitted.
var submitted = []state{v1beta2.SubmittedState, v1beta2.FailedSubmissionState, v1beta2.SuspendingState}

// Wrong returns what clients should not have seen of a revision of an application after the one before; before is nil
// where the application was not looked at.
func Wrong(before, after *v1beta2.SparkApplication) []string {
	if before == nil {
		before = &v1beta2.SparkApplication{}
	}
	was, is := before.Status, after.Status
	begun := newTransitions(was.Firesteel, is.Firesteel)
	steps := len(begun)
	if named(is.Firesteel) != "" && named(was.Firesteel) != named(is.Firesteel) {
		steps++ // what waits for its submission is PENDING_RERUN only from when that begins
	}
	var wrong []string
	always := []state{v1beta2.InvalidatingState}
	if is.Firesteel != nil && is.Firesteel.Attempt.WithoutEventLogs != "" { // nor one that launches a driver once more, in the same run
		always = append(always, v1beta2.PendingRerunState)
	}
	if stopped(begun) { // the other operator knows no stop, which may come in each state
		always = append(always, v1beta2.FailingState, v1beta2.FailedSubmissionState)
	}
	if !reachable(was.AppState.State, is.AppState.State, steps, always) {
		wrong = append(wrong, fmt.Sprintf("%q follows %q within %d transitions", is.AppState.State, was.AppState.State, steps))
	}
	wrong = append(wrong, miscounted(was, is, begun)...)
	wrong = append(wrong, unedited(was, after, begun)...)
	return append(wrong, contradicted(is)...)
}

// stopped reports whether a user stopped the application.
func stopped(begun []v1alpha1.Transition) bool {
	return slices.ContainsFunc(begun, func(t v1alpha1.Transition) bool { return t.End != nil && t.End.Class == lifecycle.ClassStopped })
}

// reachable reports whether a state may be seen after another, with so many steps between. always are states that may follow any.
func reachable(from, to state, steps int, always []state) bool {
	reached := map[state]bool{from: true}
	for range steps {
		for _, known := range slices.Collect(maps.Keys(reached)) {
			for _, further := range slices.Concat(next[known], always) {
				reached[further] = true
			}
		}
	}
	return reached[to]
}

// newTransitions are those that a record has, and the one before had not.
func newTransitions(before, after *v1alpha1.Record) []v1alpha1.Transition {
	var published int64
	if before != nil {
		published = before.Sequence
	}
	if after == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(after.Transitions), func(t v1alpha1.Transition) bool { return t.Sequence <= published })
}

func count(transitions []v1alpha1.Transition, states ...lifecycle.State) int32 {
	var n int32
	for _, t := range transitions {
		if slices.Contains(states, lifecycle.State(t.State)) {
			n++
		}
	}
	return n
}

// named is the launch that a record names.
func named(record *v1alpha1.Record) string {
	if record == nil || record.Launch == nil {
		return ""
	}
	return record.Launch.ID
}

// miscounted returns what is wrong with the numbers of attempts. That of executions begins again with an edit only, that of
// submissions with each execution: where nothing runs, or another launch is named.
func miscounted(was, is v1beta2.SparkApplicationStatus, begun []v1alpha1.Transition) (wrong []string) {
	edited := count(begun, lifecycle.Invalidating) > 0 || lifecycle.CurrentState(was.Firesteel) == lifecycle.Invalidating
	executions := is.ExecutionAttempts - was.ExecutionAttempts
	if most := count(begun, lifecycle.DriverRequested); executions > max(most, 1) || executions < 0 && !edited {
		wrong = append(wrong, fmt.Sprintf("the executions go from %d to %d with %d drivers", was.ExecutionAttempts, is.ExecutionAttempts, most))
	}
	anew := edited || is.DriverInfo.PodName == "" || named(was.Firesteel) != named(is.Firesteel)
	submissions := is.SubmissionAttempts - was.SubmissionAttempts
	if submissions > int32(len(begun))+1 || submissions < 0 && !anew {
		wrong = append(wrong, fmt.Sprintf("the submissions go from %d to %d", was.SubmissionAttempts, is.SubmissionAttempts))
	}
	return wrong
}

// unedited reports whether an application is invalidated although its spec was not edited. A record of an earlier version of Firesteel
// names no generation: its attempt is of the generation that was observed before, not of the one that this write observes.
func unedited(was v1beta2.SparkApplicationStatus, after *v1beta2.SparkApplication, begun []v1alpha1.Transition) []string {
	asked := fields.SpecOf(after)
	asked.Observed = was.ObservedGeneration
	if count(begun, lifecycle.Invalidating) > 0 && asked.Since(was.Firesteel) != spec.Edited {
		return []string{"it is invalidated, and its spec is that of its attempt"}
	}
	return nil
}

// contradicted returns what of a status does not go with its state.
func contradicted(s v1beta2.SparkApplicationStatus) (wrong []string) {
	shown := s.AppState.State
	check := func(what string, has, want bool) {
		if has != want {
			wrong = append(wrong, fmt.Sprintf("%q has %s: %t", shown, what, has))
		}
	}
	switch shown {
	case v1beta2.SubmittedState, v1beta2.RunningState, v1beta2.SucceedingState, v1beta2.FailingState, v1beta2.CompletedState:
		check("a driver", s.DriverInfo.PodName != "", true)
		check("an id", s.SparkApplicationID != "", true)
		check("a submission", s.SubmissionID != "" && !s.LastSubmissionAttemptTime.IsZero() && s.SubmissionAttempts > 0, true)
		check("an execution", s.ExecutionAttempts > 0, true)
	case v1beta2.NewState, v1beta2.SuspendedState, v1beta2.ResumingState, v1beta2.PendingRerunState:
		check("a driver", s.DriverInfo.PodName != "", false)
		check("executors", len(s.ExecutorState) > 0, false)
	}
	switch shown {
	case v1beta2.SucceedingState, v1beta2.FailingState, v1beta2.CompletedState, v1beta2.FailedState:
		check("a time of its end", !s.TerminationTime.IsZero(), true)
	case v1beta2.SubmittedState, v1beta2.RunningState, v1beta2.PendingRerunState, v1beta2.ResumingState:
		check("a time of its end", !s.TerminationTime.IsZero(), false)
	}
	switch shown {
	case v1beta2.FailedState, v1beta2.FailingState, v1beta2.FailedSubmissionState:
		check("an error", s.AppState.ErrorMessage != "", true)
	case v1beta2.CompletedState, v1beta2.RunningState, v1beta2.SucceedingState:
		check("an error", s.AppState.ErrorMessage != "", false)
	}
	return wrong
}
