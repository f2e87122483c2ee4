package recorded

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// Health is what a GitOps tool is to make of an object, in Argo CD's words.
type Health string

// The healths.
const (
	Progressing Health = "Progressing"
	Healthy     Health = "Healthy"
	Degraded    Health = "Degraded"
	Suspended   Health = "Suspended"
)

// Object is an object in a state.
type Object struct {
	// Name is the API group, the kind and the state.
	Name   string
	Object *unstructured.Unstructured
	Health Health
	// Message is a part of what a tool is to show; empty if that does not matter.
	Message string
}

// start is when the objects were created, and now when their statuses were written.
var (
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now   = start.Add(time.Hour)
)

// All returns the objects of all kinds.
func All() []Object {
	var all []Object
	all = append(all, SparkApplications()...)
	all = append(all, KubeflowApplications()...)
	all = append(all, EarlyApplications()...)
	all = append(all, Clusters()...)
	return append(all, Schedules()...)
}

// object returns an object as the API server returns it.
func object(gvk schema.GroupVersionKind, state string, typed runtime.Object, health Health, message string) Object {
	typed.GetObjectKind().SetGroupVersionKind(gvk)
	text, err := json.Marshal(typed)
	if err != nil {
		panic(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(text); err != nil {
		panic(err)
	}
	return Object{
		Name: fmt.Sprintf("%s/%s %s", gvk.Group, gvk.Kind, state), Object: o, Health: health, Message: message,
	}
}

// edited returns the object after an edit that the controller has not seen.
func edited(o Object) Object {
	o.Name, o.Object, o.Health, o.Message = o.Name+", edited", o.Object.DeepCopy(), Progressing, "edit"
	o.Object.SetGeneration(o.Object.GetGeneration() + 1)
	return o
}

// undecodable returns the object after an edit that cannot be decoded.
func undecodable(o Object, condition string) Object {
	o.Name, o.Object, o.Health, o.Message = o.Name+", undecodable", o.Object.DeepCopy(), Degraded, "Undecodable: "
	o.Object.SetGeneration(o.Object.GetGeneration() + 1)
	explanation := diagnosis.Undecodable("object", "spec.driver: expected an object")
	patch, err := dialect.BlockedPatch(o.Object, explanation.Condition(condition), now)
	if err != nil {
		panic(err)
	}
	var change unstructured.Unstructured
	if err := json.Unmarshal(patch, &change.Object); err != nil {
		panic(err)
	}
	for _, field := range []string{"observedGeneration", "conditions"} {
		value, _, err := unstructured.NestedFieldNoCopy(change.Object, "status", field)
		if err != nil {
			panic(err)
		}
		if number, ok := value.(float64); ok {
			value = int64(number)
		}
		if err := unstructured.SetNestedField(o.Object.Object, value, "status", field); err != nil {
			panic(err)
		}
	}
	return o
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: "team-a", Name: name, UID: "uid-of-object", Generation: 1, CreationTimestamp: metav1.NewTime(start),
	}
}
