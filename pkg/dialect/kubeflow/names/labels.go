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

// queueLabels begins the labels of Kueue, which speak of the application and not of its Pods.
const queueLabels = "kueue.x-k8s.io/"

// InheritedLabels are the application's own labels that its Pods carry, too.
func InheritedLabels(app *v1beta2.SparkApplication) map[string]string {
	labels := map[string]string{}
	for key, value := range app.Labels {
		if !strings.HasPrefix(key, queueLabels) {
			labels[key] = value
		}
	}
	return labels
}

// OwnLabels are those by which the Pods of a role are found. Unlike the Kubeflow operator's they win over the user's.
func OwnLabels(app *v1beta2.SparkApplication, r Role) map[string]string {
	labels := map[string]string{LabelApplication: app.Name, LabelLaunched: "true"}
	if r.Pods(&app.Spec).Template == nil {
		labels[LabelMutated] = "true"
	}
	return labels
}

// AddLaunchLabels has the Pods of a launch carry its submission id.
func AddLaunchLabels(plan *submission.Plan, launchID string) {
	for _, r := range []Role{Driver, Executor} {
		plan.Properties[r.KubernetesProperty("label."+LabelSubmission)] = SubmissionID(launchID)
	}
}

// ObjectLabels are those of objects beside the Pods.
func ObjectLabels(objects *submission.Objects) map[string]string {
	driver := objects.Driver.Labels
	labels := map[string]string{LabelApplication: driver[LabelApplication], LabelCreated: "true"}
	if id := driver[LabelSubmission]; id != "" {
		labels[LabelSubmission] = id
	}
	return labels
}

// DriverSelector selects the driver of whatever attempt.
func DriverSelector(objects *submission.Objects) map[string]string {
	return map[string]string{LabelApplication: objects.Driver.Labels[LabelApplication], LabelRole: string(Driver)}
}

// DriverLabels select the driver Pods of an application, whoever made them.
func DriverLabels(app *v1beta2.SparkApplication) string {
	return "spark-role=driver," + LabelApplication + "=" + app.Name
}
