// Package variant describes the two kinds of schedules: the Kubeflow operator's, and Firesteel's own for the Apache
// operator's applications. It contains all differences between them, so that one reconciler and one handler serve
// both. It is pure: package schedules reads and writes the schedules of a kind.
package variant

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

// Schedule is a schedule of any kind.
type Schedule interface {
	schedule.Object
	runtime.Object
	// GetUndecodable returns why all but the metadata could not be decoded; empty if it could.
	GetUndecodable() string
}

// Kind is one of the kinds of schedules.
type Kind struct {
	// GroupVersion is the API of the kind.
	GroupVersion schema.GroupVersion
	// Manifest is the file with the CustomResourceDefinition.
	Manifest string
	// Runs is the kind of the applications that the schedules start.
	Runs schema.GroupVersionKind
	// LabelSchedule is the label of a run that names its schedule.
	LabelSchedule string
	// Finalizer is on each new run, so that the run cannot disappear before its schedule has recorded it.
	Finalizer string

	// spec is the type of a run's spec, and specPath the path of its fields in a schedule, with a dot at the end.
	spec     reflect.Type
	specPath string
	// annotationsOf is the path of the metadata that has a run's annotations, with a dot at the end; empty if that is the schedule's own.
	annotationsOf string
	template      func(s Schedule) (template, error)
}

const (
	kindName     = "ScheduledSparkApplication"
	resource     = "scheduledsparkapplications"
	runsResource = "sparkapplications"
)

// All are all kinds of schedules.
var All = []*Kind{Kubeflow, Apache}

// KindOf returns the kind of a schedule.
func KindOf(s Schedule) *Kind {
	if _, ok := s.(*v1beta2.ScheduledSparkApplication); ok {
		return Kubeflow
	}
	return Apache
}

// String names the kind with its API group, as kubectl does.
func (k *Kind) String() string { return resource + "." + k.GroupVersion.Group }

// GroupVersionKind returns the kind of the schedules.
func (k *Kind) GroupVersionKind() schema.GroupVersionKind {
	return k.GroupVersion.WithKind(kindName)
}

// GroupResource returns the resource of the schedules.
func (k *Kind) GroupResource() schema.GroupResource {
	return k.GroupVersion.WithResource(resource).GroupResource()
}

// RunsResource returns the resource of the runs.
func (k *Kind) RunsResource() schema.GroupVersionResource {
	return k.Runs.GroupVersion().WithResource(runsResource)
}

// Owner returns the reference to the schedule of this kind that owns an object, and whether there is one.
func (k *Kind) Owner(object metav1.Object) (*metav1.OwnerReference, bool) {
	for _, owner := range object.GetOwnerReferences() {
		version, err := schema.ParseGroupVersion(owner.APIVersion)
		if err == nil && version.Group == k.GroupVersion.Group && owner.Kind == kindName {
			return &owner, true
		}
	}
	return nil, false
}

// ScheduleOf returns the index key of a run: the uid of the schedule that owns it. For a run without an owner it is
// Detached of the schedule that its label names. It is empty for any other object.
func (k *Kind) ScheduleOf(run metav1.Object) string {
	if owner, owned := k.Owner(run); owned {
		return string(owner.UID)
	}
	label, instant := run.GetLabels()[k.LabelSchedule], InstantOf(run)
	if label == "" || instant.IsZero() || metav1.GetControllerOfNoCopy(run) != nil {
		return ""
	}
	return detached(run.GetNamespace(), label)
}

// Detached returns the index key of the runs of a schedule that have lost their owner.
func (k *Kind) Detached(s Schedule) string {
	return detached(s.GetNamespace(), schedule.LabelValue(s.GetName()))
}

func detached(namespace, label string) string { return namespace + "/" + label }

// template is the template of the runs.
type template struct {
	labels, annotations map[string]string
	spec                []byte
}

// unstructuredSpec decodes JSON as the API server's clients do, with whole numbers as integers.
func (t template) unstructuredSpec() (map[string]any, error) {
	var object unstructured.Unstructured
	if err := object.UnmarshalJSON([]byte(`{"apiVersion":"v1","kind":"Template","spec":` + string(t.spec) + `}`)); err != nil {
		return nil, err
	}
	spec, _, err := unstructured.NestedMap(object.Object, "spec")
	return spec, err
}
