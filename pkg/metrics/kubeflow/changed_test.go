package kubeflow_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// submitted is an application with a driver that is yet to start.
func submitted() *application { return pi().Went(lifecycle.Submitted, lifecycle.DriverRequested) }

func TestTransitionsAreCounted(t *testing.T) {
	refused := func() *application { return pi().Went(lifecycle.Submitted, lifecycle.SchedulingFailure) }
	for name, test := range map[string]struct {
		became []*application
		want   map[string]string
	}{
		"an application that is taken up": {
			[]*application{pi(), pi().Went(lifecycle.Submitted)}, map[string]string{"count": "1"},
		},
		"once, whatever comes of it": {
			[]*application{
				pi(), pi().Went(lifecycle.Submitted), pi().Went(lifecycle.Submitted, lifecycle.Suspending),
				pi().Went(lifecycle.Submitted, lifecycle.Suspending, lifecycle.Suspended),
			},
			map[string]string{"count": "1"},
		},
		"nothing that was written before": {
			[]*application{submitted(), submitted().Executors(executors("", ""))}, nil,
		},
		"not the end that another operator left": {
			[]*application{
				pi().Left(v1beta2.CompletedState),
				pi().Went(lifecycle.Submitted, lifecycle.DriverRequested, lifecycle.Succeeded, lifecycle.ResourceReleased),
			},
			nil,
		},
		"an end that another operator did not live to see": {
			[]*application{
				pi().Left(v1beta2.FailingState),
				pi().Went(lifecycle.Submitted, lifecycle.DriverRequested, lifecycle.Failed, lifecycle.ResourceReleased),
			},
			map[string]string{"failure_count": "1"},
		},
		"no success of a run that is repeated": {
			[]*application{
				submitted(), submitted().Went(lifecycle.Succeeded), submitted().Went(lifecycle.Succeeded, lifecycle.ScheduledToRestart),
				submitted().Went(lifecycle.Succeeded, lifecycle.ScheduledToRestart, lifecycle.DriverRequested),
			},
			map[string]string{"submit_count": "1"},
		},
		"each submission that fails, and the failure that they end in": {
			[]*application{
				pi(),
				refused(),
				refused().Went(lifecycle.ScheduledToRestart),
				refused().Went(lifecycle.ScheduledToRestart, lifecycle.SchedulingFailure),
				refused().Went(lifecycle.ScheduledToRestart, lifecycle.SchedulingFailure, lifecycle.ResourceReleased),
			},
			map[string]string{"count": "1", "failed_submission_count": "2", "failure_count": "1"},
		},
		"nothing of an application that is deleted while it runs": {
			[]*application{
				submitted().Went(lifecycle.DriverStarted), submitted().Went(lifecycle.DriverStarted, lifecycle.ResourceReleased),
			},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.runThrough(test.became...)
			if diff := cmp.Diff(test.want, c.samples("spark_application_"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("samples (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTransitionsOfOneWriteAreCounted(t *testing.T) {
	c := newCluster(t)
	c.runThrough(pi(), submitted().Went(lifecycle.DriverStarted, lifecycle.Succeeded, lifecycle.ResourceReleased).
		Submitted(0, 1).Terminated(time.Second))
	got := c.samples("spark_application_")
	for _, name := range []string{
		"count", "submit_count", "submit_latency_seconds_count", "start_latency_seconds_count", "success_count",
		"success_execution_time_seconds_count",
	} {
		if got[name] != "1" {
			t.Errorf("%s is %q", name, got[name])
		}
	}
}

func TestTimesAreMeasured(t *testing.T) {
	ended := func(end lifecycle.State) *application { return submitted().Went(end) }
	for name, test := range map[string]struct {
		before, after *application
		now           time.Duration
		want          map[string]string
	}{
		"to the first submission, from the creation": {
			pi(), submitted().Submitted(time.Minute, 1), time.Minute,
			map[string]string{"application_submit_latency_seconds_sum": "60"},
		},
		"not to a later submission": {pi(), submitted().Submitted(time.Minute, 2), time.Minute, nil},
		"to the start of the first driver, from the creation": {
			submitted(), submitted().Went(lifecycle.DriverStarted).Submitted(time.Second, 1), time.Minute,
			map[string]string{"application_start_latency_seconds_sum": "60"},
		},
		"not to the start of a later driver": {
			submitted(), submitted().Went(lifecycle.DriverStarted).Submitted(time.Second, 2), time.Minute, nil,
		},
		"once, however far the executors are": {
			submitted().Went(lifecycle.DriverStarted),
			submitted().Went(lifecycle.DriverStarted, lifecycle.DriverReady, lifecycle.RunningHealthy).Submitted(time.Second, 1),
			time.Minute, nil,
		},
		"none below zero where the API server's clock is ahead": {
			submitted(), submitted().Went(lifecycle.DriverStarted).Submitted(0, 1), -time.Second,
			map[string]string{"application_start_latency_seconds_sum": "0"},
		},
		"of a success, from the last submission to the end": {
			ended(lifecycle.Succeeded),
			ended(lifecycle.Succeeded).Went(lifecycle.ResourceReleased).Submitted(time.Minute, 3).Terminated(time.Hour), time.Hour,
			map[string]string{"application_success_execution_time_seconds_sum": "3540"},
		},
		"of a failure, from the last submission to the end": {
			ended(lifecycle.Failed),
			ended(lifecycle.Failed).Went(lifecycle.ResourceReleased).Submitted(0, 1).Terminated(1500 * time.Millisecond), time.Hour,
			map[string]string{"application_failure_execution_time_seconds_sum": "1.5"},
		},
		"none of what was never submitted": {
			ended(lifecycle.Failed), ended(lifecycle.Failed).Went(lifecycle.ResourceReleased).Terminated(time.Second), time.Hour, nil,
		},
		"none of what has no end": {
			ended(lifecycle.Failed), ended(lifecycle.Failed).Went(lifecycle.ResourceReleased).Submitted(0, 1), time.Hour, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.Changed(test.before.Obj(), test.after.Obj(), start.Add(test.now))
			sums := map[string]string{}
			for sample, value := range c.samples("spark_") {
				if strings.HasSuffix(sample, "_seconds_sum") { // that of the histogram is the same
					sums[sample] = value
				}
			}
			if diff := cmp.Diff(test.want, sums, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("samples (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExecutorsAreCountedOnce(t *testing.T) {
	const running, completed, failed, unknown = v1beta2.ExecutorRunningState, v1beta2.ExecutorCompletedState,
		v1beta2.ExecutorFailedState, v1beta2.ExecutorUnknownState
	type states = []map[string]v1beta2.ExecutorState
	for name, test := range map[string]struct {
		became states
		want   map[string]string
	}{
		"when they end": {
			states{executors(running, running), executors(completed, running), executors(completed, failed), executors(completed, failed)},
			map[string]string{"success_count": "1", "failure_count": "1"},
		},
		"where no watch saw them run": {states{nil, executors(completed, completed)}, map[string]string{"success_count": "2"}},
		"where they were unknown for a while": {
			states{executors(running, unknown), executors(unknown, failed)}, map[string]string{"failure_count": "1"},
		},
		"where what is said of one changes": {states{executors(failed, failed), executors(completed, failed)}, nil},
		"and not as long as they run":       {states{nil, executors(running, unknown)}, nil},
		"and not when another run begins":   {states{executors(failed, running), nil}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			for i := range test.became[1:] {
				c.runThrough(submitted().Executors(test.became[i]), submitted().Executors(test.became[i+1]))
			}
			if diff := cmp.Diff(test.want, c.samples("spark_executor_"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("samples (-want +got):\n%s", diff)
			}
		})
	}
}
