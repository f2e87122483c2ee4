package apache

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

var wording = diagnosis.Wording{
	ReadLog: "Its log may say why: resourceRetainPolicy OnFailure keeps it, and with terminationMessagePolicy " +
		"FallbackToLogsOnError in the driver's template its last lines are shown here.",
	NeverForced: "If its node is lost, delete the Node, or taint it with node.kubernetes.io/out-of-service, or delete the Pod by force, " +
		"which forceTerminationGracePeriodMillis does not allow Firesteel to do.",
	Retained: "is kept, as resourceRetainPolicy asks.",
}

// SetConditions sets the conditions of an application.
func SetConditions(app *sparkv1.SparkApplication, record *v1alpha1.Record, facts dialect.Facts) {
	status := &app.Status
	if app.DeletionTimestamp == nil { // a deletion raises the generation, but does not change the spec
		status.ObservedGeneration = app.Generation
	}
	dialect.SetConditions(&status.Conditions, status.ObservedGeneration, record, facts, wording)
}
