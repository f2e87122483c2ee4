package submission

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestScratchDirectories(t *testing.T) {
	mounting := templated(pi("spark.local.dir=/ignored"), corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Volumes: []corev1.Volume{{Name: "spark-local-dir-b"}, {Name: "spark-local-dir-a"}},
		Containers: []corev1.Container{{VolumeMounts: []corev1.VolumeMount{
			{Name: "spark-local-dir-b", MountPath: "/b"}, {Name: "spark-local-dir-a", MountPath: "/a"},
		}}},
	}})
	for name, row := range map[string]struct {
		plan   Plan
		dirs   string
		medium corev1.StorageMedium
	}{
		"one by default":                 {pi(), "/var/data/spark-2f6e9c1a-5b7d-4e0f-9a3c-8d1b2e4f6a70", ""},
		"in memory":                      {pi("spark.kubernetes.local.dirs.tmpfs=true"), "/var/data/spark-2f6e9c1a-5b7d-4e0f-9a3c-8d1b2e4f6a70", "Memory"},
		"two in order":                   {pi("spark.local.dir=/two,/one"), "/two,/one", ""},
		"with blanks, as Spark has them": {pi("spark.local.dir=/two, /one,"), "/two, /one", ""},
		"the template's":                 {mounting, "/b,/a", ""},
		"a property's": {
			pi(volume("hostPath.spark-local-dir-x", "mount.path=/x", "options.path=/host")...), "/x", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects := mustBuild(t, row.plan)
			driver := driverOf(objects)
			wantEqual(t, "variable", driver.Env[3], corev1.EnvVar{Name: "SPARK_LOCAL_DIRS", Value: row.dirs})
			for _, volume := range objects.Driver.Spec.Volumes {
				if volume.EmptyDir != nil {
					wantEqual(t, "medium of "+volume.Name, volume.EmptyDir.Medium, row.medium)
				}
			}
		})
	}
	for _, given := range []string{"", ",", " ,", "/a,,/b"} {
		wantRefused(t, pi("spark.local.dir="+given), "spark.local.dir")
	}
}

func TestNewScratchDirectoriesAreNumberedFromOne(t *testing.T) {
	mounts := driverOf(mustBuild(t, pi("spark.local.dir=/a,/b"))).VolumeMounts
	wantEqual(t, "mounts", mounts[:2], []corev1.VolumeMount{
		{Name: "spark-local-dir-1", MountPath: "/a"}, {Name: "spark-local-dir-2", MountPath: "/b"},
	})
}
