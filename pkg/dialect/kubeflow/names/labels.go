package names

import (
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// The labels that the Kubeflow operator puts on the objects of an application.
const (
	LabelApplication = "sparkoperator.k8s.io/app-name"
	LabelLaunched    = "sparkoperator.k8s.io/launched-by-spark-operator"
	LabelMutated     = "sparkoperator.k8s.io/mutated-by-spark-operator"
	LabelSubmission  = "sparkoperator.k8s.io/submission-id"
	LabelCreated     = "sparkoperator.k8s.io/created-by-spark-operator"
	LabelRole        = "spark-role"
)

// queueLabels begins the labels of Kueue, which are about the application and not about its Pods.
const queueLabels = "kueue.x-k8s.io/"

// InheritedLabels returns the application's own labels that its Pods get, too.
func InheritedLabels(app *v1beta2.SparkApplication) map[string]string {
	labels := map[string]string{}
	for key, value := range app.Labels {
		if !strings.HasPrefix(key, queueLabels) {
			labels[key] = value
		}
	}
	return labels
}

// OwnLabels returns the labels that identify the Pods of a role. Unlike in the Kubeflow operator, they override the user's.
func OwnLabels(app *v1beta2.SparkApplication, r Role) map[string]string {
	labels := map[string]string{LabelApplication: app.Name, LabelLaunched: "true"}
	if r.Pods(&app.Spec).Template == nil {
		labels[LabelMutated] = "true"
	}
	return labels
}

// AddLaunchLabels labels the Pods of a launch with its submission ID.
func AddLaunchLabels(plan *submission.Plan, launchID string) {
	for _, r := range []Role{Driver, Executor} {
		plan.Properties[r.KubernetesProperty("label."+LabelSubmission)] = SubmissionID(launchID)
	}
}

// ObjectLabels returns the labels of objects other than Pods.
func ObjectLabels(objects *submission.Objects) map[string]string {
	driver := objects.Driver.Labels
	labels := map[string]string{LabelApplication: driver[LabelApplication], LabelCreated: "true"}
	if id := driver[LabelSubmission]; id != "" {
		labels[LabelSubmission] = id
	}
	return labels
}

// DriverSelector selects the driver of any attempt.
func DriverSelector(objects *submission.Objects) map[string]string {
	return map[string]string{LabelApplication: objects.Driver.Labels[LabelApplication], LabelRole: string(Driver)}
}

// DriverLabels returns the selector of the driver Pods of an application, whichever operator created them.
func DriverLabels(app *v1beta2.SparkApplication) string {
	return "spark-role=driver," + LabelApplication + "=" + app.Name
}
