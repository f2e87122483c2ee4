package status_test

import (
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// The columns of the table: what else decides on the state that is shown.
const (
	fresh    = "nothing launched"
	launched = "a launch"
	ok       = "after a success"
	failed   = "after a failure"
)

// same is a row in which nothing else matters.
func same(state v1beta2.ApplicationStateType) map[string]v1beta2.ApplicationStateType {
	return map[string]v1beta2.ApplicationStateType{fresh: state, launched: state, ok: state, failed: state}
}

var table = map[lifecycle.State]map[string]v1beta2.ApplicationStateType{
	lifecycle.Submitted:                          same(""),
	lifecycle.ScheduledToRestart:                 {fresh: "PENDING_RERUN", launched: "PENDING_RERUN", ok: "SUCCEEDING", failed: "FAILING"},
	lifecycle.DriverRequested:                    same("SUBMITTED"),
	lifecycle.DriverStarted:                      same("RUNNING"),
	lifecycle.DriverReady:                        same("RUNNING"),
	lifecycle.InitializedBelowThresholdExecutors: same("RUNNING"),
	lifecycle.RunningHealthy:                     same("RUNNING"),
	lifecycle.RunningWithPartialCapacity:         same("RUNNING"),
	lifecycle.RunningWithBelowThresholdExecutors: same("RUNNING"),
	lifecycle.DriverStartTimedOut:                same("FAILING"),
	lifecycle.ExecutorsStartTimedOut:             same("FAILING"),
	lifecycle.DriverReadyTimedOut:                same("FAILING"),
	lifecycle.Succeeded:                          same("SUCCEEDING"),
	lifecycle.Failed:                             {fresh: "SUBMISSION_FAILED", launched: "FAILING", ok: "SUBMISSION_FAILED", failed: "SUBMISSION_FAILED"},
	lifecycle.SchedulingFailure:                  same("SUBMISSION_FAILED"),
	lifecycle.DriverEvicted:                      same("FAILING"),
	lifecycle.ResourceReleased:                   {fresh: "", launched: "", ok: "COMPLETED", failed: "FAILED"},
	lifecycle.TerminatedWithoutReleaseResources:  {fresh: "", launched: "", ok: "COMPLETED", failed: "FAILED"},
	lifecycle.Suspending:                         same("SUSPENDING"),
	lifecycle.Suspended:                          same("SUSPENDED"),
	lifecycle.Resuming:                           same("RESUMING"),
	lifecycle.Invalidating:                       same("INVALIDATING"),
	lifecycle.Unknown:                            same("UNKNOWN"),
}

func TestEachStateOfTheLifecycleHasOneOfUpstream(t *testing.T) {
	for _, state := range lifecycle.States {
		row, known := table[state]
		if !known {
			t.Errorf("the table lacks %s", state)
		}
		for _, column := range []string{fresh, launched, ok, failed} {
			if got := status.State(recordIn(state, column)); got != row[column] {
				t.Errorf("%s with %s: shown is %q, want %q", state, column, got, row[column])
			}
		}
	}
	if status.State(nil) != "" || status.State(&v1alpha1.Record{}) != "" {
		t.Error("what no controller has reconciled is new")
	}
}

// recordIn is a record in a state, in the way that a column of the table says.
func recordIn(state lifecycle.State, column string) *v1alpha1.Record {
	s := submitted()
	ended := map[string]lifecycle.State{ok: lifecycle.Succeeded, failed: lifecycle.Failed}[column]
	switch {
	case ended != "" && state == lifecycle.ScheduledToRestart:
		return s.Requested().Ended(ended, v1alpha1.AttemptEnd{}).Restarting().Obj()
	case ended != "":
		s.Requested().Ended(ended, v1alpha1.AttemptEnd{})
		s.record.Launch = nil
	case column == launched:
		s.record.Launch = &v1alpha1.Launch{ID: "of-this-attempt"}
	}
	return s.In(state, "").Obj()
}

// A submission that failed is shown as that until there is another; what else failed, until another is begun.
func TestStateBeforeARestartLastsUntilItBegins(t *testing.T) {
	for _, tt := range []struct {
		ended        lifecycle.State
		waits, begun v1beta2.ApplicationStateType
	}{
		{lifecycle.Succeeded, "SUCCEEDING", "PENDING_RERUN"},
		{lifecycle.Failed, "FAILING", "PENDING_RERUN"},
		{lifecycle.DriverEvicted, "FAILING", "PENDING_RERUN"},
		{lifecycle.SchedulingFailure, "SUBMISSION_FAILED", "SUBMISSION_FAILED"},
	} {
		t.Run(string(tt.ended), func(t *testing.T) {
			s := submitted().Requested().Ended(tt.ended, v1alpha1.AttemptEnd{}).Restarting()
			if got := status.State(s.Obj()); got != tt.waits {
				t.Errorf("while it waits it is %q, want %q", got, tt.waits)
			}
			if got := status.State(s.In(lifecycle.ResourceReleased, "").Obj()); got != tt.waits {
				t.Errorf("deleted while it waits it is %q, want %q", got, tt.waits)
			}
			s = submitted().Requested().Ended(tt.ended, v1alpha1.AttemptEnd{}).Restarting()
			if got := status.State(s.Launched("second").Obj()); got != tt.begun {
				t.Errorf("once it is begun it is %q, want %q", got, tt.begun)
			}
		})
	}
}

// A stop before the driver is known is shown as a failed submission: there is nothing that fails.
func TestStopIsAFailedSubmissionUntilTheDriverIsRequested(t *testing.T) {
	end := v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed, Class: lifecycle.ClassStopped, Message: "The application was stopped."}
	for name, row := range map[string]struct {
		record *recordBuilder
		want   v1beta2.ApplicationStateType
	}{
		"before the launch":   {submitted(), v1beta2.FailedSubmissionState},
		"during the launch":   {submitted().Launched("first"), v1beta2.FailedSubmissionState},
		"in a back-off":       {submitted().Requested().Ended(lifecycle.Failed, v1alpha1.AttemptEnd{}).Restarting(), v1beta2.FailedSubmissionState},
		"as it is requested":  {submitted().Requested(), v1beta2.FailingState},
		"as it runs":          {submitted().Requested().In(lifecycle.RunningHealthy, ""), v1beta2.FailingState},
		"of one that is lost": {submitted().Requested().In(lifecycle.Unknown, ""), v1beta2.FailingState},
	} {
		var shown v1beta2.SparkApplicationStatus
		status.Project(&shown, row.record.Ended(lifecycle.Failed, end).Obj(), status.Executors{})
		if shown.AppState.State != row.want || shown.AppState.ErrorMessage != end.Message {
			t.Errorf("%s it is shown as %+v, want %q", name, shown.AppState, row.want)
		}
	}
}

func TestEditIsPendingBeforeAndAfterTheFence(t *testing.T) {
	s := submitted().Requested().In(lifecycle.RunningHealthy, "").In(lifecycle.Invalidating, "").Restarting()
	for _, record := range []*v1alpha1.Record{s.Obj(), s.Launched("second").Obj()} {
		if got := status.State(record); got != v1beta2.PendingRerunState {
			t.Errorf("it is %q", got)
		}
	}
}

func TestDeletionBeforeTheEndKeepsTheState(t *testing.T) {
	for want, s := range map[v1beta2.ApplicationStateType]*recordBuilder{
		"":          submitted(),
		"RUNNING":   submitted().Requested().In(lifecycle.RunningHealthy, ""),
		"SUSPENDED": submitted().In(lifecycle.Suspending, "").In(lifecycle.Suspended, ""),
		"INVALIDATING": submitted().Requested().Ended(lifecycle.Succeeded, v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeSucceeded}).
			In(lifecycle.TerminatedWithoutReleaseResources, "").In(lifecycle.Invalidating, ""),
	} {
		if got := status.State(s.In(lifecycle.ResourceReleased, "").Obj()); got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
}
