package status

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// maxEvents bounds the Kubernetes Events of an attempt. The last one is reserved for its end.
const maxEvents = 4

// KubernetesEvents returns those, with the Kubeflow operator's reasons, for what the status after shows and the
// status before does not. A failed executor is reported once an attempt.
func KubernetesEvents(before, after *v1beta2.SparkApplication) []dialect.KubernetesEvent {
	var emitted int64
	if record := before.Status.Firesteel; record != nil {
		emitted = record.Sequence
	}
	record, failed := after.Status.Firesteel, failedExecutors(before.Status)
	events, spent := []dialect.KubernetesEvent(nil), 0
	for i, t := range record.Transitions {
		if i == 0 || t.Attempt != record.Transitions[i-1].Attempt {
			spent = 0
			if t.Attempt == record.Attempt.ID && len(failed) > 0 {
				spent = 1
			}
		}
		event := eventOf(after, t)
		if i > 0 && resubmits(record.Transitions[i-1], t) {
			event = dialect.KubernetesEvent{}
		}
		room := maxEvents - 1
		if closes(t) {
			room = maxEvents
		}
		if event.Reason == "" || spent >= room {
			continue
		}
		if spent++; t.Sequence > emitted {
			events = append(events, event)
		}
	}
	names := failedExecutors(after.Status)
	runs := after.Status.AppState.State == v1beta2.RunningState // an executor that ends with its driver is part of the driver's end
	if runs && len(failed) == 0 && len(names) > 0 && spent < maxEvents-1 {
		events = append(events, dialect.KubernetesEvent{
			Type: corev1.EventTypeWarning, Reason: "SparkExecutorFailed", Message: executorsFailed(names),
		})
	}
	return events
}

// closes reports whether no Kubernetes Events of an attempt follow, or few.
func closes(t v1alpha1.Transition) bool {
	return t.Final() || t.State == string(lifecycle.Suspended) || t.End != nil && t.End.RestartAllowed
}

// resubmits reports whether an attempt follows a failed submission. The failure is reported already.
func resubmits(before, t v1alpha1.Transition) bool {
	return before.State == string(lifecycle.SchedulingFailure) && t.State == string(lifecycle.ScheduledToRestart)
}

// eventOf returns the Kubernetes Event of a transition; the zero value for none. Each Event is a write, so a life without
// failures has two. The Kubeflow operator's SparkDriverRunning and SparkDriverCompleted are in the status only.
func eventOf(app *v1beta2.SparkApplication, t v1alpha1.Transition) dialect.KubernetesEvent {
	name := app.Name
	normal := func(reason, format string, args ...any) dialect.KubernetesEvent {
		return dialect.KubernetesEvent{Type: corev1.EventTypeNormal, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	warning := func(reason, format string, args ...any) dialect.KubernetesEvent {
		return dialect.KubernetesEvent{Type: corev1.EventTypeWarning, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	switch state := lifecycle.State(t.State); {
	case state == lifecycle.DriverRequested:
		return normal("SparkApplicationSubmitted", "SparkApplication %s was submitted successfully", name)
	case state == lifecycle.Unknown:
		return warning("SparkDriverUnknown", "Driver %s in unknown state", t.DriverPod)
	case state == lifecycle.SchedulingFailure, state == lifecycle.Failed && t.DriverPod == "":
		return warning("SparkApplicationSubmissionFailed", "failed to submit SparkApplication %s: %s", name, t.Message)
	case state == lifecycle.Failed && t.End != nil && t.End.Reason == lifecycle.ReasonDriverLost:
		return warning("SparkDriverNotFound", "Driver pod %s not found", t.DriverPod)
	case state.Failure():
		return warning("SparkDriverFailed", "Driver %s failed: %s", t.DriverPod, t.Message)
	case state == lifecycle.ScheduledToRestart:
		return warning("SparkApplicationPendingRerun", "SparkApplication %s is pending rerun", name)
	case state == lifecycle.Suspending:
		return warning("SparkApplicationSuspending", "SparkApplication %s is suspending", name)
	case state == lifecycle.Suspended:
		return warning("SparkApplicationSuspended", "SparkApplication %s is suspended", name)
	case state == lifecycle.Resuming:
		return warning("SparkApplicationResuming", "SparkApplication %s is resuming", name)
	case state == lifecycle.Invalidating:
		return normal("SparkApplicationSpecUpdateProcessed", "SparkApplication %s was edited: it runs anew", name)
	case t.Outcome == v1alpha1.OutcomeSucceeded:
		return normal("SparkApplicationCompleted", "SparkApplication %s completed", name)
	case t.Outcome == v1alpha1.OutcomeFailed:
		return warning("SparkApplicationFailed", "SparkApplication %s failed: %s", name, app.Status.AppState.ErrorMessage)
	default:
		return dialect.KubernetesEvent{}
	}
}

// failedExecutors returns the Pods of the failed executors.
func failedExecutors(status v1beta2.SparkApplicationStatus) []string {
	var names []string
	for name, state := range status.ExecutorState {
		if state == v1beta2.ExecutorFailedState {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func executorsFailed(names []string) string {
	const named = 3
	listed, more := strings.Join(names[:min(len(names), named)], ", "), ""
	if len(names) > named {
		more = fmt.Sprintf(" and %d more", len(names)-named)
	}
	return fmt.Sprintf("Executor %s%s failed; status.executorState shows the next ones", listed, more)
}
