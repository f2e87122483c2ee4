package kubeflow_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

func TestStatesAreCounted(t *testing.T) {
	for name, test := range map[string]struct {
		shown []*application
		want  map[string]string
	}{
		"an application that is taken up, whatever is done with it": {
			[]*application{pi(), pi().State(v1beta2.SuspendingState), pi().State(v1beta2.SuspendedState)},
			map[string]string{"count": "1"},
		},
		"nothing where a write changes no state": {
			[]*application{pi().State(v1beta2.SubmittedState), pi().State(v1beta2.SubmittedState)}, nil,
		},
		"not the end that another operator left": {
			[]*application{pi().State(v1beta2.CompletedState), pi().State(v1beta2.CompletedState)}, nil,
		},
		"what comes after the state that another operator left": {
			[]*application{pi().State(v1beta2.FailingState), pi().State(v1beta2.FailedState)},
			map[string]string{"failure_count": "1"},
		},
		"no success where the run is repeated": {
			[]*application{
				pi().State(v1beta2.RunningState), pi().State(v1beta2.SucceedingState), pi().State(v1beta2.PendingRerunState),
				pi().State(v1beta2.SubmittedState),
			},
			map[string]string{"submit_count": "1"},
		},
		"each failed submission, and the failure at their end": {
			[]*application{
				pi(), pi().State(v1beta2.FailedSubmissionState), pi().State(v1beta2.PendingRerunState),
				pi().State(v1beta2.FailedSubmissionState), pi().State(v1beta2.FailedState),
			},
			map[string]string{"count": "1", "failed_submission_count": "2", "failure_count": "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.live(test.shown...)
			if diff := cmp.Diff(test.want, c.samples("spark_application_"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("samples (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatesThatOneWritePassesThroughAreCounted(t *testing.T) {
	c := newCluster(t)
	c.Changed(pi().Obj(), pi().State(v1beta2.CompletedState).Submitted(0, 1).Terminated(time.Second).Obj(), start.Add(time.Second),
		v1beta2.SubmittedState, v1beta2.RunningState, v1beta2.SucceedingState)
	got := c.samples("spark_application_")
	for _, name := range []string{
		"count", "submit_count", "submit_latency_seconds_count", "start_latency_seconds_count", "success_count",
		"success_execution_time_seconds_count",
	} {
		if got[name] != "1" {
			t.Errorf("%s is %s", name, got[name])
		}
	}
}

// isSum matches the sum of a summary.
var isSum = regexp.MustCompile("_seconds_sum$")

func TestTimesAreTaken(t *testing.T) {
	for name, test := range map[string]struct {
		before, after *application
		now           time.Duration
		want          map[string]string
	}{
		"to the first submission, from the creation": {
			pi(), pi().State(v1beta2.SubmittedState).Submitted(time.Minute, 1), time.Minute,
			map[string]string{"application_submit_latency_seconds_sum": "60"},
		},
		"not to a later submission": {
			pi().State(v1beta2.PendingRerunState), pi().State(v1beta2.SubmittedState).Submitted(time.Minute, 2), time.Minute, nil,
		},
		"to the start of the first driver, from the creation": {
			pi().State(v1beta2.SubmittedState), pi().State(v1beta2.RunningState).Submitted(time.Second, 1), time.Minute,
			map[string]string{"application_start_latency_seconds_sum": "60"},
		},
		"not to the start of a later driver": {
			pi().State(v1beta2.SubmittedState), pi().State(v1beta2.RunningState).Submitted(time.Second, 2), time.Minute, nil,
		},
		"none below zero where the API server's clock is ahead": {
			pi().State(v1beta2.SubmittedState), pi().State(v1beta2.RunningState).Submitted(0, 1), -time.Second,
			map[string]string{"application_start_latency_seconds_sum": "0"},
		},
		"of a success, from the last submission to the end": {
			pi().State(v1beta2.SucceedingState), pi().State(v1beta2.CompletedState).Submitted(time.Minute, 3).Terminated(time.Hour), time.Hour,
			map[string]string{"application_success_execution_time_seconds_sum": "3540"},
		},
		"of a failure, from the last submission to the end": {
			pi().State(v1beta2.FailingState), pi().State(v1beta2.FailedState).Submitted(0, 1).Terminated(1500 * time.Millisecond), time.Hour,
			map[string]string{"application_failure_execution_time_seconds_sum": "1.5"},
		},
		"none of what was never submitted": {
			pi(), pi().State(v1beta2.FailedState).Terminated(time.Second), time.Second, nil,
		},
		"none of what never ended": {
			pi().State(v1beta2.RunningState), pi().State(v1beta2.FailedState).Submitted(0, 1), time.Second, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.Changed(test.before.Obj(), test.after.Obj(), start.Add(test.now))
			got := c.samples("spark_")
			for sample := range got {
				if !isSum.MatchString(sample) {
					delete(got, sample)
				}
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("samples (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExecutorsAreCountedOnce(t *testing.T) {
	const running, completed, failed, unknown = v1beta2.ExecutorRunningState, v1beta2.ExecutorCompletedState,
		v1beta2.ExecutorFailedState, v1beta2.ExecutorUnknownState
	for name, test := range map[string]struct {
		shown []map[string]v1beta2.ExecutorState
		want  map[string]string
	}{
		"when they end": {
			[]map[string]v1beta2.ExecutorState{
				executors(running, running), executors(completed, running), executors(completed, failed), executors(completed, failed),
			},
			map[string]string{"success_count": "1", "failure_count": "1"},
		},
		"where nobody saw them run":         {[]map[string]v1beta2.ExecutorState{nil, executors(completed, completed)}, map[string]string{"success_count": "2"}},
		"where nobody knew for a while":     {[]map[string]v1beta2.ExecutorState{executors(running, unknown), executors(unknown, failed)}, map[string]string{"failure_count": "1"}},
		"where what is said of one changes": {[]map[string]v1beta2.ExecutorState{executors(failed, failed), executors(completed, failed)}, nil},
		"and not as long as they run":       {[]map[string]v1beta2.ExecutorState{nil, executors(running, unknown)}, nil},
		"and not when another run begins":   {[]map[string]v1beta2.ExecutorState{executors(failed, running), nil}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			for i := range test.shown[1:] {
				c.live(
					pi().State(v1beta2.RunningState).Executors(test.shown[i]), pi().State(v1beta2.RunningState).Executors(test.shown[i+1]))
			}
			if diff := cmp.Diff(test.want, c.samples("spark_executor_"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("samples (-want +got):\n%s", diff)
			}
		})
	}
}
