package fields

import (
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// placeInPod matches places in the Pods of a role that podMutation fills from fields of the spec.
var placeInPod = regexp.MustCompile(`^(driver|executor)Template\.spec\.(?:initContainers|containers)\[\d+\]\.(?:volumeMounts\[\d+\]\.(mountPath|name)|image)$`)

// fieldInPod returns the field of the spec that set the value of a finding in a Pod. It is empty if the Pod's template did, or if the finding is
// not about such a place.
func fieldInPod(app *v1beta2.SparkApplication, found finding.Finding) string {
	place, value := placeInPod.FindStringSubmatch(found.Field), fmt.Sprint(found.Value)
	if place == nil {
		return ""
	}
	r := names.Role(place[1])
	switch place[2] {
	case "mountPath":
		return fieldOfMount(app, r, value)
	case "name":
		return fieldInContainers(r, app, func(container corev1.Container) (string, bool) {
			at := slices.IndexFunc(container.VolumeMounts, func(mount corev1.VolumeMount) bool { return mount.Name == value })
			return fmt.Sprintf("volumeMounts[%d].name", at), at >= 0
		})
	}
	return fieldInContainers(r, app, func(container corev1.Container) (string, bool) { return "image", container.Image == value })
}

// fieldOfMount returns the last field of a role by which its Pods mount something at a path that is used twice.
func fieldOfMount(app *v1beta2.SparkApplication, r names.Role, path string) string {
	if field := fieldInContainers(r, app, func(container corev1.Container) (string, bool) {
		at, count := -1, 0
		for i, mount := range container.VolumeMounts {
			if mount.MountPath == path {
				at, count = i, count+1
			}
		}
		return fmt.Sprintf("volumeMounts[%d].mountPath", at), count > 1
	}); field != "" {
		return field
	}
	spec, field := r.Pods(&app.Spec), ""
	for at, mounted := range []struct {
		by, path string
	}{
		{app.Spec.HadoopConfigMap, names.HadoopConfDir}, {app.Spec.SparkConfigMap, names.SparkConfDir},
	} {
		if mounted.by != "" && mounted.path == path {
			field = []string{"spec.hadoopConfigMap", "spec.sparkConfigMap"}[at]
		}
	}
	for i, configMap := range spec.ConfigMaps {
		if configMap.Path == path {
			field = r.Field(fmt.Sprintf("configMaps[%d].path", i))
		}
	}
	for i, secret := range spec.Secrets {
		if secret.Path == path {
			field = r.Field(fmt.Sprintf("secrets[%d].path", i))
		}
	}
	for i, mount := range spec.VolumeMounts {
		if mount.MountPath == path {
			field = r.Field(fmt.Sprintf("volumeMounts[%d].mountPath", i))
		}
	}
	return field
}

// fieldInContainers returns the field in the first of a role's init containers and sidecars of which a function returns one.
func fieldInContainers(r names.Role, app *v1beta2.SparkApplication, within func(corev1.Container) (field string, ok bool)) string {
	spec := r.Pods(&app.Spec)
	for i, container := range slices.Concat(spec.InitContainers, spec.Sidecars) {
		field, ok := within(container)
		switch sidecar := i - len(spec.InitContainers); {
		case !ok:
		case sidecar < 0:
			return r.Field(fmt.Sprintf("initContainers[%d].%s", i, field))
		default:
			return r.Field(fmt.Sprintf("sidecars[%d].%s", sidecar, field))
		}
	}
	return ""
}
