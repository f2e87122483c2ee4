package overview

import (
	"fmt"
	"slices"
	"strings"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// noState is the name of the state of an object whose status shows none.
const noState = "New"

// Phases that a user may name in the place of states.
var phases = []Phase{Waiting, Running, Succeeded, Failed}

// kubeflowStates are the states of the Kubeflow operator. Those of the early API are among them.
var kubeflowStates = []v1beta2.ApplicationStateType{
	v1beta2.SubmittedState, v1beta2.RunningState, v1beta2.PendingRerunState, v1beta2.InvalidatingState, v1beta2.SucceedingState, v1beta2.CompletedState,
	v1beta2.FailingState, v1beta2.FailedState, v1beta2.FailedSubmissionState, v1beta2.SuspendingState, v1beta2.SuspendedState, v1beta2.ResumingState,
	v1beta2.UnknownState,
}

// stateNames returns the states of all kinds and APIs, after the phases if they are wanted. Those that differ in capitals alone are there once.
func stateNames(withPhases bool) (names []string) {
	add := func(name string) {
		if !slices.ContainsFunc(names, func(known string) bool { return strings.EqualFold(known, name) }) {
			names = append(names, name)
		}
	}
	if withPhases {
		for _, phase := range phases {
			add(string(phase))
		}
	}
	add(noState)
	for _, state := range lifecycle.States {
		add(string(state))
	}
	for _, state := range kubeflowStates {
		add(string(state))
	}
	for _, state := range cluster.States {
		add(string(state))
	}
	add(string(firesteelv1alpha1.ScheduleStateScheduled))
	add(string(firesteelv1alpha1.ScheduleStateFailedValidation))
	return names
}

// CheckState returns an error if no object can be in a state that a user names. Capitals do not matter. With withPhases, it may be a phase, too.
func CheckState(name string, withPhases bool) error {
	known := stateNames(withPhases)
	if slices.ContainsFunc(known, func(state string) bool { return strings.EqualFold(state, name) }) {
		return nil
	}
	if similar := finding.SimilarName(known, name); similar != "" {
		return fmt.Errorf("%q is no state: did you mean %s?", name, similar)
	}
	return fmt.Errorf("%q is no state: write one of %s", name, strings.Join(known, ", "))
}

// Is reports whether an object is in a state or a phase that a user names.
func (o *Object) Is(name string) bool {
	return strings.EqualFold(name, o.StateName()) || strings.EqualFold(name, string(o.Phase))
}
