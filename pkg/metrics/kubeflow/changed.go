package kubeflow

import (
	"slices"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

func (i *instruments) changed(
	before, after *v1beta2.SparkApplication, now time.Time, through []v1beta2.ApplicationStateType,
) {
	values := i.labels.ofApplication(after)
	state := before.Status.AppState.State
	for _, next := range append(slices.Clip(through), after.Status.AppState.State) {
		if next == state {
			continue
		}
		if state == v1beta2.NewState {
			i.count.WithLabelValues(values...).Inc()
		}
		i.entered(next, after, now, values)
		state = next
	}
	i.executorsChanged(before, after)
}

// entered counts that an application came into a state.
func (i *instruments) entered(state v1beta2.ApplicationStateType, app *v1beta2.SparkApplication, now time.Time, values []string) {
	switch state {
	case v1beta2.SubmittedState:
		i.submitted.WithLabelValues(values...).Inc()
		i.submitLatency.observe(app, now, values)
	case v1beta2.FailedSubmissionState:
		i.failedSubmission.WithLabelValues(values...).Inc()
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

// observe takes the time since an application's creation, where this is its first execution.
func (l latency) observe(app *v1beta2.SparkApplication, now time.Time, values []string) {
	if app.Status.ExecutionAttempts != 1 {
		return
	}
	took := seconds(now.Sub(app.CreationTimestamp.Time))
	l.summary.WithLabelValues(values...).Observe(took)
	l.histogram.WithLabelValues(values...).Observe(took)
}

// executionTime is the time from the last submission to the end, in seconds.
func executionTime(app *v1beta2.SparkApplication) (took float64, known bool) {
	from, to := app.Status.LastSubmissionAttemptTime, app.Status.TerminationTime
	return seconds(to.Sub(from.Time)), !from.IsZero() && !to.IsZero()
}

// seconds are not below zero, where two clocks differ.
func seconds(d time.Duration) float64 { return max(d, 0).Seconds() }

// executorsChanged counts the executors that ended, each of them once.
func (i *instruments) executorsChanged(before, after *v1beta2.SparkApplication) {
	for name, state := range after.Status.ExecutorState {
		was := before.Status.ExecutorState[name]
		if was == v1beta2.ExecutorCompletedState || was == v1beta2.ExecutorFailedState {
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

// ended says that an application ended for good.
func ended(state v1beta2.ApplicationStateType) bool {
	return state == v1beta2.CompletedState || state == v1beta2.FailedState
}
