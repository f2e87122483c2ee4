package early

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// New returns the dialect of spark-operator.k8s.io, with the operator's settings. It translates an application once for all questions
// of a reconcile, and is not for several goroutines at once.
func New(s Settings) dialect.Dialect {
	s.last = &lastTranslation{}
	return of(s)
}

var of = dialect.Of(dialect.Functions[*v1alpha1.SparkApplication, Settings]{
	Policy:   Policy,
	Invalid:  Invalid,
	Spec:     SpecOf,
	Warnings: Warnings,

	UserDriver: UserDriver,
	Manifest:   Manifest,

	Plan:        Plan,
	Ingredients: Ingredients,
	// The labels of this API are the same for all launches.
	AddLaunchLabels: func(*submission.Plan, string) {},
	Complete:        Complete,
	NotInstalled:    fields.NotInstalled,
	ObsoleteObjects: ObsoleteObjects,
	Refusals:        Refusals,

	Project:    Project,
	SameStatus: func(a, b *v1alpha1.SparkApplication) bool { return equality.Semantic.DeepEqual(&a.Status, &b.Status) },
	Restore: func(app, last *v1alpha1.SparkApplication) *v1alpha1.SparkApplication {
		restored := app.DeepCopy()
		last.Status.DeepCopyInto(&restored.Status)
		return restored
	},
	ShowsExecutors: func(app *v1alpha1.SparkApplication) bool { return len(app.Status.ExecutorState) > 0 },
	VisibleState:   func(app *v1alpha1.SparkApplication) string { return string(app.Status.AppState.State) },
	KubernetesEvents: func(before, after *v1alpha1.SparkApplication) []dialect.KubernetesEvent {
		return status.KubernetesEvents(kubeflowApplication(before), kubeflowApplication(after))
	},

	HasForeignStatus: func(app *v1alpha1.SparkApplication) bool { return hasForeignStatus(app.Status) },
	FinishedElsewhere: func(app *v1alpha1.SparkApplication, s Settings) bool {
		return hasForeignStatus(app.Status) && status.FinishedElsewhere(kubeflowApplication(app), Policy(app, s))
	},
	SameVisibleStatus: func(a, b *v1alpha1.SparkApplication) bool { return sameVisibleStatus(a.Status, b.Status) },
	Inherit: func(app *v1alpha1.SparkApplication, s Settings) (*firesteelv1alpha1.Record, error) {
		inherited := kubeflowApplication(app)
		if !hasForeignStatus(app.Status) {
			inherited.Status.AppState.State = ""
		}
		return status.Inherit(inherited, Policy(app, s))
	},
	DriverLabels: driverLabels,
	PickDriver: func(app *v1alpha1.SparkApplication, _ *firesteelv1alpha1.Record, pods []corev1.Pod) (*corev1.Pod, []corev1.Pod) {
		if byUser(app.Spec) {
			return nil, nil // it is followed by its label, and never deleted for another
		}
		return status.PickDriver(kubeflowApplication(app), pods)
	},
	Adopt: func(
		app *v1alpha1.SparkApplication, s Settings, record *firesteelv1alpha1.Record, driver *corev1.Pod,
	) (*firesteelv1alpha1.Record, error) {
		return status.Adopt(kubeflowApplication(app), Policy(app, s), record, driver), nil
	},
})
