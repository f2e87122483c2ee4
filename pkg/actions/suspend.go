package actions

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Suspend plans to suspend an object.
func Suspend(s *Subject) (*Plan, error) { return s.setSuspended(true) }

// Resume plans to resume an object.
func Resume(s *Subject) (*Plan, error) { return s.setSuspended(false) }

func (s *Subject) setSuspended(suspend bool) (*Plan, error) {
	if !canSuspend(s.View) {
		return nil, fmt.Errorf("%s cannot be suspended: %s has no field for it; %s ends it", s.Reference(), s.Resource.Group, s.Suggest("stop"))
	}
	plan := &Plan{
		Effect: s.resumption(), Done: "resumed",
		do: s.patch(map[string]any{"spec": map[string]any{"suspend": suspend}}),
	}
	if suspend {
		plan.Effect, plan.Done = s.suspension(), "suspended"
	}
	if isSuspended(s.Unstructured) == suspend {
		plan.Nothing = map[bool]string{true: "is suspended already", false: "is not suspended"}[suspend]
	}
	return plan, nil
}

// canSuspend reports whether the API of an object has a field for it.
func canSuspend(o *overview.Object) bool {
	_, ok := fieldNamed(specType(o), "suspend")
	return ok
}

// isSuspended reports whether the spec of an object says so.
func isSuspended(object *unstructured.Unstructured) bool {
	value, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend") // the schema allows nothing else
	return value
}

// suspension says what the field does to an object.
func (s *Subject) suspension() string {
	switch o := s.View; {
	case o.Kind == overview.Schedule:
		return "No run starts until it is resumed. Runs that were started go on."
	case o.Kind == overview.Cluster && o.State != "":
		return "Suspend holds only the creation of a cluster. This one exists, and goes on."
	case o.Kind == overview.Cluster:
		return "The cluster is not created until it is resumed."
	case o.Ended():
		return fmt.Sprintf("The application has ended (%s): nothing of it runs.", o.StateName())
	case o.Phase == overview.Running && s.Resource.Group == kubeflow.API.Group:
		return "The driver and its executors are stopped. Resumed, the application runs from its beginning."
	case o.Phase == overview.Running:
		return "The driver goes on to its end: suspend holds only the next launch. kubectl spark stop ends it."
	default:
		return "The next launch waits until it is resumed."
	}
}

func (s *Subject) resumption() string {
	switch o := s.View; {
	case o.Kind == overview.Schedule:
		return "Runs start again. If instants passed meanwhile, the latest runs now, unless its starting deadline is over."
	case o.Kind == overview.Cluster:
		return "The cluster is created, unless it exists."
	case o.Ended():
		return fmt.Sprintf("The application has ended (%s), and does not run again.", o.StateName())
	case s.Resource.Group == kubeflow.API.Group:
		return "The application runs from its beginning, if its driver was stopped."
	default:
		return "The next launch waits no longer."
	}
}
