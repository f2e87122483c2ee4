package applications

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/internal/intern"
	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// Compact makes an application of the API use as little memory as possible in a cache. It drops the managed fields, which no
// reader of a cache needs, and changes nothing else. Any other field must stay. If a written object lacks one, the API
// server removes the field from its managers, even if only the status is written.
//
// Compact is a transform of informers: it returns other objects unchanged.
func (a *API) Compact(object any) (any, error) {
	a.compact(object)
	return object, nil
}

func compactApache(object any) {
	app, ok := object.(*sparkv1.SparkApplication)
	if !ok {
		return
	}
	compactMeta(&app.ObjectMeta)
	spec, status := &app.Spec, &app.Status
	intern.Set(&spec.MainClass, &spec.Jars, &spec.PyFiles, &spec.RuntimeVersions.SparkVersion)
	spec.SparkConf = intern.Map(spec.SparkConf)
	status.Conditions = compactConditions(status.Conditions)
	compactRecord(status.Firesteel)
	for number, state := range status.StateTransitionHistory {
		intern.Set(&state.CurrentStateSummary, &state.Message)
		status.StateTransitionHistory[number] = state
	}
}

func compactKubeflow(object any) {
	app, ok := object.(*v1beta2.SparkApplication)
	if !ok {
		return
	}
	compactMeta(&app.ObjectMeta)
	spec, status := &app.Spec, &app.Status
	intern.Set(&spec.MainClass, &spec.MainApplicationFile, &spec.Image, &spec.SparkVersion)
	spec.SparkConf = intern.Map(spec.SparkConf)
	status.Conditions = compactConditions(status.Conditions)
	compactRecord(status.Firesteel)
}

func compactEarly(object any) {
	app, ok := object.(*earlyv1alpha1.SparkApplication)
	if !ok {
		return
	}
	compactMeta(&app.ObjectMeta)
	spec, status := &app.Spec, &app.Status
	intern.Set(&spec.MainClass, &spec.MainApplicationFile, &spec.Driver.Image, &spec.Executor.Image)
	spec.SparkConf = intern.Map(spec.SparkConf)
	status.Conditions = compactConditions(status.Conditions)
	compactRecord(status.Firesteel)
}

func compactMeta(meta *metav1.ObjectMeta) {
	meta.ManagedFields = nil
	intern.Set(&meta.Namespace)
	for i := range meta.Finalizers {
		intern.Set(&meta.Finalizers[i])
	}
}

func compactConditions(conditions []metav1.Condition) []metav1.Condition {
	for i := range conditions {
		c := &conditions[i]
		intern.Set(&c.Type, &c.Reason, &c.Message)
		intern.Set(&c.Status)
	}
	return exact(conditions)
}

func compactRecord(record *v1alpha1.Record) {
	if record == nil {
		return
	}
	for i := range record.Transitions {
		t := &record.Transitions[i]
		intern.Set(&t.State, &t.Message, &t.Outcome)
		if i > 0 && t.ApplicationID == record.Transitions[i-1].ApplicationID {
			t.ApplicationID = record.Transitions[i-1].ApplicationID
		}
		if i > 0 && t.DriverPod == record.Transitions[i-1].DriverPod {
			t.DriverPod = record.Transitions[i-1].DriverPod
		}
	}
	record.Transitions = exact(record.Transitions)
}

// exact returns a list without spare capacity, which decoding leaves.
func exact[T any](list []T) []T {
	if cap(list) == len(list) {
		return list
	}
	return slices.Clone(list)
}
