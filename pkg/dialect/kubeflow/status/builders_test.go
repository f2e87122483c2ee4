package status_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// beginning is when every scenario of these tests begins.
var beginning = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(since time.Duration) metav1.MicroTime { return metav1.NewMicroTime(beginning.Add(since)) }

// second is a second of a scenario, in the form of a status.
func second(n int) metav1.Time { return metav1.NewTime(beginning.Add(time.Duration(n) * time.Second)) }

// recordBuilder builds a record step by step, as the lifecycle would have written it, one second a step.
type recordBuilder struct{ record v1alpha1.Record }

// submitted is an application that waits for its first launch.
func submitted() *recordBuilder {
	s := &recordBuilder{}
	s.record.Attempt.Since = after(0)
	return s.In(lifecycle.Submitted, "")
}

// In appends a state.
func (s *recordBuilder) In(state lifecycle.State, message string) *recordBuilder {
	s.record.Sequence++
	t := v1alpha1.Transition{
		Sequence: s.record.Sequence, Time: after(time.Duration(s.record.Sequence-1) * time.Second),
		Attempt: s.record.Attempt.ID, State: string(state), Message: message,
	}
	if s.record.Launch != nil {
		t.DriverPod, t.ApplicationID = s.record.Launch.DriverPod, s.record.Launch.ApplicationID
	}
	s.record.Transitions = append(s.record.Transitions, t)
	return s
}

// Launched names the launch of the attempt.
func (s *recordBuilder) Launched(id string) *recordBuilder {
	s.record.Launch = &v1alpha1.Launch{ID: id, DriverPod: "pi-driver", ApplicationID: "spark-" + id}
	return s
}

// Requested is a driver that was created.
func (s *recordBuilder) Requested() *recordBuilder {
	if s.record.Launch == nil {
		s.Launched("first")
	}
	s.record.Launch.DriverUID = types.UID("uid-of-driver-" + s.record.Launch.ID)
	return s.In(lifecycle.DriverRequested, "Requested driver from resource scheduler.")
}

// Running is a driver that runs.
func (s *recordBuilder) Running() *recordBuilder {
	return s.Requested().In(lifecycle.DriverStarted, "").In(lifecycle.DriverReady, "").In(lifecycle.RunningHealthy, "")
}

// Ended ends the attempt.
func (s *recordBuilder) Ended(state lifecycle.State, end v1alpha1.AttemptEnd) *recordBuilder {
	s.In(state, end.Message)
	end.Outcome = v1alpha1.OutcomeSucceeded
	if state.Failure() {
		end.Outcome = v1alpha1.OutcomeFailed
	}
	s.last().End = &end
	return s
}

// Over ends the application.
func (s *recordBuilder) Over() *recordBuilder {
	outcome := outbox.LastEnd(&s.record).End.Outcome
	s.In(lifecycle.TerminatedWithoutReleaseResources, "Application is terminated without releasing resources as configured.")
	s.last().Outcome = outcome
	return s
}

// Restarting begins the next attempt.
func (s *recordBuilder) Restarting() *recordBuilder { return s.Next(lifecycle.ScheduledToRestart) }

// Next begins the next attempt in a state.
func (s *recordBuilder) Next(state lifecycle.State) *recordBuilder {
	previous := s.record.Attempt
	s.record.Previous, s.record.Launch = &previous, nil
	s.record.Attempt = v1alpha1.Attempt{
		ID: previous.ID + 1, Since: s.last().Time, Restarts: previous.Restarts + 1, Executions: previous.Executions + 1,
	}
	return s.In(state, "")
}

func (s *recordBuilder) last() *v1alpha1.Transition {
	return &s.record.Transitions[len(s.record.Transitions)-1]
}

func (s *recordBuilder) Obj() *v1alpha1.Record { return s.record.DeepCopy() }
