package fields

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// The kinds of pod groups.
var (
	volcanoGroup      = schema.GroupVersionKind{Group: "scheduling.volcano.sh", Version: "v1beta1", Kind: "PodGroup"}
	coschedulingGroup = schema.GroupVersionKind{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "PodGroup"}
)

const (
	// volcanoAnnotation names a Pod's group for Volcano.
	volcanoAnnotation = "scheduling.k8s.io/group-name"
	// coschedulingLabel names a Pod's group for the coscheduling plugin.
	coschedulingLabel = "scheduling.x-k8s.io/pod-group"
)

// hasOwnGroup reports whether the user names a group of Volcano. The user must then create that group.
func hasOwnGroup(app *v1beta2.SparkApplication) bool {
	_, named := app.Spec.Driver.Annotations[volcanoAnnotation]
	return named
}

func (p properties) setVolcano(app *v1beta2.SparkApplication) {
	if hasOwnGroup(app) {
		return
	}
	for _, r := range []names.Role{names.Driver, names.Executor} {
		p.set(r.KubernetesProperty("annotation."+volcanoAnnotation), names.VolcanoGroupName(app), schedulerField)
	}
}

func (p properties) setCoscheduling(app *v1beta2.SparkApplication) {
	for _, r := range []names.Role{names.Driver, names.Executor} {
		p.set(r.KubernetesProperty("label."+coschedulingLabel), names.CoschedulingGroupName(app), schedulerField)
	}
}

// podGroup returns the group that the batch scheduler needs before the Pods; nil if it needs none. A minimum of one member
// lets the driver start. The minimum resources make it wait until there is room for the executors as well.
func podGroup(app *v1beta2.SparkApplication, defaults settings.Defaults, objects *submission.Objects) (submission.Object, error) {
	group := namedGroup(app, defaults)
	if group == nil {
		return nil, nil
	}
	options := app.Spec.BatchSchedulerOptions
	begins, err := gangOf(app, defaults, objects)
	if err != nil {
		return nil, err
	}
	spec := map[string]any{"minMember": int64(1), "minResources": texts(begins.total(options))}
	group.Object["spec"] = spec
	if group.GroupVersionKind() == volcanoGroup {
		if options != nil && options.Queue != "" {
			spec["queue"] = options.Queue
		}
		if options != nil && options.PriorityClassName != "" {
			spec["priorityClassName"] = options.PriorityClassName
		}
	}
	group.SetNamespace(app.Namespace)
	group.SetLabels(names.ObjectLabels(objects))
	return group, nil
}

// namedGroup returns the group without its spec; nil if there is none.
func namedGroup(app *v1beta2.SparkApplication, defaults settings.Defaults) *unstructured.Unstructured {
	group := &unstructured.Unstructured{Object: map[string]any{}}
	switch scheduler := configuredScheduler(app, defaults); {
	case scheduler == "", scheduler == settings.YuniKorn, scheduler == settings.Volcano && hasOwnGroup(app):
		return nil
	case scheduler == settings.Volcano:
		group.SetGroupVersionKind(volcanoGroup)
		group.SetName(names.VolcanoGroupName(app))
	default:
		group.SetGroupVersionKind(coschedulingGroup)
		group.SetName(names.CoschedulingGroupName(app))
	}
	return group
}

// texts returns quantities as manifests have them.
func texts(resources corev1.ResourceList) map[string]any {
	written := map[string]any{}
	for name, quantity := range resources {
		written[string(name)] = quantity.String()
	}
	return written
}
