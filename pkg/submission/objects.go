package submission

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is an object of an attempt other than its driver Pod. It is a typed object of k8s.io/api, or unstructured if there
// is no type for it (Volcano's PodGroup). Its kind and API version are always set.
type Object interface {
	metav1.Object
	runtime.Object
}

// Objects are the objects of one attempt, in order of creation: Before one by one, then Driver, then Owned in
// parallel.
type Objects struct {
	// Before are the objects that must exist before the Pod.
	Before []Object
	// Driver is the driver Pod. Its only owner references are those of its template.
	Driver *corev1.Pod
	// Owned are the objects that the driver Pod will own (see OwnedBy) once its UID is known: claims, config maps, the
	// Service, the network policy. They have no owner reference yet.
	Owned []Object
	// Optional are those of Owned without which the application runs if the API server refuses them.
	Optional []Object
	// UI is how the driver's UI is reached.
	UI UI
	// Ignored are the keys of properties that Spark ignores because they do not begin with "spark.", sorted.
	Ignored []string
}

// UI is how the UI of a driver is reached.
type UI struct {
	// Service is that of Owned that leads to the UI; nil for none.
	Service *corev1.Service
	// NodePort reports whether the UI is reached at the node port of the Service.
	NodePort bool
	// NodeHost is the host of the node port; empty for the IP of the driver's node.
	NodeHost string
	// URL is that of an Ingress or a route in front of the Service; empty for none.
	URL string
}

// OwnedBy returns the owner reference that Spark gives to an attempt's objects. driver must be the Pod that the API server
// returned: it has the UID.
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
