package lifecycle_test

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// start is when the history of every test begins.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(since time.Duration) time.Time { return start.Add(since) }

const driverUID = types.UID("driver-0")

// ---- Pods ----

// podBuilder builds a driver Pod as the kubelet would report it.
type podBuilder struct{ pod corev1.Pod }

func driverPod() *podBuilder {
	return &podBuilder{corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pi-0-driver", UID: driverUID}}}
}

func (b *podBuilder) Phase(phase corev1.PodPhase) *podBuilder {
	b.pod.Status.Phase = phase
	return b
}

func (b *podBuilder) Reason(reason, message string) *podBuilder {
	b.pod.Status.Reason, b.pod.Status.Message = reason, message
	return b
}

func (b *podBuilder) Condition(kind corev1.PodConditionType, status corev1.ConditionStatus, reason string) *podBuilder {
	b.pod.Status.Conditions = append(b.pod.Status.Conditions,
		corev1.PodCondition{Type: kind, Status: status, Reason: reason})
	return b
}

// Scheduled binds the Pod to its node at an instant.
func (b *podBuilder) Scheduled(at time.Time) *podBuilder {
	b.Condition(corev1.PodScheduled, corev1.ConditionTrue, "")
	b.lastCondition().LastTransitionTime = metav1.NewTime(at)
	return b
}

// Saying sets the message of the last condition.
func (b *podBuilder) Saying(message string) *podBuilder {
	b.lastCondition().Message = message
	return b
}

func (b *podBuilder) lastCondition() *corev1.PodCondition {
	return &b.pod.Status.Conditions[len(b.pod.Status.Conditions)-1]
}

// Exception sets the stack trace that Spark leaves on its driver's Pod.
func (b *podBuilder) Exception(trace ...string) *podBuilder {
	b.pod.Annotations = map[string]string{ExitExceptionAnnotation: strings.Join(trace, "\n")}
	return b
}

func (b *podBuilder) Container(name string, options ...containerOption) *podBuilder {
	b.pod.Status.ContainerStatuses = append(b.pod.Status.ContainerStatuses, container(name, options))
	return b
}

func (b *podBuilder) InitContainer(name string, options ...containerOption) *podBuilder {
	b.pod.Status.InitContainerStatuses = append(b.pod.Status.InitContainerStatuses, container(name, options))
	return b
}

// Terminating deletes the Pod: the deletion was accepted at an instant, with a grace period.
func (b *podBuilder) Terminating(accepted time.Time, graceSeconds int64) *podBuilder {
	due := metav1.NewTime(accepted.Add(time.Duration(graceSeconds) * time.Second))
	b.pod.DeletionTimestamp, b.pod.DeletionGracePeriodSeconds = &due, &graceSeconds
	return b
}

func (b *podBuilder) Created(at time.Time) *podBuilder {
	b.pod.CreationTimestamp = metav1.NewTime(at)
	return b
}

// year is a year in seconds.
const year = 365 * 24 * 60 * 60

func (b *podBuilder) Obj() *corev1.Pod { return b.pod.DeepCopy() }

type containerOption func(*corev1.ContainerStatus)

func container(name string, options []containerOption) corev1.ContainerStatus {
	status := corev1.ContainerStatus{Name: name, Image: "spark:4.1.0"}
	for _, option := range options {
		option(&status)
	}
	return status
}

func running(s *corev1.ContainerStatus) { s.State.Running = &corev1.ContainerStateRunning{} }

func ready(s *corev1.ContainerStatus) {
	running(s)
	s.Ready = true
}

func exited(code int32, reason string) containerOption {
	return func(s *corev1.ContainerStatus) {
		s.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}
	}
}

// saying sets the termination message of a container.
func saying(message string) containerOption {
	return func(s *corev1.ContainerStatus) { s.State.Terminated.Message = message }
}

func waits(reason, message string) containerOption {
	return func(s *corev1.ContainerStatus) {
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
	}
}

