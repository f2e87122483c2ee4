package fields

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// volumesByName returns the volumes of spec.volumes by name. The first volume with a name counts.
func volumesByName(app *v1beta2.SparkApplication) map[string]*corev1.Volume {
	byName := make(map[string]*corev1.Volume, len(app.Spec.Volumes))
	for i := range app.Spec.Volumes {
		volume := &app.Spec.Volumes[i]
		if byName[volume.Name] == nil {
			byName[volume.Name] = volume
		}
	}
	return byName
}

// volumeNames returns the names of volumes.
func volumeNames(volumes []corev1.Volume) map[string]bool {
	names := make(map[string]bool, len(volumes))
	for _, volume := range volumes {
		names[volume.Name] = true
	}
	return names
}

// mountsOf returns the mounts of containers.
func mountsOf(containers []corev1.Container) []corev1.VolumeMount {
	var mounts []corev1.VolumeMount
	for _, container := range containers {
		mounts = append(mounts, container.VolumeMounts...)
	}
	return mounts
}

// podVolumes adds volumes to a Pod. Only podVolumes may add to them while it is in use.
type podVolumes struct {
	pod   *corev1.PodSpec
	names map[string]bool
}

func volumesOf(pod *corev1.PodSpec) podVolumes {
	return podVolumes{pod: pod, names: volumeNames(pod.Volumes)}
}

// add adds a volume, unless the Pod has one with that name.
func (v podVolumes) add(volume corev1.Volume) {
	if v.names[volume.Name] {
		return
	}
	v.names[volume.Name] = true
	v.pod.Volumes = append(v.pod.Volumes, volume)
}
