package sparksubmit

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

const (
	hadoopConfSuffix = "-hadoop-config"
	sparkConfSuffix  = "-spark-config"
	// sparkConfMount is where driver and executors have the files of Spark's configuration. Spark's own folder is mounted by Spark. This one is on the
	// class path: there Spark finds log4j2.properties, metrics.properties, hive-site.xml and others.
	sparkConfMount = "/etc/firesteel/spark-conf"
)

// configMap is a folder of configuration.
type configMap struct {
	name  string
	files map[string]string
}

// configMaps returns the folders of configuration with the names of their ConfigMaps. name is the application's.
func (s *Submission) configMaps(name string) (all []configMap) {
	for _, folder := range []configMap{{name + hadoopConfSuffix, s.HadoopConf}, {name + sparkConfSuffix, s.SparkConf}} {
		if len(folder.files) > 0 {
			all = append(all, folder)
		}
	}
	return all
}

// ConfigMaps returns the ConfigMaps to which an application of the Kubeflow or the early operator's API refers. The Apache operator's API has a field
// for them.
func (s *Submission) ConfigMaps(name, namespace string) (all []Object) {
	for _, folder := range s.configMaps(name) {
		metadata := Object{"name": folder.name}
		set(metadata, "namespace", namespace)
		all = append(all, Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": values(folder.files)})
	}
	return all
}

// withProperties returns the submission with the properties that make Spark use its folders of configuration.
func (s *Submission) withProperties(name string) *Submission {
	made := *s
	made.Properties = maps.Clone(s.Properties)
	if len(s.HadoopConf) > 0 {
		made.Properties[hadoopConfKey] = name + hadoopConfSuffix
	}
	if len(s.SparkConf) > 0 {
		for _, key := range []string{"spark.driver.extraClassPath", "spark.executor.extraClassPath"} {
			path := sparkConfMount
			if given := made.Properties[key]; given != "" {
				path += ":" + given
			}
			made.Properties[key] = path
		}
	}
	return &made
}

// withFolders returns the submission with these properties, and with Pod templates that mount Spark's configuration. Spark itself mounts Hadoop's.
func (s *Submission) withFolders(name string) *Submission {
	made := s.withProperties(name)
	if len(s.SparkConf) == 0 {
		return made
	}
	made.DriverTemplate = mounting(s.DriverTemplate, "spark-kubernetes-driver", s.Properties[driverContainerKey], name+sparkConfSuffix)
	made.ExecutorTemplate = mounting(s.ExecutorTemplate, "spark-kubernetes-executor", s.Properties[executorContainerKey], name+sparkConfSuffix)
	return made
}

// mounting returns a template in which Spark's container mounts a ConfigMap. named is the container that a property names; if it is empty, it is the
// first one. standard is the name of the container if the template has none.
func mounting(template *corev1.PodTemplateSpec, standard, named, configMap string) *corev1.PodTemplateSpec {
	made := &corev1.PodTemplateSpec{}
	if template != nil {
		made = template.DeepCopy()
	}
	if len(made.Spec.Containers) == 0 {
		made.Spec.Containers = []corev1.Container{{Name: standard}}
	}
	chosen := &made.Spec.Containers[0]
	for i := range made.Spec.Containers {
		if container := &made.Spec.Containers[i]; named != "" && container.Name == named {
			chosen = container
		}
	}
	const volume = "spark-config"
	chosen.VolumeMounts = append(chosen.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: sparkConfMount, ReadOnly: true})
	made.Spec.Volumes = append(made.Spec.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}},
	}})
	return made
}
