package fields

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podvalidation"
)

// invalidPods returns the values in the fields of a role that the API server refuses in its Pods.
func invalidPods(app *v1beta2.SparkApplication, r names.Role) finding.List {
	spec := r.Pods(&app.Spec)
	// The fields of these parts have the names that they have in a Pod and in its container.
	pod := corev1.PodSpec{
		Affinity: spec.Affinity, Tolerations: spec.Tolerations, NodeSelector: spec.NodeSelector, HostAliases: spec.HostAliases, DNSConfig: spec.DNSConfig,
	}
	container := corev1.Container{Env: spec.Env, VolumeMounts: spec.VolumeMounts, SecurityContext: spec.SecurityContext}
	for _, port := range spec.Ports {
		container.Ports = append(container.Ports, corev1.ContainerPort{Name: port.Name, Protocol: corev1.Protocol(port.Protocol), ContainerPort: port.ContainerPort})
	}
	path := "spec." + string(r)
	return slices.Concat(
		invalidMounted(spec, r), invalidSources(app, r),
		podvalidation.Pod(path, &pod), podvalidation.Container(path, &container),
		podvalidation.PodSecurity(r.Field("podSecurityContext"), spec.PodSecurityContext),
		podvalidation.Sidecars(r.Field("initContainers"), spec.InitContainers), podvalidation.Sidecars(r.Field("sidecars"), spec.Sidecars),
		dialect.CheckTemplateValues(r.Field("template"), withFields(spec), r.Container()),
	)
}

// withFields returns the template of a role without the DNS policy that needs the field dnsConfig.
func withFields(spec *v1beta2.SparkPodSpec) *corev1.PodTemplateSpec {
	if spec.Template == nil || spec.DNSConfig == nil || spec.Template.Spec.DNSPolicy != corev1.DNSNone {
		return spec.Template
	}
	template := *spec.Template
	template.Spec.DNSPolicy = ""
	return &template
}

// invalidMounted returns the config maps and secrets of a role that no Pod can mount.
func invalidMounted(spec *v1beta2.SparkPodSpec, r names.Role) (found finding.List) {
	check := func(field, name, path, object string, needsPath bool) {
		if reasons := validation.IsDNS1123Subdomain(name); name == "" {
			found.Refuse(r.Field(field+".name"), nil, finding.Missing, "set it")
		} else if len(reasons) > 0 {
			found.Refuse(r.Field(field+".name"), name, "names no "+object, finding.Correct(reasons))
		}
		if path == "" && needsPath {
			found.Refuse(r.Field(field+".path"), nil, finding.Missing, "set it")
		}
	}
	for i, configMap := range spec.ConfigMaps {
		check(fmt.Sprintf("configMaps[%d]", i), configMap.Name, configMap.Path, "config map", true)
	}
	for i, secret := range spec.Secrets {
		check(fmt.Sprintf("secrets[%d]", i), secret.Name, secret.Path, "secret", !mountedBySpark(secret))
	}
	return found
}

// invalidSources returns the volumes of the spec with two sources that the Pods of a role get. Pods get those that their containers mount, and the
// first one of a name.
func invalidSources(app *v1beta2.SparkApplication, r names.Role) (found finding.List) {
	spec := r.Pods(&app.Spec)
	first, inTemplate, mounted := volumesByName(app), volumesOfTemplate(spec), map[string]bool{}
	for _, mount := range slices.Concat(spec.VolumeMounts, mountsOf(spec.InitContainers), mountsOf(spec.Sidecars)) {
		mounted[mount.Name] = !isLocalDir(mount)
	}
	for i := range app.Spec.Volumes {
		volume := &app.Spec.Volumes[i]
		if mounted[volume.Name] && first[volume.Name] == volume && !inTemplate[volume.Name] {
			found.Add(podvalidation.Sources(fmt.Sprintf("spec.volumes[%d]", i), volume)...)
		}
	}
	return found
}
