package variant

import (
	"fmt"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	sparkoperatorv1beta2 "github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

// AnnotationScheduledTime is the annotation of a run with the instant that it is for, in RFC 3339.
const AnnotationScheduledTime = "firesteel.dev/scheduled-time"

// NewRun builds the application of the run for an instant.
func (k *Kind) NewRun(s Schedule, instant time.Time) (*unstructured.Unstructured, error) {
	template, err := k.template(s)
	if err != nil {
		return nil, err
	}
	spec, err := template.unstructuredSpec()
	if err != nil {
		return nil, fmt.Errorf("spec.template: %w", err)
	}
	run := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	run.SetGroupVersionKind(k.Runs)
	run.SetNamespace(s.GetNamespace())
	run.SetName(schedule.RunName(s.GetName(), instant))
	labels := maps.Clone(s.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, template.labels)
	labels[k.LabelSchedule] = schedule.LabelValue(s.GetName())
	run.SetLabels(labels)
	annotations := maps.Clone(template.annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[AnnotationScheduledTime] = instant.UTC().Format(time.RFC3339)
	run.SetAnnotations(annotations)
	run.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(s, k.GroupVersionKind())})
	run.SetFinalizers([]string{k.Finalizer})
	return run, nil
}

// RunOf returns the state of a run. Its instant is only a claim.
func RunOf(object metav1.Object) schedule.Run {
	var controller types.UID
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		controller = owner.UID
	}
	return schedule.Run{
		Controller: controller,
		Name:       object.GetName(), UID: object.GetUID(), Created: object.GetCreationTimestamp().Time,
		Instant: InstantOf(object), State: stateOf(object), Deleting: object.GetDeletionTimestamp() != nil,
	}
}

// InstantOf returns the instant that a run claims to be for; zero if it claims none. schedule.DropUnprovenInstants
// checks the claim.
func InstantOf(run metav1.Object) time.Time {
	instant, err := time.Parse(time.RFC3339, run.GetAnnotations()[AnnotationScheduledTime])
	if err != nil {
		return time.Time{}
	}
	return instant
}

func stateOf(object metav1.Object) schedule.RunState {
	switch app := object.(type) {
	case *sparkv1.SparkApplication:
		return stateBy(app.Undecodable, app.Status.Firesteel)
	case *sparkoperatorv1beta2.SparkApplication:
		if app.Status.Firesteel == nil && app.Undecodable == "" {
			return kubeflowStates[app.Status.AppState.State]
		}
		return stateBy(app.Undecodable, app.Status.Firesteel)
	default:
		return schedule.RunActive
	}
}

// kubeflowStates are the states in which the Kubeflow operator left ended applications.
var kubeflowStates = map[sparkoperatorv1beta2.ApplicationStateType]schedule.RunState{
	sparkoperatorv1beta2.CompletedState: schedule.RunSucceeded,
	sparkoperatorv1beta2.FailedState:    schedule.RunFailed,
}

// stateBy derives the state from the record, which holds how the application really ended. An application that has
// ended still counts as running until its driver is released. So does an application that cannot be decoded any more
// and was launched.
func stateBy(undecodable string, record *firesteelv1alpha1.Record) schedule.RunState {
	launched := record.HasNewerFormat() || record != nil && record.Launch != nil && !record.Launch.Released
	switch terminated := lifecycle.CurrentState(record).Terminated(); {
	case !terminated && undecodable != "" && !launched:
		return schedule.RunFailed // it can never run
	case !terminated:
		return schedule.RunActive
	}
	for i := len(record.Transitions) - 1; i >= 0; i-- {
		if t := record.Transitions[i]; t.Final() && t.Outcome == firesteelv1alpha1.OutcomeSucceeded {
			return schedule.RunSucceeded
		}
	}
	return schedule.RunFailed
}
