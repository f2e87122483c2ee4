package kubeflow

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
)

// New returns the dialect of sparkoperator.k8s.io, with the operator's settings.
var New = dialect.Of(dialect.Functions[*v1beta2.SparkApplication, settings.Defaults]{
	Policy:   fields.Policy,
	Invalid:  fields.Invalid,
	Spec:     fields.SpecOf,
	Warnings: fields.UnsupportedFields,
	// Firesteel starts all drivers.
	UserDriver: func(*v1beta2.SparkApplication, settings.Defaults) *dialect.UserDriver { return nil },
	Manifest:   fields.Manifest,

	Plan:            fields.Plan,
	Ingredients:     fields.Ingredients,
	AddLaunchLabels: names.AddLaunchLabels,
	Complete:        fields.Complete,
	NotInstalled:    fields.NotInstalled,
	ObsoleteObjects: fields.ObsoleteObjects,
	Refusals:        fields.Refusals,

	Project: func(app *v1beta2.SparkApplication, record *v1alpha1.Record, facts dialect.Facts, defaults settings.Defaults) {
		status.Project(&app.Status, record, status.Executors{Seen: facts.Executors, Tracked: defaults.MaxTrackedExecutors})
		status.ProjectUI(app, record.Launch)
		status.SetConditions(app, record, facts)
	},
	SameStatus: func(a, b *v1beta2.SparkApplication) bool { return equality.Semantic.DeepEqual(&a.Status, &b.Status) },
	Restore: func(app, last *v1beta2.SparkApplication) *v1beta2.SparkApplication {
		restored := app.DeepCopy()
		last.Status.DeepCopyInto(&restored.Status)
		return restored
	},
	ShowsExecutors:   func(app *v1beta2.SparkApplication) bool { return len(app.Status.ExecutorState) > 0 },
	VisibleState:     func(app *v1beta2.SparkApplication) string { return string(app.Status.AppState.State) },
	KubernetesEvents: status.KubernetesEvents,

	HasForeignStatus: func(app *v1beta2.SparkApplication) bool { return status.HasForeignStatus(app.Status) },
	FinishedElsewhere: func(app *v1beta2.SparkApplication, defaults settings.Defaults) bool {
		return status.FinishedElsewhere(app, fields.Policy(app, defaults))
	},
	SameVisibleStatus: func(a, b *v1beta2.SparkApplication) bool { return status.SameVisibleStatus(a.Status, b.Status) },
	Inherit: func(app *v1beta2.SparkApplication, defaults settings.Defaults) (*v1alpha1.Record, error) {
		return status.Inherit(app, fields.Policy(app, defaults))
	},
	DriverLabels: names.DriverLabels,
	PickDriver: func(app *v1beta2.SparkApplication, _ *v1alpha1.Record, pods []corev1.Pod) (*corev1.Pod, []corev1.Pod) {
		return status.PickDriver(app, pods)
	},
	Adopt: func(
		app *v1beta2.SparkApplication, defaults settings.Defaults, record *v1alpha1.Record, driver *corev1.Pod,
	) (*v1alpha1.Record, error) {
		return status.Adopt(app, fields.Policy(app, defaults), record, driver), nil
	},
})
