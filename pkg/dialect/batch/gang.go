package batch

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// The batch schedulers that have their own names. Any other name counts as a scheduler with the coscheduling plugin.
const (
	Volcano  = "volcano"
	YuniKorn = "yunikorn"
)

const (
	// CoschedulingGroup is the label that names a Pod's group for the coscheduling plugin.
	CoschedulingGroup = "scheduling.x-k8s.io/pod-group"
	// QueueLabel is the label that names a Pod's queue for YuniKorn.
	QueueLabel = "queue"
)

// The kinds of pod groups.
var (
	volcanoKind      = schema.GroupVersionKind{Group: "scheduling.volcano.sh", Version: "v1beta1", Kind: "PodGroup"}
	coschedulingKind = schema.GroupVersionKind{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "PodGroup"}
)

// Gang is the Pods of an application for a batch scheduler. Its zero value is for none.
type Gang struct {
	// Scheduler is the name of the batch scheduler.
	Scheduler string
	// Group is the name of the pod group; empty if the user makes one. YuniKorn has none.
	Group string
	// Queue is that of Volcano and YuniKorn, and PriorityClass that of Volcano. Both may be empty.
	Queue, PriorityClass string
	// Least is what the group needs at least; nil for the requests of all its Pods.
	Least corev1.ResourceList
}

// members are the Pods that an application begins with.
type members struct {
	// driver is what the driver requests.
	driver    corev1.ResourceList
	executors submission.Executors
}

// AddTo adds to the objects of an attempt what the batch scheduler needs. plan has what the number of executors and their requests depend
// on, and requests are those of the driver. The group gets the labels.
func (g Gang) AddTo(
	objects *submission.Objects, plan submission.Plan, requests corev1.ResourceList, labels map[string]string, driver, executor Placement,
) error {
	executors, err := submission.PlannedExecutors(plan)
	if err != nil {
		return err
	}
	begin := members{requests, executors}
	if group := g.podGroup(begin); group != nil {
		group.SetNamespace(objects.Driver.Namespace)
		group.SetLabels(labels)
		objects.Before = append(objects.Before, group)
	}
	return g.addTaskGroups(objects.Driver, begin, driver, executor)
}

// Annotations returns the annotations of the Pods of a role: driver or executor.
func (g Gang) Annotations(role string) map[string]string {
	switch {
	case g.Scheduler == YuniKorn:
		return map[string]string{TaskGroupName: taskGroupOf(role)}
	case g.Scheduler == Volcano && g.Group != "":
		return map[string]string{submission.VolcanoGroupAnnotation: g.Group}
	default:
		return nil
	}
}

// Labels returns the labels of all Pods.
func (g Gang) Labels() map[string]string {
	switch {
	case g.Scheduler == YuniKorn && g.Queue != "":
		return map[string]string{QueueLabel: g.Queue}
	case g.coscheduled() && g.Group != "":
		return map[string]string{CoschedulingGroup: g.Group}
	default:
		return nil
	}
}

func (g Gang) coscheduled() bool {
	return g.Scheduler != "" && g.Scheduler != Volcano && g.Scheduler != YuniKorn
}

// NamedGroup returns the pod group without its spec; nil if there is none.
func (g Gang) NamedGroup() *unstructured.Unstructured {
	if g.Group == "" || g.Scheduler == "" || g.Scheduler == YuniKorn {
		return nil
	}
	group := &unstructured.Unstructured{Object: map[string]any{}}
	group.SetName(g.Group)
	group.SetGroupVersionKind(coschedulingKind)
	if g.Scheduler == Volcano {
		group.SetGroupVersionKind(volcanoKind)
	}
	return group
}

// podGroup returns the group that the batch scheduler needs before the Pods; nil if it needs none. A minimum of one member lets the
// driver start. The minimum resources make it wait until there is room for the executors as well.
func (g Gang) podGroup(begin members) *unstructured.Unstructured {
	group := g.NamedGroup()
	if group == nil {
		return nil
	}
	least := g.Least
	if len(least) == 0 {
		least = begin.total()
	}
	spec := map[string]any{"minMember": int64(1), "minResources": texts(least)}
	if g.Scheduler == Volcano {
		for field, value := range map[string]string{"queue": g.Queue, "priorityClassName": g.PriorityClass} {
			if value != "" {
				spec[field] = value
			}
		}
	}
	group.Object["spec"] = spec
	return group
}

// total returns the sum of all requests.
func (m members) total() corev1.ResourceList {
	total := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		sum := m.driver[name].DeepCopy()
		sum.Add(times(m.executors.Requests[name], m.executors.Count))
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

// texts returns quantities as manifests have them.
func texts(resources corev1.ResourceList) map[string]any {
	written := map[string]any{}
	for name, quantity := range resources {
		written[string(name)] = quantity.String()
	}
	return written
}

func taskGroupOf(role string) string { return "spark-" + role }
