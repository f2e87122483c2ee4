package submission

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestSecretsAreMountedByName(t *testing.T) {
	objects := mustBuild(t, pi("spark.kubernetes.driver.secrets.b=/b", "spark.kubernetes.driver.secrets.a=/a"))
	wantEqual(t, "mounts", driverOf(objects).VolumeMounts[:2], []corev1.VolumeMount{
		{Name: "a-volume", MountPath: "/a"}, {Name: "b-volume", MountPath: "/b"},
	})
	wantEqual(t, "volume", objects.Driver.Spec.Volumes[0], corev1.Volume{Name: "a-volume", VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: "a"},
	}})
}

func TestSecretsWhoseNamesAreNoneOfVolumesAreRefused(t *testing.T) {
	for _, name := range []string{"a.b", strings.Repeat("x", 57)} {
		wantRefused(t, pi("spark.kubernetes.driver.secrets."+name+"=/a"), "spark.kubernetes.driver.secrets."+name, "template")
	}
	mustBuild(t, pi("spark.kubernetes.driver.secrets."+strings.Repeat("x", 56)+"=/a"))
}

func TestVariablesAreTakenFromSecrets(t *testing.T) {
	env := driverOf(mustBuild(t, pi("spark.kubernetes.driver.secretKeyRef.PASSWORD=database:password"))).Env
	wantEqual(t, "variable", env[3], corev1.EnvVar{Name: "PASSWORD", ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "database"}, Key: "password",
		},
	}})
	for _, value := range []string{"", "secret", "secret:", ":key", "a:b:c"} {
		wantRefused(t, pi("spark.kubernetes.driver.secretKeyRef.X="+value), "spark.kubernetes.driver.secretKeyRef.X", "<secret>:<key>")
	}
}
