package submission

import (
	corev1 "k8s.io/api/core/v1"
)

const confDir = "/opt/spark/conf"

// mountProperties writes the driver's properties into a config map and mounts it. It runs after all steps. So the config map
// is the last object, and its volume, mount and variable are the last of the pod. It mirrors KubernetesClientUtils.
func mountProperties(d *driver) {
	name := d.plan.Names.ConfigMap
	text := propertiesText(name, d.plan.SubmitTime, merged(d.conf.values, d.written))
	d.conf.checkFits("properties", text)
	configMap := d.configMap(name, map[string]string{
		propertiesFile: text,
		// No code reads it there, but Spark writes it.
		namespaceKey: d.plan.Namespace,
	})
	d.owned = append(d.owned, configMap)
	d.movePodTemplate(configMap)
	const volume = "spark-conf-volume-driver"
	mode := int32(0o644)
	source := configMapVolume(name, corev1.KeyToPath{Key: propertiesFile, Path: propertiesFile, Mode: &mode})
	d.mount(corev1.VolumeMount{Name: volume, MountPath: confDir}, source, "")
	d.addEnv("SPARK_CONF_DIR", confDir)
}
