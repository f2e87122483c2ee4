package submission_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestExecutorsThatNoDriverCanCreateAreFound(t *testing.T) {
	const enabled, least, most = "spark.dynamicAllocation.enabled", "spark.dynamicAllocation.minExecutors", "spark.dynamicAllocation.maxExecutors"
	const amount, vendor = "spark.executor.resource.gpu.amount", "spark.executor.resource.gpu.vendor"
	for name, test := range map[string]struct {
		properties map[string]string
		want       []string
	}{
		"nothing":                        {nil, nil},
		"a minimum below the maximum":    {map[string]string{enabled: "true", least: "2", most: "5"}, nil},
		"a minimum alone":                {map[string]string{enabled: "true", least: "2"}, nil},
		"without dynamic allocation":     {map[string]string{least: "5", most: "2"}, nil},
		"a number that Build refuses":    {map[string]string{enabled: "true", least: "many", most: "2"}, nil},
		"a device and whose it is":       {map[string]string{amount: "1", vendor: "nvidia.com"}, nil},
		"a minimum above the maximum":    {map[string]string{enabled: "true", least: "5", most: "2"}, []string{least + " 5 is more than the 2 of " + most + ", and the driver ends with that error: lower it, or raise that."}},
		"no executor":                    {map[string]string{enabled: "true", most: "0"}, []string{most + " 0 allows no executor, and the driver ends with that error: write a number from 1 on, or leave it out."}},
		"a device, and not whose it is":  {map[string]string{amount: "1"}, []string{amount + ` "1" needs ` + vendor + " as well, and the driver cannot create executors without it: name whose device it is, such as nvidia.com."}},
		"a script for devices of nobody": {map[string]string{"spark.executor.resource.gpu.discoveryScript": "/a.sh"}, nil},
	} {
		found := submission.CheckExecutors(submission.Plan{SparkVersion: "4.1.0", Properties: test.properties})
		if diff := cmp.Diff(test.want, found.Sentences()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestPathsAtWhichExecutorsMountTwiceAreFound(t *testing.T) {
	const volume = "spark.kubernetes.executor.volumes.emptyDir.a.mount.path"
	mounting := func(paths ...string) *corev1.PodTemplateSpec {
		container := corev1.Container{Name: "spark-kubernetes-executor"}
		for i, path := range paths {
			container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: fmt.Sprint("v", i), MountPath: path})
		}
		return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{container, {Name: "other"}}}}
	}
	for name, test := range map[string]struct {
		properties map[string]string
		template   *corev1.PodTemplateSpec
		want       []string
	}{
		"no template":     {map[string]string{volume: "/a"}, nil, nil},
		"different paths": {map[string]string{volume: "/a"}, mounting("/b", "/c"), nil},
		"no container":    {map[string]string{volume: "/a"}, &corev1.PodTemplateSpec{}, nil},
		"two of the template": {nil, mounting("/b", "/b"), []string{
			`executorTemplate.spec.containers[0].volumeMounts[1].mountPath "/b" is the path of two volumes of the container spark-kubernetes-executor`,
		}},
		"a volume's": {map[string]string{volume: "/b"}, mounting("/b"), []string{volume + ` "/b" is the path of a volume in the template of executors as well`}},
		"a secret's": {map[string]string{"spark.kubernetes.executor.secrets.s": "/b"}, mounting("/b"), []string{
			`spark.kubernetes.executor.secrets.s "/b" is the path of a volume in the template of executors as well`,
		}},
		"that of Spark's files": {nil, mounting("/opt/spark/conf"), []string{
			`executorTemplate.spec.containers[0].volumeMounts[0].mountPath "/opt/spark/conf" is the path of a volume of Spark's own`,
		}},
		"that of Spark's files, which are not mounted": {map[string]string{"spark.kubernetes.executor.disableConfigMap": "true"}, mounting("/opt/spark/conf"), nil},
	} {
		var want []string
		for _, sentence := range test.want {
			want = append(want, sentence+", and the driver cannot create executors: choose another.")
		}
		found := submission.CheckExecutors(submission.Plan{SparkVersion: "4.1.0", Properties: test.properties, ExecutorTemplate: test.template})
		if diff := cmp.Diff(want, found.Sentences()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
