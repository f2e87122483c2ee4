package apache

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// HasForeignStatus reports whether another operator has handled an application: its status is not empty.
func HasForeignStatus(status sparkv1.ApplicationStatus) bool {
	return status.CurrentState != nil || len(status.StateTransitionHistory) > 0 ||
		status.CurrentAttemptSummary != nil || status.PreviousAttemptSummary != nil
}

// FinishedElsewhere reports whether an application has ended for good under another operator, and nothing is left to be done
// for it.
func FinishedElsewhere(app *sparkv1.SparkApplication, defaults Defaults) bool {
	current := app.Status.CurrentState
	return app.Status.Firesteel == nil && current != nil &&
		current.CurrentStateSummary == string(lifecycle.ResourceReleased) && (Policy(app, defaults).TTL < 0 || app.DeletionTimestamp != nil)
}

// SameVisibleStatus reports whether two statuses show the same to the Apache operator's clients.
func SameVisibleStatus(a, b sparkv1.ApplicationStatus) bool {
	return equality.Semantic.DeepEqual(visible(a), visible(b))
}

func visible(status sparkv1.ApplicationStatus) sparkv1.ApplicationStatus {
	status.Conditions, status.ObservedGeneration, status.Firesteel = nil, 0, nil
	return status
}

// Inherit makes a record of the status that the Apache operator left. All its transitions count as delivered. Adopt adds the
// launch. An empty status becomes the record of an application that was just created. Inherit fails if it cannot understand
// the status: a guess might run something twice.
func Inherit(app *sparkv1.SparkApplication, defaults Defaults) (*v1alpha1.Record, error) {
	if !HasForeignStatus(app.Status) {
		created, _ := lifecycle.Decide(nil, lifecycle.Policy{Suspend: true}, lifecycle.Observation{}, app.CreationTimestamp.Time)
		return created, nil
	}
	current := app.Status.CurrentState
	if current == nil {
		return nil, errors.New("currentState is missing")
	}
	if !known(lifecycle.State(current.CurrentStateSummary)) {
		return nil, fmt.Errorf("currentState.currentStateSummary %.64q is not known", current.CurrentStateSummary)
	}
	transitions, err := transitionsOf(app.Status)
	if err != nil {
		return nil, err
	}
	record := &v1alpha1.Record{Transitions: transitions}
	if err := countAttempts(record, app.Status); err != nil {
		return nil, err
	}
	lifecycle.Adopt(record, Policy(app, defaults))
	return record, nil
}

// known reports whether a state is one of the Apache operator's.
func known(state lifecycle.State) bool {
	return state.Initializing() || state.Starting() || state.Running() || state.AttemptEnded() || state.Terminated()
}

// transitionsOf returns the states in a status, in order. The Apache operator may trim the history, or store that of the
// previous attempt separately. The keys count on in each case.
func transitionsOf(status sparkv1.ApplicationStatus) ([]v1alpha1.Transition, error) {
	shown := map[string]sparkv1.ApplicationState{}
	if previous := status.PreviousAttemptSummary; previous != nil {
		maps.Copy(shown, previous.StateTransitionHistory)
	}
	maps.Copy(shown, status.StateTransitionHistory)
	var transitions []v1alpha1.Transition
	for key, state := range shown {
		transition, err := transitionOf(key, state)
		if err != nil {
			return nil, err
		}
		transitions = append(transitions, transition)
	}
	slices.SortFunc(transitions, func(a, b v1alpha1.Transition) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return upToPresent(transitions, *status.CurrentState)
}

func transitionOf(key string, state sparkv1.ApplicationState) (v1alpha1.Transition, error) {
	sequence, err := sparkv1.ParseHistoryKey(key)
	if err != nil {
		return v1alpha1.Transition{}, err
	}
	at, err := sparkv1.ParseStateTime(state.LastTransitionTime)
	if err != nil || at.IsZero() {
		return v1alpha1.Transition{}, fmt.Errorf("lastTransitionTime %.64q of state %s %.64q is no time",
			state.LastTransitionTime, key, state.CurrentStateSummary)
	}
	return v1alpha1.Transition{
		Sequence: sequence, Time: outbox.RecordTime(at), State: state.CurrentStateSummary,
		Message: state.Message, DriverStatus: state.LastObservedDriverStatus.DeepCopy(),
	}, nil
}

// upToPresent checks that the history ends with the current state. If the history was lost, the current state is all there
// is.
func upToPresent(history []v1alpha1.Transition, current sparkv1.ApplicationState) ([]v1alpha1.Transition, error) {
	if len(history) == 0 {
		present, err := transitionOf("0", current)
		return []v1alpha1.Transition{present}, err
	}
	if last := history[len(history)-1].State; last != current.CurrentStateSummary {
		return nil, fmt.Errorf("stateTransitionHistory ends with %.64q, and currentState is %s", last, current.CurrentStateSummary)
	}
	return history, nil
}

// countAttempts sets the attempt of each transition. An attempt begins with each initializing state.
func countAttempts(record *v1alpha1.Record, status sparkv1.ApplicationStatus) error {
	record.Attempt = attemptOf(status.CurrentAttemptSummary)
	switch {
	case record.Attempt.ID < 0:
		return fmt.Errorf("currentAttemptSummary.attemptInfo.id %d is below 0", record.Attempt.ID)
	case !counted(status.CurrentAttemptSummary) && restarted(record, status):
		return errors.New("currentAttemptSummary.attemptInfo is missing")
	}
	attempt := record.Attempt.ID
	began := map[int64]metav1.MicroTime{}
	for i := len(record.Transitions) - 1; i >= 0; i-- {
		t := &record.Transitions[i]
		t.Attempt, began[attempt] = attempt, t.Time
		if lifecycle.State(t.State).Initializing() {
			attempt = max(attempt-1, 0)
		}
	}
	record.Attempt.Since = began[record.Attempt.ID]
	if !counted(status.PreviousAttemptSummary) {
		return nil
	}
	previous := attemptOf(status.PreviousAttemptSummary)
	previous.Since = record.Attempt.Since
	if since, shown := began[previous.ID]; shown {
		previous.Since = since
	}
	record.Previous = &previous
	return nil
}

func counted(summary *sparkv1.AttemptSummary) bool {
	return summary != nil && summary.AttemptInfo != nil
}

// restarted reports whether the attempt cannot be the first one. Only the number of the first attempt may be left out.
func restarted(record *v1alpha1.Record, status sparkv1.ApplicationStatus) bool {
	return status.PreviousAttemptSummary != nil || slices.ContainsFunc(record.Transitions, func(t v1alpha1.Transition) bool {
		return t.State == string(lifecycle.ScheduledToRestart)
	})
}

func attemptOf(summary *sparkv1.AttemptSummary) v1alpha1.Attempt {
	if !counted(summary) {
		return v1alpha1.Attempt{}
	}
	return v1alpha1.Attempt{
		ID:                        summary.AttemptInfo.ID,
		Restarts:                  summary.AttemptInfo.RestartCounter,
		FailureRestarts:           summary.AttemptInfo.FailureRestartCounter,
		SchedulingFailureRestarts: summary.AttemptInfo.SchedulingFailureRestartCounter,
	}
}
