package batch

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// TaskGroupName is the annotation that names a Pod's task group for YuniKorn.
	TaskGroupName = "yunikorn.apache.org/task-group-name"
	// TaskGroups is the annotation of the driver with all task groups.
	TaskGroups = "yunikorn.apache.org/task-groups"
)

// Placement is what YuniKorn must know of the Pods of a role to find nodes for them.
type Placement struct {
	NodeSelector map[string]string   `json:"nodeSelector,omitempty"`
	Tolerations  []corev1.Toleration `json:"tolerations,omitempty"`
	Affinity     *corev1.Affinity    `json:"affinity,omitempty"`
	Labels       map[string]string   `json:"labels,omitempty"`
}

// taskGroup is a task group of YuniKorn: Pods with the same requests, and how many of them must find room together.
type taskGroup struct {
	Name        string         `json:"name"`
	MinMember   int64          `json:"minMember"`
	MinResource map[string]any `json:"minResource,omitempty"`
	Placement
}

// addTaskGroups announces to YuniKorn, by an annotation of the driver, which Pods will be created.
func (g Gang) addTaskGroups(pod *corev1.Pod, begin members, driver, executor Placement) error {
	if g.Scheduler != YuniKorn {
		return nil
	}
	groups := []taskGroup{{taskGroupOf("driver"), 1, texts(begin.driver), driver}}
	if executors := begin.executors; executors.Count > 0 { // YuniKorn refuses an empty group
		groups = append(groups, taskGroup{taskGroupOf("executor"), executors.Count, texts(executors.Requests), executor})
	}
	text, err := json.Marshal(groups)
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, TaskGroups, string(text))
	return nil
}
