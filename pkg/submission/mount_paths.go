package submission

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// podContainers are the containers of a Pod under one name.
type podContainers struct {
	name       string
	containers []corev1.Container
}

// containersOf returns the containers of a Pod by the names of their fields.
func containersOf(pod corev1.PodSpec) []podContainers {
	return []podContainers{{"initContainers", pod.InitContainers}, {"containers", pod.Containers}}
}

// SharedMountPaths returns the paths at which one container of a Pod mounts two volumes. The API server refuses such a Pod. field is the path of
// the Pod's spec.
func SharedMountPaths(field string, pod corev1.PodSpec) (found finding.List) {
	for _, list := range containersOf(pod) {
		for i, container := range list.containers {
			taken := map[string]bool{}
			for j, mount := range container.VolumeMounts {
				if taken[mount.MountPath] && mount.MountPath != "" && len(found) < finding.Max {
					of := strings.TrimSpace("of the container " + container.Name)
					found.Refuse(fmt.Sprintf("%s.%s[%d].volumeMounts[%d].mountPath", field, list.name, i, j), mount.MountPath,
						"is the path of two volumes "+of, "choose another")
				}
				taken[mount.MountPath] = true
			}
		}
	}
	return found
}

const (
	executorSecretPrefix = "spark.kubernetes.executor.secrets."
	noExecutorConfKey    = "spark.kubernetes.executor.disableConfigMap"
)

// executorMountPaths warns of paths at which a container of executors mounts two volumes. The driver creates the executors, and the API server
// refuses each of them.
func (d *driver) executorMountPaths() (found finding.List) {
	const fails = ", and the driver cannot create executors"
	template := d.plan.ExecutorTemplate
	if template == nil {
		return nil
	}
	for _, shared := range SharedMountPaths("executorTemplate.spec", template.Spec) {
		found.Warn(shared.Field, shared.Value, shared.Message+fails, shared.Remedy)
	}
	if len(template.Spec.Containers) == 0 {
		return found
	}
	taken := map[string]bool{}
	at := SparkContainer(template.Spec.Containers, d.conf.text("", executorTemplateContainer))
	for i, mount := range template.Spec.Containers[at].VolumeMounts {
		taken[mount.MountPath] = true
		if mount.MountPath == confDir && !d.conf.boolean(false, noExecutorConfKey) {
			found.Warn(fmt.Sprintf("executorTemplate.spec.containers[%d].volumeMounts[%d].mountPath", at, i), confDir,
				"is the path of a volume of Spark's own"+fails, "choose another")
		}
	}
	mounted := d.conf.withPrefix(executorSecretPrefix)
	for i := range mounted {
		mounted[i].name = executorSecretPrefix + mounted[i].name
	}
	for _, volume := range d.readVolumes(executorVolumePrefix) {
		mounted = append(mounted, pair{volume.field, volume.mount.MountPath})
	}
	for _, mount := range mounted {
		if taken[mount.value] {
			found.Warn(mount.name, mount.value, "is the path of a volume in the template of executors as well"+fails, "choose another")
		}
	}
	return found
}
