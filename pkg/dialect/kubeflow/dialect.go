package kubeflow

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// New returns the dialect of sparkoperator.k8s.io, with the operator's settings.
var New = dialect.Of(dialect.Functions[*v1beta2.SparkApplication, Defaults]{
	Policy:   Policy,
	Spec:     SpecOf,
	Warnings: UnsupportedFields,

	Plan:            Plan,
	Ingredients:     Ingredients,
	AddLaunchLabels: AddLaunchLabels,
	Complete:        Complete,
	NotInstalled:    NotInstalled,
	ObsoleteObjects: obsoleteObjects,
	Refusal:         Refusal,

	Project: func(app *v1beta2.SparkApplication, record *v1alpha1.Record, facts dialect.Facts, defaults Defaults) {
		Project(&app.Status, record, Executors{Seen: facts.Executors, Tracked: defaults.MaxTrackedExecutors})
		ProjectUI(app, defaults, facts.Created)
		SetConditions(app, record, facts)
	},
	Restore: func(app, last *v1beta2.SparkApplication) *v1beta2.SparkApplication {
		restored := app.DeepCopy()
		last.Status.DeepCopyInto(&restored.Status)
		return restored
	},
	ShowsExecutors: func(app *v1beta2.SparkApplication) bool { return len(app.Status.ExecutorState) > 0 },
	VisibleState:   func(app *v1beta2.SparkApplication) string { return string(app.Status.AppState.State) },
	Announcements:  Announcements,

	HasForeignStatus: func(app *v1beta2.SparkApplication) bool { return HasForeignStatus(app.Status) },
	FinishedElsewhere: func(app *v1beta2.SparkApplication, defaults Defaults) bool {
		return FinishedElsewhere(app, Policy(app, defaults))
	},
	SameVisibleStatus: func(a, b *v1beta2.SparkApplication) bool { return SameVisibleStatus(a.Status, b.Status) },
	Inherit: func(app *v1beta2.SparkApplication, defaults Defaults) (*v1alpha1.Record, error) {
		return Inherit(app, Policy(app, defaults))
	},
	DriverLabels: DriverLabels,
	PickDriver: func(app *v1beta2.SparkApplication, _ *v1alpha1.Record, pods []corev1.Pod) (*corev1.Pod, []corev1.Pod) {
		return PickDriver(app, pods)
	},
	Adopt: func(
		app *v1beta2.SparkApplication, defaults Defaults, record *v1alpha1.Record, driver *corev1.Pod,
	) (*v1alpha1.Record, error) {
		return Adopt(app, Policy(app, defaults), record, driver), nil
	},
})
