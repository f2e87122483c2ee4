package submission

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is what an attempt consists of besides its driver Pod: a typed object of k8s.io/api, or unstructured where
// that has no type (Volcano's PodGroup). Its kind and API version are always set.
type Object interface {
	metav1.Object
	runtime.Object
}

// Objects are the objects of one attempt, in order of creation: Before one by one, then Driver, then Owned in
// parallel.
type Objects struct {
	// Before must exist before the Pod.
	Before []Object
	// Driver is the driver Pod. It has no owner reference but those of its template.
	Driver *corev1.Pod
	// Owned is what the driver Pod will own (see OwnedBy) once its uid is known: claims, config maps, the Service, the
	// network policy. They have no owner reference yet.
	Owned []Object
	// Ignored are the keys of properties that Spark ignores because they do not begin with "spark.", sorted.
	Ignored []string
}

// OwnedBy returns the owner reference that Spark gives to an attempt's objects. The driver must have its uid, so it is
// the Pod that the API server returned.
func OwnedBy(driver *corev1.Pod) metav1.OwnerReference {
	controller := true
	return metav1.OwnerReference{
		APIVersion: "v1",
		Kind:       "Pod",
		Name:       driver.Name,
		UID:        driver.UID,
		Controller: &controller,
	}
}