// restarted is a container that ended and that the kubelet restarted.
func restarted(last *corev1.ContainerStateTerminated) containerOption {
	return func(s *corev1.ContainerStatus) {
		running(s)
		s.RestartCount, s.LastTerminationState.Terminated = 1, last
	}
}

// ---- Records ----

// recordBuilder builds a record step by step, as Decide would have written it.
type recordBuilder struct {
	record v1alpha1.Record
	now    time.Time
}

// submitted is an application that was reconciled once and waits for its first launch.
func submitted() *recordBuilder {
	b := &recordBuilder{now: start}
	b.record.Attempt.Since = metav1.NewMicroTime(start)
	return b.In(Submitted)
}

// After lets time pass before the next step.
func (b *recordBuilder) After(d time.Duration) *recordBuilder {
	b.now = b.now.Add(d)
	return b
}

// In appends a state.
func (b *recordBuilder) In(state State) *recordBuilder {
	b.record.Sequence++
	t := v1alpha1.Transition{
		Sequence: b.record.Sequence, Time: metav1.NewMicroTime(b.now), Attempt: b.record.Attempt.ID, State: string(state),
	}
	if b.record.Launch != nil {
		t.DriverPod, t.ApplicationID = b.record.Launch.DriverPod, b.record.Launch.ApplicationID
	}
	b.record.Transitions = append(b.record.Transitions, t)
	return b
}

// Fenced names the launch in the record, as it is done before anything is created.
func (b *recordBuilder) Fenced() *recordBuilder {
	id := b.record.Attempt.ID
	b.record.Launch = &v1alpha1.Launch{
		ID: fmt.Sprintf("launch-%d", id), DriverPod: fmt.Sprintf("pi-%d-driver", id), ApplicationID: fmt.Sprintf("pi-%d", id),
	}
	return b
}

// Requested creates the driver.
func (b *recordBuilder) Requested() *recordBuilder {
	b.Fenced()
	b.record.Launch.DriverUID = types.UID(fmt.Sprintf("driver-%d", b.record.Attempt.ID))
	return b.In(DriverRequested)
}

// Running creates the driver and lets it do its work.
func (b *recordBuilder) Running() *recordBuilder {
	return b.Requested().In(DriverStarted).In(DriverReady).In(RunningHealthy)
}

// Ended ends the attempt with no restart allowed.
func (b *recordBuilder) Ended(state State) *recordBuilder { return b.ended(state, false) }

// EndedRestartable ends the attempt with a restart allowed.
func (b *recordBuilder) EndedRestartable(state State) *recordBuilder { return b.ended(state, true) }

func (b *recordBuilder) ended(state State, restartAllowed bool) *recordBuilder {
	outcome := v1alpha1.OutcomeSucceeded
	if state.Failure() {
		outcome = v1alpha1.OutcomeFailed
	}
	b.In(state)
	b.last().End = &v1alpha1.AttemptEnd{Outcome: outcome, RestartAllowed: restartAllowed}
	return b
}

// Verdict is the restart handler's answer on the current attempt.
func (b *recordBuilder) Verdict(restart bool, notBefore time.Time, reason string) *recordBuilder {
	b.record.Verdict = &v1alpha1.Verdict{Attempt: b.record.Attempt.ID, Restart: restart, Reason: reason}
	if !notBefore.IsZero() {
		due := metav1.NewMicroTime(notBefore)
		b.record.Verdict.NotBefore = &due
	}
	return b
}

// Restarting begins the next attempt, which waits for its launch.
func (b *recordBuilder) Restarting() *recordBuilder {
	previous := b.record.Attempt
	b.record.Previous, b.record.Launch = &previous, nil
	b.record.Attempt = v1alpha1.Attempt{
		ID: previous.ID + 1, Since: metav1.NewMicroTime(b.now), Restarts: previous.Restarts + 1,
	}
	return b.In(ScheduledToRestart)
}

