package submission

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

const secretKeyRefPrefix = "spark.kubernetes.driver.secretKeyRef."

// envSecrets sets environment variables from keys of secrets, written as secret:key. It mirrors EnvSecretsFeatureStep.
func envSecrets(d *driver) {
	for _, p := range d.conf.withPrefix(secretKeyRefPrefix) {
		secret, key, _ := strings.Cut(p.value, ":")
		if secret == "" || key == "" || strings.Contains(key, ":") {
			d.conf.refuse(secretKeyRefPrefix+p.name, p.value, "does not name a key of a secret", "write <secret>:<key>")
			continue
		}
		d.conf.checkVariable(secretKeyRefPrefix, p.name, p.value)
		d.conf.checkName(secretKeyRefPrefix+p.name, secret, "secret")
		d.conf.expect(secretKeyRefPrefix+p.name, key, "is no key of a secret", validation.IsConfigMapKey(key))
		d.container.Env = append(d.container.Env, corev1.EnvVar{
			Name: p.name,
			ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: secret},
				Key:                  key,
			}},
		})
	}
}
