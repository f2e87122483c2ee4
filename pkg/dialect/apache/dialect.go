package apache

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// New returns the dialect of spark.apache.org, with the operator's settings.
var New = dialect.Of(dialect.Functions[*sparkv1.SparkApplication, Defaults]{
	Policy:   Policy,
	Invalid:  func(app *sparkv1.SparkApplication, _ Defaults) finding.List { return invalid(app) },
	Spec:     SpecOf,
	Warnings: Warnings,
	// Firesteel starts all drivers.
	UserDriver: func(*sparkv1.SparkApplication, Defaults) *dialect.UserDriver { return nil },
	Manifest:   Manifest,

	Plan:        Plan,
	Ingredients: Ingredients,
	// The only label of an attempt on the Apache operator's Pods is Spark's own.
	AddLaunchLabels: func(*submission.Plan, string) {},
	Complete:        Complete,
	NotInstalled:    NotInstalled,
	ObsoleteObjects: ObsoleteObjects,
	Refusals:        Refusals,

	Project: func(app *sparkv1.SparkApplication, record *v1alpha1.Record, facts dialect.Facts, _ Defaults) {
		Project(&app.Status, record)
		SetConditions(app, record, facts)
	},
	SameStatus: func(a, b *sparkv1.SparkApplication) bool { return equality.Semantic.DeepEqual(&a.Status, &b.Status) },
	Restore: func(app, last *sparkv1.SparkApplication) *sparkv1.SparkApplication {
		restored := app.DeepCopy()
		last.Status.DeepCopyInto(&restored.Status)
		return restored
	},
	// The Apache operator's status shows no executors.
	ShowsExecutors: func(*sparkv1.SparkApplication) bool { return false },
	VisibleState:   VisibleState,
	KubernetesEvents: func(before, after *sparkv1.SparkApplication) []dialect.KubernetesEvent {
		return KubernetesEvents(before.GetRecord(), after.GetRecord())
	},

	HasForeignStatus:  func(app *sparkv1.SparkApplication) bool { return HasForeignStatus(app.Status) },
	FinishedElsewhere: FinishedElsewhere,
	SameVisibleStatus: func(a, b *sparkv1.SparkApplication) bool { return SameVisibleStatus(a.Status, b.Status) },
	Inherit:           Inherit,
	DriverLabels:      DriverLabels,
	PickDriver:        PickDriver,
	Adopt:             Adopt,
})