// Retained ends the application and retains its driver.
func (b *recordBuilder) Retained() *recordBuilder {
	outcome := outbox.LastEnd(&b.record).End.Outcome
	b.In(TerminatedWithoutReleaseResources)
	b.last().Outcome = outcome
	return b
}

// Released ends the application and releases its driver.
func (b *recordBuilder) Released() *recordBuilder {
	if b.record.Launch != nil {
		b.record.Launch.Released = true
	}
	hasOutcome := outbox.Current(&b.record).Outcome != ""
	outcome := outbox.LastEnd(&b.record).End.Outcome
	b.In(ResourceReleased)
	if !hasOutcome {
		b.last().Outcome = outcome
	}
	return b
}

// Acknowledged acknowledges all events so far.
func (b *recordBuilder) Acknowledged() *recordBuilder {
	b.record.Acknowledged = b.record.Sequence
	return b
}

// With changes the record in any other way.
func (b *recordBuilder) With(change func(*v1alpha1.Record)) *recordBuilder {
	change(&b.record)
	return b
}

func (b *recordBuilder) last() *v1alpha1.Transition {
	return &b.record.Transitions[len(b.record.Transitions)-1]
}

func (b *recordBuilder) Obj() *v1alpha1.Record { return b.record.DeepCopy() }

// ---- Observations ----

var (
	requestedDriver = &Driver{}
	startedDriver   = &Driver{Started: true}
	readyDriver     = &Driver{Started: true, Ready: true}
)

// ended is a driver with no running container.
func ended(state State, cause Cause) *Driver {
	return &Driver{End: &End{State: state, Cause: cause}, Stopped: true}
}

// terminating is a driver whose deletion was accepted and that may still run.
func terminating(since time.Time) *Driver {
	return &Driver{Started: true, Terminating: true, TerminatingSince: since, TerminatingUntil: since.Add(30 * time.Second)}
}

// withoutGrace is a driver whose deletion the API server began and did not finish.
func withoutGrace(since time.Time) *Driver {
	return &Driver{Terminating: true, NoGraceLeft: true, TerminatingSince: since, TerminatingUntil: since}
}

// killed is how long a kubelet may take to kill a Pod after its grace period.
const killed = 5 * time.Second

// ---- Descriptions ----

// describe returns transitions as text, one line each, so that a test can spell out a history.
func describe(transitions []v1alpha1.Transition) []string {
	lines := []string{}
	for _, t := range transitions {
		line := fmt.Sprintf("%d/%d %s", t.Sequence, t.Attempt, t.State)
		if t.DriverPod != "" {
			line += " [" + t.DriverPod + " " + t.ApplicationID + "]"
		}
		if t.Message != "" {
			line += ": " + t.Message
		}
		if t.End != nil {
			line += " | " + describeEnd(*t.End)
		}
		if t.Outcome != "" {
			line += " | final " + t.Outcome
		}
		lines = append(lines, line)
	}
	return lines
}

func describeEnd(end v1alpha1.AttemptEnd) string {
	words := []string{"ended " + end.Outcome}
	for _, word := range []string{end.Class, end.Reason} {
		if word != "" {
			words = append(words, word)
		}
	}
	if end.ExitCode != nil {
		words = append(words, fmt.Sprintf("exit %d", *end.ExitCode))
	}
	if end.RestartAllowed {
		words = append(words, "restartable")
	}
	return strings.Join(words, ", ")
}

// news returns the transitions that the second record added.
func news(before, after *v1alpha1.Record) []v1alpha1.Transition {
	var known int64
	if before != nil {
		known = before.Sequence
		for _, t := range before.Transitions {
			known = max(known, t.Sequence)
		}
	}
	var found []v1alpha1.Transition
	for _, t := range after.Transitions {
		if t.Sequence > known {
			found = append(found, t)
		}
	}
	return found
}
