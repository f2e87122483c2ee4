package kubeflow

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// disruptionBudget keeps the driver from being evicted; nil where the spec does not ask for it, or the operator's
// settings do not allow it.
func disruptionBudget(app *v1beta2.SparkApplication, defaults Defaults, objects *submission.Objects) submission.Object {
	if !defaults.DriverPodDisruptionBudget || !isTrue(app.Spec.DriverPodDisruptionBudget) {
		return nil
	}
	one := intstr.FromInt32(1)
	return &policyv1.PodDisruptionBudget{
		TypeMeta: metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "PodDisruptionBudget"},
		ObjectMeta: metav1.ObjectMeta{
			Name: objects.Driver.Name, Namespace: app.Namespace, Labels: objectLabels(objects),
		},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &one,
			Selector:     &metav1.LabelSelector{MatchLabels: driverSelector(objects)},
		},
	}
}

// driverSelector selects the driver of whatever attempt.
func driverSelector(objects *submission.Objects) map[string]string {
	return map[string]string{LabelApplication: objects.Driver.Labels[LabelApplication], labelRole: string(driverRole)}
}
