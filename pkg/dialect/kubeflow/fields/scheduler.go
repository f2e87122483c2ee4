package fields

import (
	"cmp"
	"maps"
	"slices"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/batch"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const schedulerField = "spec.batchScheduler"

// batchScheduler returns the scheduler of all Pods of an application. It is the operator's default if neither the
// application nor a role names one. It is empty if there is none.
func batchScheduler(app *v1beta2.SparkApplication, defaults settings.Defaults) string {
	if ofRole := cmp.Or(app.Spec.Driver.SchedulerName, app.Spec.Executor.SchedulerName); ofRole != "" {
		return app.Spec.BatchScheduler
	}
	return cmp.Or(app.Spec.BatchScheduler, defaults.DefaultBatchScheduler)
}

// gangOf returns the Pods of an application for the batch scheduler that gets its requirements; zero if there is none.
func gangOf(app *v1beta2.SparkApplication, defaults settings.Defaults) batch.Gang {
	scheduler := batchScheduler(app, defaults)
	if !slices.Contains(defaults.BatchSchedulers, scheduler) {
		return batch.Gang{}
	}
	gang := batch.Gang{Scheduler: scheduler, Group: names.CoschedulingGroupName(app)}
	if scheduler == batch.Volcano {
		gang.Group = names.VolcanoGroupName(app)
		if _, own := app.Spec.Driver.Annotations[submission.VolcanoGroupAnnotation]; own {
			gang.Group = "" // the user creates that group
		}
	}
	if options := app.Spec.BatchSchedulerOptions; options != nil {
		gang.Queue, gang.PriorityClass, gang.Least = options.Queue, options.PriorityClassName, options.Resources
	}
	return gang
}

// setScheduler sets the scheduler for Spark, and the group of the Pods for the scheduler.
func (p properties) setScheduler(app *v1beta2.SparkApplication, defaults settings.Defaults) {
	gang := gangOf(app, defaults)
	for _, r := range []names.Role{names.Driver, names.Executor} {
		p.set(r.KubernetesProperty("scheduler.name"), r.Pods(&app.Spec).SchedulerName, r.Field("schedulerName"))
		p.set(r.KubernetesProperty("scheduler.name"), batchScheduler(app, defaults), schedulerField)
		for key, value := range gang.Annotations(string(r)) {
			p.set(r.KubernetesProperty("annotation."+key), value, schedulerField)
		}
		for key, value := range gang.Labels() {
			field := schedulerField
			if key == batch.QueueLabel {
				field = "spec.batchSchedulerOptions.queue"
			}
			p.set(r.KubernetesProperty("label."+key), value, field)
		}
	}
}

// addGang adds to the objects what the batch scheduler needs.
func addGang(app *v1beta2.SparkApplication, defaults settings.Defaults, objects *submission.Objects) error {
	gang := gangOf(app, defaults)
	if gang.Scheduler == "" {
		return nil
	}
	plan := submission.Plan{SparkVersion: sparkVersion(app), Properties: propertiesOf(app, defaults).values(), Resource: mainResource(app.Spec)}
	return gang.AddTo(
		objects, plan, mainContainer(objects).Resources.Requests, names.ObjectLabels(objects),
		placementOf(app, names.Driver), placementOf(app, names.Executor),
	)
}

func placementOf(app *v1beta2.SparkApplication, r names.Role) batch.Placement {
	spec := r.Pods(&app.Spec)
	selector := map[string]string{}
	maps.Copy(selector, app.Spec.NodeSelector)
	maps.Copy(selector, spec.NodeSelector)
	return batch.Placement{NodeSelector: selector, Tolerations: spec.Tolerations, Affinity: spec.Affinity, Labels: spec.Labels}
}
