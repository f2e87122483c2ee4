package kubeflow

import (
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
)

func (i *instruments) changed(before, after *v1beta2.SparkApplication, now time.Time) {
	values := i.labels.ofApplication(after)
	state := before.Status.AppState.State
	if state == v1beta2.NewState && before.Status.Firesteel == nil {
		i.count.WithLabelValues(values...).Inc()
	}
	for _, step := range steps(before, after) {
		if step.submissionFailed {
			i.failedSubmission.WithLabelValues(values...).Inc()
		}
		if step.state != state {
			i.entered(step.state, after, now, values)
		}
		state = step.state
	}
	i.executorsChanged(before, after)
}

// step is a transition as the status shows it.
type step struct {
	state            v1beta2.ApplicationStateType
	submissionFailed bool
}

// steps returns the transitions of a status write. One write may contain several transitions, although the status shows only
// the last one. The transitions that another operator wrote are counted by that operator: of those, only a change of the
// shown state counts.
func steps(before, after *v1beta2.SparkApplication) []step {
	if before.Status.Firesteel == nil && before.Status.AppState.State != v1beta2.NewState {
		return []step{{state: after.Status.AppState.State}}
	}
	var countedUntil int64
	if before.Status.Firesteel != nil {
		countedUntil = before.Status.Firesteel.Sequence
	}
	var taken []step
	for n, transition := range after.Status.Firesteel.Transitions {
		if transition.Sequence > countedUntil {
			taken = append(taken, stepOf(after.Status.Firesteel, n))
		}
	}
	return taken
}

// stepOf returns the n-th transition of a record.
func stepOf(record *v1alpha1.Record, n int) step {
	transition := record.Transitions[n]
	upTo := *record
	upTo.Transitions, upTo.Sequence, upTo.Attempt.ID = record.Transitions[:n+1], transition.Sequence, transition.Attempt
	state := status.State(&upTo)
	return step{state, state == v1beta2.FailedSubmissionState && transition.End != nil}
}

// entered counts an application that entered a state.
func (i *instruments) entered(state v1beta2.ApplicationStateType, app *v1beta2.SparkApplication, now time.Time, values []string) {
	switch state {
	case v1beta2.SubmittedState:
		i.submitted.WithLabelValues(values...).Inc()
		i.submitLatency.observe(app, now, values)
	case v1beta2.RunningState:
		i.startLatency.observe(app, now, values)
	case v1beta2.CompletedState:
		i.succeeded.WithLabelValues(values...).Inc()
		if took, known := executionTime(app); known {
			i.successTime.WithLabelValues(values...).Observe(took)
		}
	case v1beta2.FailedState:
		i.failed.WithLabelValues(values...).Inc()
		if took, known := executionTime(app); known {
			i.failureTime.WithLabelValues(values...).Observe(took)
		}
	}
}

// observe records the time since an application's creation, if this is its first execution.
func (l latency) observe(app *v1beta2.SparkApplication, now time.Time, values []string) {
	if app.Status.ExecutionAttempts != 1 {
		return
	}
	took := seconds(now.Sub(app.CreationTimestamp.Time))
	l.summary.WithLabelValues(values...).Observe(took)
	l.histogram.WithLabelValues(values...).Observe(took)
}

// executionTime returns the time from the last submission to the end, in seconds.
func executionTime(app *v1beta2.SparkApplication) (took float64, known bool) {
	from, to := app.Status.LastSubmissionAttemptTime, app.Status.TerminationTime
	return seconds(to.Sub(from.Time)), !from.IsZero() && !to.IsZero()
}

// seconds returns at least zero, even if two clocks differ.
func seconds(d time.Duration) float64 { return max(d, 0).Seconds() }

// executorsChanged counts the executors that ended, each once.
func (i *instruments) executorsChanged(before, after *v1beta2.SparkApplication) {
	for name, state := range after.Status.ExecutorState {
		previous := before.Status.ExecutorState[name]
		if previous == v1beta2.ExecutorCompletedState || previous == v1beta2.ExecutorFailedState {
			continue
		}
		switch state {
		case v1beta2.ExecutorCompletedState:
			i.executorsSucceeded.WithLabelValues(i.labels.ofExecutors(after)...).Inc()
		case v1beta2.ExecutorFailedState:
			i.executorsFailed.WithLabelValues(i.labels.ofExecutors(after)...).Inc()
		}
	}
}

// ended reports whether a state is the end of an application.
func ended(state v1beta2.ApplicationStateType) bool {
	return state == v1beta2.CompletedState || state == v1beta2.FailedState
}
