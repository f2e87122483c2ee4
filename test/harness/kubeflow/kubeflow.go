package kubeflow

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

const (
	module = "github.com/kubeflow/spark-operator/v2"
	// operatorFolder is that of the go.mod which requires it.
	operatorFolder = "test/harness/kubeflow/operator"
	// Namespace is the operator's own, by its chart.
	Namespace = "spark-operator"
	// Lease is the one by which its replicas elect a leader.
	Lease = "spark-operator-controller-lock"
)

// Operator is the operator's program.
type Operator struct {
	program, sparkHome string
}

// Build builds the operator and the program in place of spark-submit into a folder.
func Build(ctx context.Context, repository, folder string) (*Operator, error) {
	o := &Operator{program: filepath.Join(folder, "spark-operator"), sparkHome: filepath.Join(folder, "spark")}
	if _, err := run(ctx, filepath.Join(repository, operatorFolder), "build", "-trimpath", "-o", o.program, module+"/cmd/operator"); err != nil {
		return nil, err
	}
	submit := filepath.Join(o.sparkHome, "bin", "spark-submit")
	if _, err := run(ctx, repository, "build", "-trimpath", "-o", submit, "./test/harness/kubeflow/sparksubmit"); err != nil {
		return nil, err
	}
	return o, nil
}

// Chart returns the folder of the operator's chart, which is in its module.
func Chart(ctx context.Context, repository string) (string, error) {
	text, err := run(ctx, filepath.Join(repository, operatorFolder), "mod", "download", "-json", module)
	if err != nil {
		return "", err
	}
	var downloaded struct{ Dir string }
	err = json.Unmarshal([]byte(text), &downloaded)
	return filepath.Join(downloaded.Dir, "charts/spark-operator-chart"), err
}

// run runs go in a folder, and returns its output.
func run(ctx context.Context, folder string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir, command.Env = folder, append(os.Environ(), "CGO_ENABLED=0")
	var errors strings.Builder
	command.Stderr = &errors
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(arguments, " "), err, errors.String())
	}
	return string(output), nil
}

// Start starts the operator's controller for some namespaces. Its namespace must exist. Its output goes to the file log.
func (o *Operator) Start(log string, config *rest.Config, namespaces ...string) (*process.Process, error) {
	kubeconfig := log + ".kubeconfig"
	if err := controlplane.WriteKubeconfig(kubeconfig, config); err != nil {
		return nil, err
	}
	server, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	return process.Start(log, []string{
		"KUBECONFIG=" + kubeconfig, "SPARK_HOME=" + o.sparkHome,
		"KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port(),
	}, o.program, "controller", "start",
		"--namespaces="+strings.Join(namespaces, ","),
		"--leader-election=true", "--leader-election-lock-name="+Lease, "--leader-election-lock-namespace="+Namespace,
		// Shorter than the chart's, so that the next process need not wait for long.
		"--leader-election-lease-duration=3s", "--leader-election-renew-deadline=2s", "--leader-election-retry-period=500ms",
		"--health-probe-bind-address=0")
}
