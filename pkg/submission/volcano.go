package submission

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const podGroupTemplateKey = "spark.kubernetes.scheduler.volcano.podGroupTemplateFile"

// volcano puts the driver into a pod group of the Volcano scheduler, which must exist before the pod. The group is
// empty, as it is in Spark without a template. It mirrors VolcanoFeatureStep.
func volcano(d *driver) {
	if path, set := d.conf.values[podGroupTemplateKey]; set {
		d.conf.refuse(podGroupTemplateKey, path, templateFileProblem,
			"create the PodGroup yourself and name it by the pod annotation scheduling.k8s.io/group-name")
	}
	name := d.plan.Names.AppID + "-podgroup"
	group := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	group.SetAPIVersion("scheduling.volcano.sh/v1beta1")
	group.SetKind("PodGroup")
	meta := d.meta(name, nil)
	group.SetName(meta.Name)
	group.SetNamespace(meta.Namespace)
	group.SetLabels(meta.Labels)
	d.before = append(d.before, group)
	metav1.SetMetaDataAnnotation(&d.pod.ObjectMeta, "scheduling.k8s.io/group-name", name)
}
