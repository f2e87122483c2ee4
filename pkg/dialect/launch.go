package dialect

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// executorLaunchLabel is the property that labels executors with the launch ID. The webhook of annotated Pods does not select Pods with it.
const executorLaunchLabel = "spark.kubernetes.executor.label." + LabelLaunch

// LaunchID returns a hash that identifies a launch. Another version of Firesteel may compute another hash: its fenced
// launches are then treated as if the spec had been edited since.
func LaunchID(
	encode func(any) ([]byte, error), app Application, attempt v1alpha1.Attempt, plan submission.Plan, ingredients any,
) (string, error) {
	encoded, err := encode(struct {
		UID         string
		Attempt     int64
		Plan        submission.Plan
		Ingredients any
	}{string(app.GetUID()), attempt.ID, plan, ingredients})
	if err != nil {
		return "", fmt.Errorf("encode plan: %w", err)
	}
	digest := sha256.Sum256(encoded)
	return hex.EncodeToString(digest[:16]), nil
}

// BuildLaunch makes the objects of a launch of a complete plan, with the labels of the launch. The application owns the driver and the objects
// before it. The driver owns the objects after it: OwnByDriver makes it their owner.
func BuildLaunch(d Dialect, api *API, app Application, plan *submission.Plan, id string) (*submission.Objects, error) {
	plan.Labels = map[string]string{LabelLaunch: id}
	plan.Properties[executorLaunchLabel] = id
	d.AddLaunchLabels(plan, id)
	objects, err := Build(d, app, *plan)
	if err != nil {
		return nil, err
	}
	for _, object := range slices.Concat(objects.Before, objects.Owned) {
		SetLaunchLabels(api, object, id, objects.Driver.Labels[api.LabelApplication])
	}
	owner := *metav1.NewControllerRef(app, api.GroupVersionKind)
	for _, object := range objects.Before {
		object.SetOwnerReferences([]metav1.OwnerReference{owner})
	}
	objects.Driver.OwnerReferences = []metav1.OwnerReference{owner}
	return objects, nil
}

// SetLaunchLabels sets the labels that identify an object of a launch. They override the user's.
func SetLaunchLabels(api *API, object submission.Object, id, application string) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[LabelLaunch], labels[api.LabelApplication] = id, application
	object.SetLabels(labels)
}

// OwnByDriver makes a driver Pod that exists the owner of an object, in its namespace.
func OwnByDriver(object submission.Object, driver *corev1.Pod) {
	object.SetNamespace(driver.Namespace)
	object.SetOwnerReferences([]metav1.OwnerReference{submission.OwnedBy(driver)})
}
