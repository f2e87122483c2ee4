package status

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

var wording = diagnosis.Wording{
	ReadLog: "Its log may say why: kubectl logs has it as long as the driver Pod is kept, and with terminationMessagePolicy " +
		"FallbackToLogsOnError in spec.driver.template its last lines are shown here.",
	NeverForced: "If its node is lost, delete the Node, or taint it with node.kubernetes.io/out-of-service, or delete the Pod by force, " +
		"which force-termination-grace in the ConfigMap config-kubeflow does not allow Firesteel to do.",
	Retained: "is kept as long as the application is, for its log.",
}

// SetConditions sets the conditions of an application.
func SetConditions(app *v1beta2.SparkApplication, record *v1alpha1.Record, facts dialect.Facts) {
	status := &app.Status
	if app.DeletionTimestamp == nil { // a deletion raises the generation, but does not change the spec
		status.ObservedGeneration = app.Generation
	}
	dialect.SetConditions(&status.Conditions, status.ObservedGeneration, record, facts, wording)
}
