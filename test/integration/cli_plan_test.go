package integration

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/root"
	"github.com/firesteel-dev/firesteel/pkg/config"
)

// plans are manifests, each with an edit and a line of the difference that follows.
var plans = map[string]struct{ manifest, from, to, line string }{
	"apache": {
		`apiVersion: spark.apache.org/v1
kind: SparkApplication
metadata: {name: planned-apache}
spec:
  mainClass: com.example.Main
  jars: local:///main.jar
  runtimeVersions: {sparkVersion: 4.2.1}
  sparkConf: {spark.hadoop.fs.s3a.secret.key: hunter2222, spark.driver.memory: 1g}
  driverSpec: {podTemplateSpec: {spec: {tolerations: [{key: spot, operator: Exists}], containers: [{name: main, env: [{name: STAGE, value: prod}]}]}}}
  configMapSpecs: [{name: planned-apache-files, data: {a: b}}]
`, "memory: 1g", "memory: 2g", "+        memory: 2432Mi",
	},
	"kubeflow": {
		`apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: planned-kubeflow}
spec:
  type: Scala
  mode: cluster
  sparkVersion: 4.0.1
  image: example.com/spark:4.0.1
  mainClass: com.example.Main
  mainApplicationFile: local:///main.jar
  volumes: [{name: data, emptyDir: {}}]
  driver: {memory: 1g, volumeMounts: [{name: data, mountPath: /data}], labels: {team: a}}
  executor: {instances: 1}
`, "team: a", "team: b", "-    team: a",
	},
	"cluster": {
		`apiVersion: spark.apache.org/v1
kind: SparkCluster
metadata: {name: planned-cluster}
spec:
  runtimeVersions: {sparkVersion: 4.0.1}
  clusterTolerations: {instanceConfig: {initWorkers: 1, minWorkers: 1, maxWorkers: 1}}
`, "minWorkers: 1, maxWorkers: 1", "minWorkers: 1, maxWorkers: 3", "+kind: HorizontalPodAutoscaler",
	},
}

// plan runs kubectl spark plan --diff about a manifest, with the settings of the cluster.
func (s *env) plan(ctx context.Context, manifest string) (code int, out, errOut string) {
	s.Helper()
	path := filepath.Join(s.TempDir(), "manifest.yaml")
	s.must(os.WriteFile(path, []byte(manifest), 0o600))
	var stdout, stderr bytes.Buffer
	o := cli.NewOptions(cli.Plugin, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr})
	code = o.Run(ctx, root.New(o), []string{
		"plan", "--kubeconfig=" + s.Plane.Kubeconfig(), "--namespace=" + s.ns, "-f", path, "--settings=cluster", "--diff",
	})
	return code, stdout.String(), stderr.String()
}

func TestPlanEqualsWhatIsCreated(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.ownDefaults(config.OwnDefaultsName, ownDefaultsLabel, map[string]string{"image": "example.com/ours:{{SPARK_VERSION}}"})
	s.untilDefaultsChanged(s.shared, 1)
	for name, test := range plans {
		t.Run(name, func(t *testing.T) {
			if code, out, _ := s.plan(t.Context(), test.manifest); code != 1 || !strings.Contains(out, "--- /dev/null") {
				t.Errorf("before it is created, plan exits with %d:\n%s", code, out)
			}
			_, err := s.kubectl(test.manifest, "apply", "-n", s.ns, "-f", "-")
			s.must(err)
			last := ""
			err = wait.PollUntilContextTimeout(t.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
				code, out, errOut := s.plan(ctx, test.manifest)
				last = out + errOut
				return code == 0, nil
			})
			if err != nil {
				t.Fatalf("what is created differs from the plan: %v\n%s", err, last)
			}
			if !strings.HasPrefix(last, "# settings: those of the cluster; not read: quotas\n") {
				t.Errorf("it begins with another line:\n%s", last)
			}
			code, out, _ := s.plan(t.Context(), strings.ReplaceAll(test.manifest, test.from, test.to))
			if code != 1 || !strings.Contains(out, "\n"+test.line+"\n") || strings.Contains(out, "hunter2222") {
				t.Errorf("an edit exits with %d and prints:\n%s", code, out)
			}
		})
	}
	s.must(s.Kube.CoreV1().ConfigMaps(s.ns).Delete(t.Context(), config.OwnDefaultsName, metav1.DeleteOptions{}))
}
