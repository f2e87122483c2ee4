package integration

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// Manifests of the first two versions are applied as kubectl does, strictly, and run. Each is also there in the stored version.
func TestManifestsOfTheFirstVersionsRun(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.serviceAccount("spark")
	manifests, err := os.ReadFile(repository + "/test/crd/testdata/sparkoperator-early.yaml")
	s.must(err)
	_, err = s.kubectl(string(manifests), "apply", "--validate=strict", "--filename=-")
	s.must(err)
	for _, name := range []string{"first", "retries", "with-an-object", "with-a-config-map"} {
		d := s.kubeflowDriver(name).start().ready()
		if name == "with-a-config-map" && !mountsConfigMap(d.Spec, "report-settings", "/opt/report/settings") {
			t.Errorf("its driver has the volumes %+v and the mounts %+v", d.Spec.Volumes, d.Spec.Containers[0].VolumeMounts)
		}
		s.untilShown(name, v1beta2.RunningState)
		for _, version := range []string{"v1beta1", "v1alpha1"} {
			text, err := s.kubectl("", "get", "sparkapplications."+version+".sparkoperator.k8s.io", name, "--output=yaml")
			s.must(err)
			if !strings.Contains(text, "apiVersion: sparkoperator.k8s.io/"+version) || !strings.Contains(text, "state: RUNNING") {
				t.Errorf("%s of %s is %s", name, version, text)
			}
		}
	}
	// The last applied text is what was applied, so nothing changes.
	output, err := s.kubectl(string(manifests), "apply", "--validate=strict", "--filename=-")
	s.must(err)
	if strings.Count(output, "unchanged") != 4 {
		t.Errorf("applied again: %s", output)
	}
}

// mountsConfigMap reports whether the driver's container of a Pod has a ConfigMap at a path.
func mountsConfigMap(spec corev1.PodSpec, configMap, path string) bool {
	return slices.ContainsFunc(spec.Volumes, func(volume corev1.Volume) bool {
		return volume.ConfigMap != nil && volume.ConfigMap.Name == configMap &&
			slices.ContainsFunc(spec.Containers[0].VolumeMounts, func(mount corev1.VolumeMount) bool {
				return mount.Name == volume.Name && mount.MountPath == path
			})
	})
}

func TestSchedulesOfTheFirstVersionsRun(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	for version, restartPolicy := range map[string]string{"v1alpha1": "OnFailure", "v1beta1": "{type: OnFailure, onFailureRetries: 3}"} {
		_, err := s.kubectl(fmt.Sprintf(`apiVersion: sparkoperator.k8s.io/%[1]s
kind: ScheduledSparkApplication
metadata: {name: %[1]s}
spec:
  schedule: "@every 1s"
  concurrencyPolicy: Forbid
  runHistoryLimit: 2
  template:
    type: Scala
    mode: cluster
    image: registry.example.com/spark:3.5.9
    mainClass: com.example.Report
    mainApplicationFile: local:///opt/report/report.jar
    driver: {cores: "0.1", memory: 512m}
    executor: {instances: 1}
    restartPolicy: %[2]s
    maxSubmissionRetries: 1
`, version, restartPolicy), "apply", "--validate=strict", "--filename=-")
		s.must(err)
		app := follow(s, s.kubeflowApps(), "", "a run of "+version, func(app *v1beta2.SparkApplication) bool {
			return strings.HasPrefix(app.Name, version+"-")
		})
		if app.Spec.RestartPolicy.Type != v1beta2.RestartOnFailure || app.Spec.MaxSubmissionRetries == nil || *app.Spec.MaxSubmissionRetries != 1 {
			t.Errorf("the spec of the run of %s is %+v", version, app.Spec)
		}
		s.kubeflowDriver(app.Name).start().ready()
		s.untilShown(app.Name, v1beta2.RunningState)
		s.must(s.Spark.SparkoperatorV1beta2().ScheduledSparkApplications(s.ns).Delete(t.Context(), version, metav1.DeleteOptions{}))
	}
}
