package dialect

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// UserDriver describes the driver that the user starts for an application. Its Pod is a driver by its labels and has the label
// UserDriverLabel of the API, with the value of the application.
type UserDriver struct {
	// PodName is the name that the Pod must have; empty for any.
	PodName string
	// Objects are created while the application waits for the driver, and the application owns them. It does without those that the API
	// server refuses.
	Objects []submission.Object
	// UI is how the UI of the driver is reached, by one of the objects.
	UI submission.UI
}

// IsOfUser reports whether a driver Pod with the label of an application may be a driver that its user started. A Pod of a launch is not,
// nor is one that another application owns.
func (a *API) IsOfUser(app Application, pod *corev1.Pod) bool {
	return pod.Labels[LabelLaunch] == "" && !slices.ContainsFunc(pod.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return owner.Kind == a.Kind && owner.UID != app.GetUID()
	})
}

// FollowsUserDriver reports whether the application follows a driver that its user started. Nothing but the deletion of the application stops
// it.
func FollowsUserDriver(app Application) bool {
	record := app.GetRecord()
	return record != nil && record.Launch != nil && record.Launch.ByUser
}
