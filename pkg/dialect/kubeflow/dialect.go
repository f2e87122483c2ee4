package kubeflow

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/spec"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Dialect answers what the reconciler asks of any API with this package's functions.
type Dialect struct{ Defaults Defaults }

var _ dialect.Dialect = Dialect{}

func typed(app dialect.Application) *v1beta2.SparkApplication { return app.(*v1beta2.SparkApplication) }

// Policy is what a spec says about the lifecycle.
func (d Dialect) Policy(app dialect.Application) lifecycle.Policy {
	return Policy(typed(app), d.Defaults)
}

// Spec is what an application runs anew for when it is edited.
func (d Dialect) Spec(app dialect.Application) spec.Spec { return SpecOf(typed(app)) }

// Warnings name what is not done as the spec asks.
func (d Dialect) Warnings(app dialect.Application) []string { return Neglected(typed(app), d.Defaults) }

// Plan is what an attempt submits.
func (d Dialect) Plan(app dialect.Application, attempt v1alpha1.Attempt) (submission.Plan, error) {
	return Plan(typed(app), attempt, d.Defaults)
}

// Ingredients decide, with the plan, what the objects of an attempt look like.
func (d Dialect) Ingredients(app dialect.Application) any { return Ingredients(typed(app), d.Defaults) }

// Sign has the Pods of a launch carry its submission id.
func (d Dialect) Sign(plan *submission.Plan, launchID string) { Sign(plan, launchID) }

// Complete does what the Kubeflow operator and its webhook do to what Spark makes.
func (d Dialect) Complete(app dialect.Application, objects *submission.Objects) error {
	return Complete(typed(app), d.Defaults, objects)
}

// NotInstalled says which objects were not made.
func (d Dialect) NotInstalled(kinds []string) []string { return NotInstalled(kinds) }

// Spent is the pod group, which would go on to ask for room.
func (d Dialect) Spent(app dialect.Application) []submission.Object {
	return spent(typed(app), d.Defaults)
}

// Refusal says why an attempt cannot be submitted.
func (d Dialect) Refusal(app dialect.Application, err error) string {
	return Refusal(err, typed(app), d.Defaults)
}

// Project writes a record, and what is known beyond it, into the status.
func (d Dialect) Project(app dialect.Application, record *v1alpha1.Record, facts dialect.Facts) {
	Project(&typed(app).Status, record, Executors{Seen: facts.Executors, Tracked: d.Defaults.MaxTrackedExecutors})
	ProjectUI(typed(app), d.Defaults, facts.Created)
	Conclude(typed(app), record, facts)
}

// Restore returns an application with the status of another.
func (d Dialect) Restore(app, last dialect.Application) dialect.Application {
	restored := typed(app).DeepCopy()
	typed(last).Status.DeepCopyInto(&restored.Status)
	return restored
}

// ShowsExecutors says that the status tells of an executor.
func (d Dialect) ShowsExecutors(app dialect.Application) bool {
	return len(typed(app).Status.ExecutorState) > 0
}

// ShownState is the state that the status shows.
func (d Dialect) ShownState(app dialect.Application) string {
	return string(typed(app).Status.AppState.State)
}

// Announcements are the Kubernetes Events of the transitions that people look for.
func (d Dialect) Announcements(before, after dialect.Application) []dialect.Announcement {
	return Announcements(typed(before), typed(after))
}

// Begun says that somebody took care of an application.
func (d Dialect) Begun(app dialect.Application) bool { return Begun(typed(app).Status) }

// History says that an application has ended for good under another operator.
func (d Dialect) History(app dialect.Application) bool { return History(typed(app), d.Policy(app)) }

// SameShown says that two statuses show the same to the Kubeflow operator's clients.
func (d Dialect) SameShown(a, b dialect.Application) bool {
	return SameShown(typed(a).Status, typed(b).Status)
}

// Inherit makes a record of the status that the Kubeflow operator left.
func (d Dialect) Inherit(app dialect.Application) (*v1alpha1.Record, error) {
	return Inherit(typed(app), d.Policy(app))
}

// DriverLabels select the driver Pods of an application.
func (d Dialect) DriverLabels(app dialect.Application) string { return DriverLabels(typed(app)) }

// PickDriver finds the driver of the run that the status shows.
func (d Dialect) PickDriver(
	app dialect.Application, _ *v1alpha1.Record, pods []corev1.Pod,
) (driver *corev1.Pod, others []corev1.Pod) {
	return PickDriver(typed(app), pods)
}

// Adopt gives an inherited record its launch.
func (d Dialect) Adopt(app dialect.Application, record *v1alpha1.Record, driver *corev1.Pod) (*v1alpha1.Record, error) {
	return Adopt(typed(app), d.Policy(app), record, driver), nil
}

// DriverLogLines is how many lines of a failed driver's log are told.
func (d Dialect) DriverLogLines() int { return d.Defaults.DriverLogLines }

// PodTemplates are where pod templates may be.
func (d Dialect) PodTemplates() podtemplate.Allowed { return d.Defaults.PodTemplates }

// DriverServiceAccount is the account of drivers for which an application names none.
func (d Dialect) DriverServiceAccount() string { return d.Defaults.DriverServiceAccount }
