package submission

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// mountedConfigMap is a config map of the attempt, and the volume of the driver that mounts it.
type mountedConfigMap struct {
	configMap *corev1.ConfigMap
	volume    *corev1.ConfigMapVolumeSource
}

// movePodTemplate moves the executors' pod template into the config map of the properties, if the plan asks for one config map and both
// fit into it. Spark has no such step. The volume of the properties names its key, so the template is no file in Spark's folder of
// configuration, which the driver copies to executors.
func (d *driver) movePodTemplate(properties *corev1.ConfigMap) {
	template := d.podTemplate
	if !d.plan.OneConfigMap || template == nil || dataSize(template.configMap)+dataSize(properties) > maxConfigMap {
		return
	}
	maps.Copy(properties.Data, template.configMap.Data)
	template.volume.Name = properties.Name
	d.owned = slices.DeleteFunc(d.owned, func(object Object) bool { return object == template.configMap })
}

// dataSize returns the bytes of a config map that count for the API server's limit: those of its values.
func dataSize(configMap *corev1.ConfigMap) (size int) {
	for _, value := range configMap.Data {
		size += len(value)
	}
	return size
}
