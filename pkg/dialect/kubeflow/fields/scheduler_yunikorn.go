package fields

import (
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const (
	taskGroupName = "yunikorn.apache.org/task-group-name"
	taskGroups    = "yunikorn.apache.org/task-groups"
	queueLabel    = "queue"
)

// taskGroup is a task group of YuniKorn: Pods with the same requests, and how many of them must find room together.
type taskGroup struct {
	Name         string              `json:"name"`
	MinMember    int64               `json:"minMember"`
	MinResource  map[string]any      `json:"minResource,omitempty"`
	NodeSelector map[string]string   `json:"nodeSelector,omitempty"`
	Tolerations  []corev1.Toleration `json:"tolerations,omitempty"`
	Affinity     *corev1.Affinity    `json:"affinity,omitempty"`
	Labels       map[string]string   `json:"labels,omitempty"`
}

func (p properties) setYuniKorn(app *v1beta2.SparkApplication) {
	for _, r := range []names.Role{names.Driver, names.Executor} {
		p.set(r.KubernetesProperty("annotation."+taskGroupName), "spark-"+string(r), schedulerField)
		if options := app.Spec.BatchSchedulerOptions; options != nil {
			p.set(r.KubernetesProperty("label."+queueLabel), options.Queue, "spec.batchSchedulerOptions.queue")
		}
	}
}

// addTaskGroups announces to YuniKorn, by an annotation of the first Pod, which Pods will be created.
func addTaskGroups(app *v1beta2.SparkApplication, defaults settings.Defaults, objects *submission.Objects) error {
	if configuredScheduler(app, defaults) != settings.YuniKorn {
		return nil
	}
	begins, err := gangOf(app, defaults, objects)
	if err != nil {
		return err
	}
	groups := []taskGroup{taskGroupOf(app, names.Driver, 1, begins.driver)}
	if executors := begins.executors; executors.Count > 0 { // YuniKorn refuses an empty group
		groups = append(groups, taskGroupOf(app, names.Executor, executors.Count, executors.Requests))
	}
	text, err := json.Marshal(groups)
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&objects.Driver.ObjectMeta, taskGroups, string(text))
	return nil
}

func taskGroupOf(app *v1beta2.SparkApplication, r names.Role, members int64, requests corev1.ResourceList) taskGroup {
	spec := r.Pods(&app.Spec)
	selector := map[string]string{}
	maps.Copy(selector, app.Spec.NodeSelector)
	maps.Copy(selector, spec.NodeSelector)
	return taskGroup{
		Name: "spark-" + string(r), MinMember: members, MinResource: texts(requests), NodeSelector: selector,
		Tolerations: spec.Tolerations, Affinity: spec.Affinity, Labels: spec.Labels,
	}
}
