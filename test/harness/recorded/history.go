package recorded

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// history is a way to a state, and what is made of it there.
type history struct {
	// name is the state unless set.
	name   string
	states []lifecycle.State
	// restarts reports whether another attempt may follow the end of an attempt.
	restarts bool
	held     lifecycle.Held
	obstacle *lifecycle.Cause
	warnings []string
	// executors is the number of executor Pods that run.
	executors int
	health    Health
	message   string
}

func (h history) Name() string {
	if h.name != "" {
		return h.name
	}
	return string(h.states[len(h.states)-1])
}

// The beginnings of histories.
var (
	requested = []lifecycle.State{lifecycle.Submitted, lifecycle.DriverRequested}
	started   = then(requested, lifecycle.DriverStarted)
	ready     = then(started, lifecycle.DriverReady)
	running   = then(ready, lifecycle.RunningHealthy)
	succeeded = then(running, lifecycle.Succeeded)
	failed    = then(running, lifecycle.Failed)
)

func then(states []lifecycle.State, more ...lifecycle.State) []lifecycle.State {
	return append(append([]lifecycle.State{}, states...), more...)
}

const cause = "the driver's node was lost"

// common are the histories of applications of the Apache and the Kubeflow operator's APIs. Each state that both have is the end of one.
var common = []history{
	{states: requested[:1], health: Progressing},
	{states: requested[:1], name: "Unschedulable", health: Progressing, message: "0/3 nodes",
		obstacle: &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: "Unschedulable", Message: "0/3 nodes are available"}},
	{states: requested, health: Progressing, message: "DriverRequested is next"},
	{states: started, health: Progressing, message: "DriverStarted is next"},
	{states: then(running, lifecycle.Failed, lifecycle.ScheduledToRestart), restarts: true, health: Progressing},
	{states: then(running, lifecycle.Failed, lifecycle.ScheduledToRestart, lifecycle.DriverRequested), name: "DriverRequested again",
		restarts: true, health: Progressing},
	{states: running, executors: 2, health: Healthy, message: "RunningHealthy is next"},
	{states: running, name: "RunningHealthy, with a warning", warnings: []string{"spec.batchScheduler has no effect."}, executors: 2,
		health: Healthy, message: "spec.batchScheduler has no effect."},
	{states: then(requested, lifecycle.DriverStartTimedOut), health: Degraded, message: cause},
	{states: then(ready, lifecycle.ExecutorsStartTimedOut), health: Degraded, message: cause},
	{states: then(started, lifecycle.DriverReadyTimedOut), health: Degraded, message: cause},
	{states: succeeded, health: Healthy},
	{states: failed, health: Degraded, message: cause},
	{states: failed, name: "Failed, before a restart", restarts: true, health: Progressing},
	{states: then(requested[:1], lifecycle.SchedulingFailure), health: Degraded, message: cause},
	{states: then(requested[:1], lifecycle.SchedulingFailure), name: "SchedulingFailure, before a restart", restarts: true, health: Progressing},
	{states: then(running, lifecycle.DriverEvicted), health: Degraded, message: cause},
	{states: then(succeeded, lifecycle.ResourceReleased), name: "ResourceReleased after success", health: Healthy},
	{states: then(failed, lifecycle.ResourceReleased), name: "ResourceReleased after failure", health: Degraded, message: cause},
	{states: then(succeeded, lifecycle.TerminatedWithoutReleaseResources), name: "TerminatedWithoutReleaseResources after success",
		health: Healthy},
	{states: then(failed, lifecycle.TerminatedWithoutReleaseResources), name: "TerminatedWithoutReleaseResources after failure",
		health: Degraded, message: cause},
}

// Record returns the record of an application with this history.
func (h history) Record() *v1alpha1.Record {
	record := &v1alpha1.Record{Attempt: v1alpha1.Attempt{Since: metav1.NewMicroTime(start)}}
	for i, state := range h.states {
		at := start.Add(time.Duration(i) * time.Second)
		h.attempt(record, state, at)
		transition := v1alpha1.Transition{State: string(state), Message: string(state) + " is next."}
		if record.Launch != nil {
			transition.DriverPod, transition.ApplicationID = record.Launch.DriverPod, record.Launch.ApplicationID
		}
		if state.AttemptEnded() {
			transition.End = h.end(state)
		}
		if state.Terminated() {
			transition.Outcome = outbox.LastEnd(record).End.Outcome
			record.Launch.Released = state == lifecycle.ResourceReleased
		}
		outbox.Append(record, transition, at)
	}
	record.Acknowledged = record.Sequence
	return record
}

// attempt prepares a record for a state.
func (h history) attempt(record *v1alpha1.Record, state lifecycle.State, at time.Time) {
	switch state {
	case lifecycle.ScheduledToRestart:
		previous := record.Attempt
		record.Previous, record.Launch = &previous, nil
		record.Attempt = v1alpha1.Attempt{ID: previous.ID + 1, Since: metav1.NewMicroTime(at), Restarts: previous.Restarts + 1}
	case lifecycle.DriverRequested:
		record.Launch = &v1alpha1.Launch{ID: "launch", DriverPod: "pi-driver", DriverUID: "uid-of-driver", ApplicationID: "spark-launch"}
	}
}

func (h history) end(state lifecycle.State) *v1alpha1.AttemptEnd {
	if state == lifecycle.Succeeded {
		return &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeSucceeded, Message: "The driver completed."}
	}
	return &v1alpha1.AttemptEnd{
		Outcome: v1alpha1.OutcomeFailed, Class: lifecycle.ClassInfrastructure, Message: cause, RestartAllowed: h.restarts,
	}
}
