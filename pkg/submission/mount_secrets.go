package submission

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

const secretPrefix = "spark.kubernetes.driver.secrets."

// mountSecrets mounts the secrets that properties name, at the paths that they give. It mirrors MountSecretsFeatureStep.
func mountSecrets(d *driver) {
	for _, p := range d.conf.withPrefix(secretPrefix) {
		field, volume := secretPrefix+p.name, p.name+"-volume"
		if len(validation.IsDNS1123Label(volume)) > 0 {
			d.conf.refuse(field, p.value, "cannot be mounted, since "+volume+" is no name of a volume",
				"mount the secret by a volume of the driver's pod template")
		}
		if p.value == "" {
			d.conf.refuse(field, "", "names no path", "say where to mount the secret")
		}
		source := corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: p.name}}
		d.mount(corev1.VolumeMount{Name: volume, MountPath: p.value}, source, field)
	}
}
