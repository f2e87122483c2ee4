// Package airflow runs examples/airflow with a real Airflow, which is installed from PyPI: its own operator and sensor, on real
// applications.
package airflow

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// patience bounds each command. A busy machine takes a minute to import Airflow.
const patience = 6 * time.Minute

// airflow is an Airflow with a database of its own, and all DAGs. They run applications in the namespace of the test.
type airflow struct {
	*testing.T
	variables []string
}

func start(t *testing.T, c *cluster.Cluster) *airflow {
	t.Helper()
	requirements, err := filepath.Abs("requirements.txt")
	cluster.Must(t, err)
	install := exec.CommandContext(t.Context(), "go", "run", "./cmd/localcluster", "python", requirements)
	install.Dir, install.Stderr = "../../../hack/localcluster", os.Stderr
	packages, err := install.Output()
	cluster.Must(t, err)
	connection, err := json.Marshal(map[string]any{"conn_type": "kubernetes", "extra": map[string]any{"kube_config_path": os.Getenv("KUBECONFIG")}})
	cluster.Must(t, err)
	home := t.TempDir()
	for _, folder := range []string{"../../../examples/airflow", "testdata"} {
		cluster.Must(t, os.CopyFS(filepath.Join(home, "dags"), os.DirFS(folder)))
	}
	a := &airflow{t, append(os.Environ(),
		"PYTHONPATH="+strings.TrimSpace(string(packages)),
		"AIRFLOW_HOME="+home,
		"AIRFLOW__CORE__LOAD_EXAMPLES=False",
		"AIRFLOW_CONN_KUBERNETES_DEFAULT="+string(connection),
		"AIRFLOW_VAR_SPARK_NAMESPACE="+c.Namespace,
	)}
	if output, ok := a.run("db", "migrate"); !ok {
		t.Fatal(output)
	}
	return a
}

// run runs a command of Airflow. It returns what it printed and whether it succeeded.
func (a *airflow) run(args ...string) (output string, ok bool) {
	a.Helper()
	ctx, cancel := context.WithTimeout(a.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, "python3", append([]string{"-m", "airflow"}, args...)...)
	command.Env = a.variables
	text, err := command.CombinedOutput()
	if ctx.Err() != nil {
		a.Fatalf("airflow %s has not ended within %s:\n%s", strings.Join(args, " "), patience, text)
	}
	return string(text), err == nil
}

// ends runs a DAG with parameters. It checks how the run ends and what it prints.
func (a *airflow) ends(dag, parameters string, success bool, prints string) {
	a.Helper()
	began := time.Now()
	output, ok := a.run("dags", "test", dag, "--conf", parameters)
	if ok != success || !strings.Contains(output, prints) {
		a.Errorf("the DAG %s with %s succeeds: %t, and should print %q:\n%s", dag, parameters, ok, prints, output)
	}
	a.Logf("%s %s: %.1f s", dag, parameters, time.Since(began).Seconds())
}

func TestDAGsEndWithTheirApplications(t *testing.T) {
	c := cluster.New(t)
	a := start(t, c)
	a.ends("spark_pi", `{"slices": "2"}`, true, "Pi is roughly 3.1")
	a.ends("spark_pi", `{"slices": "none"}`, false, "NumberFormatException")
	applications, err := c.Spark.SparkoperatorV1beta2().SparkApplications(c.Namespace).List(t.Context(), metav1.ListOptions{})
	cluster.Must(t, err)
	for _, app := range applications.Items {
		if app.DeletionTimestamp == nil {
			t.Errorf("the operator has not deleted %s, which is %s", app.Name, app.Status.AppState.State)
		}
	}

	a.ends("spark_pi_apache", `{"slices": "2"}`, true, "state=success")
	a.ends("spark_pi_apache", `{"slices": "none"}`, false, "exited with code 1")
}

func TestSensorEndsWithTheApplication(t *testing.T) {
	c := cluster.New(t)
	a := start(t, c)
	c.Apply(t, "testdata/applications.yaml")
	a.ends("sensor", `{"application": "succeeds"}`, true, "Pi is roughly 3.1")
	a.ends("sensor", `{"application": "fails"}`, false, "Spark application failed with state: FAILED")
}
