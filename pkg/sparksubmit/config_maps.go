package sparksubmit

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

const (
	hadoopConfSuffix = "-hadoop-config"
	sparkConfSuffix  = "-spark-config"
	// sparkConfMount is where driver and executors find the files of Spark's configuration. It is not Spark's own folder, which Spark itself
	// mounts. The class path leads to it, where Spark looks for log4j2.properties, metrics.properties, hive-site.xml and others.
	sparkConfMount = "/etc/firesteel/spark-conf"
)

// configMap is a folder of configuration.
type configMap struct {
	name  string
	files map[string]string
}

// configMaps are the folders of configuration, for an application with that name.
func (s *Submission) configMaps(name string) (all []configMap) {
	for _, folder := range []configMap{{name + hadoopConfSuffix, s.HadoopConf}, {name + sparkConfSuffix, s.SparkConf}} {
		if len(folder.files) > 0 {
			all = append(all, folder)
		}
	}
	return all
}

// ConfigMaps returns the ConfigMaps that an application of the Kubeflow or the early operator's API refers to. The Apache operator's API has a
// field for them.
func (s *Submission) ConfigMaps(name, namespace string) (all []Object) {
	for _, folder := range s.configMaps(name) {
		metadata := Object{"name": folder.name}
		set(metadata, "namespace", namespace)
		all = append(all, Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": values(folder.files)})
	}
	return all
}

// withProperties returns the submission with the properties that lead to its folders of configuration.
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

// withFolders returns the submission with the properties and the Pod templates that lead to its folders of configuration. Spark itself mounts
// that of Hadoop.
func (s *Submission) withFolders(name string) *Submission {
	made := s.withProperties(name)
	if len(s.SparkConf) == 0 {
		return made
	}
	made.DriverTemplate = mounting(s.DriverTemplate, "spark-kubernetes-driver", s.Properties[driverContainerKey], name+sparkConfSuffix)
	made.ExecutorTemplate = mounting(s.ExecutorTemplate, "spark-kubernetes-executor", s.Properties[executorContainerKey], name+sparkConfSuffix)
	return made
}

// mounting returns a template whose container of Spark mounts a ConfigMap: the one that a property names, or the first. Without a template it
// has Spark's name.
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
