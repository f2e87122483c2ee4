package integration

import (
	"os"
	"strings"
	"testing"

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
	for _, name := range []string{"first", "retries", "with-an-object"} {
		s.kubeflowDriver(name).start().ready()
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
	if strings.Count(output, "unchanged") != 3 {
		t.Errorf("applied again: %s", output)
	}
}

func TestScheduleOfTheFirstVersionRuns(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	_, err := s.kubectl(`apiVersion: sparkoperator.k8s.io/v1alpha1
kind: ScheduledSparkApplication
metadata: {name: early}
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
    restartPolicy: Never
    maxSubmissionRetries: 1
`, "apply", "--validate=strict", "--filename=-")
	s.must(err)
	app := follow(s, s.kubeflowApps(), "", "a run", func(*v1beta2.SparkApplication) bool { return true })
	if app.Spec.RestartPolicy.Type != v1beta2.RestartNever || app.Spec.MaxSubmissionRetries == nil || *app.Spec.MaxSubmissionRetries != 1 {
		t.Errorf("its spec is %+v", app.Spec)
	}
	s.must(s.Spark.SparkoperatorV1beta2().ScheduledSparkApplications(s.ns).Delete(t.Context(), "early", metav1.DeleteOptions{}))
}
