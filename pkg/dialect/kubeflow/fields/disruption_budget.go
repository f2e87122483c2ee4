package fields

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// disruptionBudget returns the budget that protects the driver from eviction. It returns nil if the spec does not ask for
// it, or the operator's settings do not allow it.
func disruptionBudget(app *v1beta2.SparkApplication, defaults settings.Defaults, objects *submission.Objects) submission.Object {
	if !defaults.DriverPodDisruptionBudget || !isTrue(app.Spec.DriverPodDisruptionBudget) {
		return nil
	}
	one := intstr.FromInt32(1)
	return &policyv1.PodDisruptionBudget{
		TypeMeta: metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "PodDisruptionBudget"},
		ObjectMeta: metav1.ObjectMeta{
			Name: objects.Driver.Name, Namespace: app.Namespace, Labels: names.ObjectLabels(objects),
		},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &one,
			Selector:     &metav1.LabelSelector{MatchLabels: names.DriverSelector(objects)},
		},
	}
}
