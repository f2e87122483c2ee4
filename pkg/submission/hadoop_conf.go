package submission

import corev1 "k8s.io/api/core/v1"

const hadoopConfDir = "/opt/hadoop/conf"

// hadoopConf mounts the config map with Hadoop's configuration, and makes the executors mount it, too. It mirrors
// HadoopConfDriverFeatureStep. Spark's other source is a directory of the submitting host.
func hadoopConf(d *driver) {
	const key = "spark.kubernetes.hadoop.configMapName"
	name, named := d.configMapNamedBy(key)
	if !named {
		return
	}
	d.mount(corev1.VolumeMount{Name: "hadoop-properties", MountPath: hadoopConfDir}, configMapVolume(name), key)
	d.addEnv("HADOOP_CONF_DIR", hadoopConfDir)
	d.written["spark.kubernetes.executor.hadoopConfigMapName"] = name
}

// configMapNamedBy returns the name of an existing config map, and whether the property gives one.
func (d *driver) configMapNamedBy(key string) (name string, named bool) {
	name = d.conf.text("", key)
	if d.conf.set(key) && name == "" {
		d.conf.refuse(key, "", "names no config map", "name one, or leave it out")
	}
	return name, name != ""
}

// configMapVolume returns a volume with the keys of a config map as files: all of them, or only items.
func configMapVolume(name string, items ...corev1.KeyToPath) corev1.VolumeSource {
	return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: name},
		Items:                items,
	}}
}
