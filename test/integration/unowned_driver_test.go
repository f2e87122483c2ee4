package integration

import corev1 "k8s.io/api/core/v1"

// unownedDriver takes the owner from a driver of another operator, and gives it Spark's ID of an application.
func unownedDriver(id string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.OwnerReferences, pod.Labels["spark-app-selector"] = nil, id }
}
