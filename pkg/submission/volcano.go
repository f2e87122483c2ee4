package submission

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// VolcanoGroupAnnotation is the annotation that names a Pod's group for Volcano.
const VolcanoGroupAnnotation = "scheduling.k8s.io/group-name"

const (
	podGroupFileKey = "spark.kubernetes.scheduler.volcano.podGroupTemplateFile"
	podGroupJSONKey = "spark.kubernetes.scheduler.volcano.podGroupTemplateJson"
)

// AddsVolcano reports whether properties add Spark's step for Volcano, which makes a pod group.
func AddsVolcano(properties map[string]string) bool {
	return slices.Contains((&conf{values: properties}).list(userStepsKey), volcanoStep)
}

// volcano adds the driver to a pod group of the Volcano scheduler, which must exist before the pod. As in Spark, the group
// is empty without a template. It mirrors VolcanoFeatureStep.
func volcano(d *driver) {
	group := d.podGroup()
	group.SetAPIVersion("scheduling.volcano.sh/v1beta1")
	group.SetKind("PodGroup")
	meta := d.meta(d.plan.Names.AppID+"-podgroup", group.GetLabels())
	group.SetName(meta.Name)
	group.SetNamespace(meta.Namespace)
	group.SetLabels(meta.Labels)
	d.before = append(d.before, group)
	metav1.SetMetaDataAnnotation(&d.pod.ObjectMeta, VolcanoGroupAnnotation, meta.Name)
}

// maxPodGroup is how many bytes the template of a pod group may have: parsing YAML takes hundreds of times its size.
const maxPodGroup = 64 << 10

// podGroup returns the template of the group, or an empty one.
func (d *driver) podGroup() *unstructured.Unstructured {
	if path, set := d.conf.values[podGroupFileKey]; set {
		d.conf.refuse(podGroupFileKey, path, templateFileProblem, d.podGroupRemedy())
	}
	group := &unstructured.Unstructured{Object: map[string]any{}}
	if text, set := d.conf.values[podGroupJSONKey]; set && d.rules.PodGroupJSON {
		if len(text) > maxPodGroup {
			d.conf.refuse(podGroupJSONKey, text, fmt.Sprintf("is of %d bytes, and may have %d", len(text), maxPodGroup), "write less into it")
			return group
		}
		template := map[string]any{}
		// It is decoded into a map, so that anything but an object is an error.
		if err := yaml.Unmarshal([]byte(text), &template); err != nil || !isObject(template["metadata"]) || !isObject(template["spec"]) {
			d.conf.refuse(podGroupJSONKey, text, "is no pod group", `write one such as {"spec": {"minMember": 2}}`)
			return group
		}
		group.Object = template
	}
	if group.Object["spec"] == nil {
		group.Object["spec"] = map[string]any{}
	}
	return group
}

// isObject reports whether a part of a template is an object, or is missing.
func isObject(value any) bool {
	_, object := value.(map[string]any)
	return object || value == nil
}

func (d *driver) podGroupRemedy() string {
	if d.rules.PodGroupJSON {
		return "write the template into " + podGroupJSONKey
	}
	return "create the PodGroup yourself and name it by the pod annotation " + VolcanoGroupAnnotation
}
