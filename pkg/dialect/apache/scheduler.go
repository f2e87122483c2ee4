package apache

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/internal/text"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/batch"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const (
	schedulerKey         = "spark.kubernetes.scheduler.name"
	driverSchedulerKey   = "spark.kubernetes.driver.scheduler.name"
	executorSchedulerKey = "spark.kubernetes.executor.scheduler.name"
	// volcanoQueue is Volcano's own annotation for the queue of a Pod.
	volcanoQueue = "scheduling.volcano.sh/queue-name"
)

// schedulers returns the schedulers of driver and executors, as Spark reads them; empty for the cluster's own.
func schedulers(app *sparkv1.SparkApplication, defaults Defaults) (driver, executors string) {
	of := func(key string, spec *sparkv1.PodSpecTemplate) string {
		return cmp.Or(property(app, defaults, key), property(app, defaults, schedulerKey), templateOrEmpty(spec).Spec.SchedulerName)
	}
	return of(driverSchedulerKey, app.Spec.DriverSpec), of(executorSchedulerKey, app.Spec.ExecutorSpec)
}

// batchScheduler returns the batch scheduler of all Pods of an application; empty if there is none.
func batchScheduler(app *sparkv1.SparkApplication, defaults Defaults) string {
	driver, executors := schedulers(app, defaults)
	if driver != executors || !slices.Contains(defaults.BatchSchedulers, driver) {
		return ""
	}
	return driver
}

// gangOf returns the Pods of an attempt for the batch scheduler that gets their requirements; zero if there is none. conf are the properties
// of the attempt, and appID is its ID.
func gangOf(app *sparkv1.SparkApplication, defaults Defaults, conf map[string]string, appID string) batch.Gang {
	scheduler := batchScheduler(app, defaults)
	if scheduler == "" || announcesItself(app, conf) {
		return batch.Gang{}
	}
	gang := batch.Gang{Scheduler: scheduler, PriorityClass: templateOrEmpty(app.Spec.DriverSpec).Spec.PriorityClassName}
	if scheduler == batch.Volcano {
		gang.Queue = driverAnnotation(app, conf, volcanoQueue)
	}
	if scheduler != batch.YuniKorn { // its queue is the label of the Pods, which the user sets
		gang.Group = shortened(appID+"-podgroup", maxLabel, app.Namespace, appID)
	}
	return gang
}

// groupOf returns the pod group of the current attempt without its spec; nil if there is none.
func groupOf(app *sparkv1.SparkApplication, defaults Defaults) *unstructured.Unstructured {
	if batchScheduler(app, defaults) == "" {
		return nil // without the properties of the attempt
	}
	attempt := int64(0)
	if record := app.Status.Firesteel; record != nil {
		attempt = record.Attempt.ID
	}
	return gangOf(app, defaults, propertiesWithoutGang(app, defaults), Names(app, attempt).AppID).NamedGroup()
}

// announcesItself reports whether the user makes the pod group or the task groups, by Spark's step for Volcano or by hand.
func announcesItself(app *sparkv1.SparkApplication, conf map[string]string) bool {
	for _, key := range []string{submission.VolcanoGroupAnnotation, batch.TaskGroups, batch.TaskGroupName} {
		if driverAnnotation(app, conf, key) != "" {
			return true
		}
	}
	label := cmp.Or(conf["spark.kubernetes.driver.label."+batch.CoschedulingGroup], templateOrEmpty(app.Spec.DriverSpec).Labels[batch.CoschedulingGroup])
	return label != "" || submission.AddsVolcano(conf)
}

// driverAnnotation returns an annotation of the driver Pod that the user sets.
func driverAnnotation(app *sparkv1.SparkApplication, conf map[string]string, key string) string {
	return cmp.Or(conf["spark.kubernetes.driver.annotation."+key], templateOrEmpty(app.Spec.DriverSpec).Annotations[key])
}

// gangProperties returns the properties by which the Pods of a gang name their group.
func gangProperties(gang batch.Gang) map[string]string {
	conf := map[string]string{}
	for _, role := range []string{"driver", "executor"} {
		for key, value := range gang.Annotations(role) {
			conf["spark.kubernetes."+role+".annotation."+key] = value
		}
		for key, value := range gang.Labels() {
			conf["spark.kubernetes."+role+".label."+key] = value
		}
	}
	return conf
}

// addGang adds to the objects of an attempt what the batch scheduler needs.
func addGang(app *sparkv1.SparkApplication, defaults Defaults, objects *submission.Objects) error {
	if batchScheduler(app, defaults) == "" {
		return nil // without the properties of the attempt
	}
	conf := propertiesWithoutGang(app, defaults)
	gang := gangOf(app, defaults, conf, objects.Driver.Labels[submission.LabelApplicationID])
	if gang.Scheduler == "" {
		return nil
	}
	resource, _ := mainResource(app.Spec)
	plan := submission.Plan{SparkVersion: app.Spec.RuntimeVersions.SparkVersion, Properties: conf, Resource: resource}
	last := len(objects.Driver.Spec.Containers) - 1 // Spark's container
	return gang.AddTo(
		objects, plan, objects.Driver.Spec.Containers[last].Resources.Requests, map[string]string{LabelOperator: OperatorName},
		placementOfDriver(objects.Driver), placementOfExecutors(app, conf),
	)
}

func placementOfDriver(driver *corev1.Pod) batch.Placement {
	spec := driver.Spec
	return batch.Placement{NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations, Affinity: spec.Affinity}
}

// placementOfExecutors returns where executors may run, by their template and by properties.
func placementOfExecutors(app *sparkv1.SparkApplication, conf map[string]string) batch.Placement {
	spec := templateOrEmpty(app.Spec.ExecutorSpec).Spec
	selector := maps.Clone(spec.NodeSelector)
	if selector == nil {
		selector = map[string]string{}
	}
	for _, prefix := range []string{"spark.kubernetes.node.selector.", "spark.kubernetes.executor.node.selector."} {
		for key, value := range conf {
			if name, ok := strings.CutPrefix(key, prefix); ok {
				selector[name] = value
			}
		}
	}
	return batch.Placement{NodeSelector: selector, Tolerations: spec.Tolerations, Affinity: spec.Affinity}
}

// schedulerConflicts warns of executors for which the batch scheduler reserves no room.
func schedulerConflicts(app *sparkv1.SparkApplication, defaults Defaults) finding.List {
	if len(defaults.BatchSchedulers) == 0 {
		return nil
	}
	driver, executors := schedulers(app, defaults)
	known := func(name string) bool { return slices.Contains(defaults.BatchSchedulers, name) }
	if driver == executors || !known(driver) && !known(executors) {
		return nil
	}
	name := func(scheduler string) string { return cmp.Or(scheduler, corev1.DefaultSchedulerName) }
	return finding.List{{
		Severity: finding.Warning, Field: "spec.sparkConf",
		Text: text.Format("The driver has the scheduler %q and executors have %q, so that no batch scheduler reserves room for all of them",
			name(driver), name(executors)),
		Remedy: "name one for both by " + finding.Entry("spec.sparkConf", schedulerKey),
	}}
}

// templateOrEmpty returns the template of a role, or else an empty one.
func templateOrEmpty(spec *sparkv1.PodSpecTemplate) *corev1.PodTemplateSpec {
	if template := template(spec); template != nil {
		return template
	}
	return &corev1.PodTemplateSpec{}
}
