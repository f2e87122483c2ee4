package podvalidation

import (
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Sources returns what the API server refuses about the sources of a volume. path is that of the volume.
func Sources(path string, volume *corev1.Volume) finding.List {
	c := &checker{}
	c.sources(path, volume)
	return c.found
}

func (c *checker) sources(path string, volume *corev1.Volume) {
	if names := sourcesOf(volume); len(names) > 1 {
		c.refuse(path, volume.Name, "has the sources "+strings.Join(names, " and "), "leave one of them")
	}
}

// sourcesOf returns the fields of the sources of a volume.
func sourcesOf(volume *corev1.Volume) (names []string) {
	source := reflect.ValueOf(volume.VolumeSource)
	for i := range source.NumField() {
		if !source.Field(i).IsNil() {
			name, _, _ := strings.Cut(source.Type().Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

// namesOfVolumes refuses volumes without a name, with the name of another one, or with two sources.
func (c *checker) namesOfVolumes(path string, volumes []corev1.Volume) {
	first := map[string]int{}
	for i, volume := range volumes {
		at := fmt.Sprintf("%s[%d]", path, i)
		c.sources(at, &volume)
		other, taken := first[volume.Name]
		switch {
		case volume.Name == "":
			c.missing(at + ".name")
		case taken:
			c.refuse(at+".name", volume.Name, fmt.Sprintf("is the name of %s[%d] as well", path, other), "choose another")
		default:
			first[volume.Name] = i
		}
	}
}

// defined refuses mounts of volumes that a Pod does not have. volumes are the names of its own.
func (c *checker) defined(path string, spec *corev1.PodSpec, volumes map[string]bool) {
	for list, containers := range containersOf(spec) {
		for i, container := range containers {
			c.add(Mounts(fmt.Sprintf("%s.%s[%d]", path, list, i), &container, volumes)...)
		}
	}
}

// VolumeNames returns the names of the volumes of a Pod.
func VolumeNames(spec *corev1.PodSpec) map[string]bool {
	names := make(map[string]bool, len(spec.Volumes))
	for _, volume := range spec.Volumes {
		names[volume.Name] = true
	}
	return names
}

// Mounts returns the mounts of a container that are of none of the volumes of its Pod. path is that of the container.
func Mounts(path string, container *corev1.Container, volumes map[string]bool) finding.List {
	c := &checker{}
	for i, mount := range container.VolumeMounts {
		at := fmt.Sprintf("%s.volumeMounts[%d].name", path, i)
		switch {
		case mount.Name == "":
			c.missing(at)
		case !volumes[mount.Name]:
			c.refuse(at, mount.Name, "names no volume of the Pod", "define the volume, or correct the name")
		}
	}
	return c.found
}

// containersOf returns the containers of a Pod by the names of their lists.
func containersOf(spec *corev1.PodSpec) func(yield func(list string, containers []corev1.Container) bool) {
	return func(yield func(list string, containers []corev1.Container) bool) {
		if yield("initContainers", spec.InitContainers) {
			yield("containers", spec.Containers)
		}
	}
}
