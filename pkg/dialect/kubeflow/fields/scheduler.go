package fields

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
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

// configuredScheduler returns the batch scheduler that gets the requirements of an application; empty if there is none.
func configuredScheduler(app *v1beta2.SparkApplication, defaults settings.Defaults) string {
	name := batchScheduler(app, defaults)
	if !slices.Contains(defaults.BatchSchedulers, name) {
		return ""
	}
	return name
}

// setScheduler sets the scheduler for Spark, and the group of the Pods for the scheduler.
func (p properties) setScheduler(app *v1beta2.SparkApplication, defaults settings.Defaults) {
	for _, r := range []names.Role{names.Driver, names.Executor} {
		p.set(r.KubernetesProperty("scheduler.name"), r.Pods(&app.Spec).SchedulerName, r.Field("schedulerName"))
		p.set(r.KubernetesProperty("scheduler.name"), batchScheduler(app, defaults), schedulerField)
	}
	switch name := configuredScheduler(app, defaults); name {
	case "":
	case settings.Volcano:
		p.setVolcano(app)
	case settings.YuniKorn:
		p.setYuniKorn(app)
	default:
		p.setCoscheduling(app)
	}
}

// gang holds the Pods that an application begins with.
type gang struct {
	driver    corev1.ResourceList
	executors submission.Executors
}

// gangOf reads what the driver requests, and computes what each executor will request.
func gangOf(app *v1beta2.SparkApplication, defaults settings.Defaults, objects *submission.Objects) (gang, error) {
	executors, err := submission.PlannedExecutors(submission.Plan{
		SparkVersion: sparkVersion(app), Properties: propertiesOf(app, defaults).values(), Resource: mainResource(app.Spec),
	})
	return gang{driver: mainContainer(objects).Resources.Requests, executors: executors}, err
}

// total returns the sum of all requests of a gang, or the value that the spec sets instead.
func (g gang) total(options *v1beta2.BatchSchedulerConfiguration) corev1.ResourceList {
	if options != nil && len(options.Resources) > 0 {
		return options.Resources
	}
	total := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		sum := g.driver[name].DeepCopy()
		each := g.executors.Requests[name]
		sum.Add(times(each, g.executors.Count))
		total[name] = sum
	}
	return total
}

// times multiplies a quantity.
func times(quantity resource.Quantity, count int64) resource.Quantity {
	product := quantity.DeepCopy()
	product.Mul(count)
	return product
}
