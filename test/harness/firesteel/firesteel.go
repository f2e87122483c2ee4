// Package firesteel installs Firesteel on a control plane for tests, and runs its programs as processes.
package firesteel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/previous"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// SystemNamespace is the namespace of an installation.
const SystemNamespace = "firesteel-system"

// Manifests match the files of config that a control plane without real nodes needs: all but the controller's Deployment.
var Manifests = []string{"1*.yaml", "2*.yaml", "3*.yaml", "4*.yaml"}

// Handlers match the files of config for handlers outside the controller.
var Handlers = []string{"eventing/500-handler-*.yaml"}

// Installation is a control plane with Firesteel's manifests, and clients for its admin.
type Installation struct {
	Plane   *controlplane.ControlPlane
	Kube    kubernetes.Interface
	Spark   versioned.Interface
	Dynamic dynamic.Interface
}

// Install starts a control plane and applies the files of the repository's folder config that match patterns.
func Install(ctx context.Context, repository string, o controlplane.Options, patterns ...string) (*Installation, error) {
	var err error
	if o.Manifests, err = controlplane.Manifests(filepath.Join(repository, "config"), patterns...); err != nil {
		return nil, err
	}
	i := &Installation{}
	if i.Plane, err = controlplane.Start(ctx, o); err != nil {
		return nil, err
	}
	var errs [3]error
	i.Kube, errs[0] = kubernetes.NewForConfig(i.Plane.Admin())
	i.Spark, errs[1] = versioned.NewForConfig(i.Plane.Admin())
	i.Dynamic, errs[2] = dynamic.NewForConfig(i.Plane.Admin())
	if err := errors.Join(errs[:]...); err != nil {
		i.Plane.Stop()
		return nil, err
	}
	return i, nil
}

// buildFlags are those of .ko.yaml.
var buildFlags = []string{"-trimpath", "-tags=grpcnotrace"}

// Programs is a folder of the repository for the programs of one package of tests. It stays, since the linker runs only for a program
// that is not there or has changed.
func Programs(repository, name string) (string, error) {
	return filepath.Abs(filepath.Join(repository, ".bin", name))
}

// Build builds commands of the repository as ko does, into a folder.
func Build(ctx context.Context, repository, folder string, commands ...string) error {
	arguments := append([]string{"build", "-o", folder + "/"}, buildFlags...)
	for _, command := range commands {
		arguments = append(arguments, "./"+command)
	}
	cmd := exec.CommandContext(ctx, "go", arguments...)
	cmd.Dir, cmd.Env = repository, append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, output)
	}
	return nil
}

// BuildCommit builds commands of a commit of the repository into a folder.
func BuildCommit(ctx context.Context, repository, folder, commit string, commands ...string) (err error) {
	work, err := os.MkdirTemp("", "firesteel-build-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	return previous.InWorkTree(ctx, repository, work, commit, func(source string) error { return Build(ctx, source, folder, commands...) })
}

// Configure sets keys of one of Firesteel's ConfigMaps. An empty value removes the key.
func (i *Installation) Configure(ctx context.Context, configMap string, data map[string]string) error {
	return i.ConfigureIn(ctx, SystemNamespace, configMap, data)
}

// ConfigureIn is [Installation.Configure] for an installation in another namespace.
func (i *Installation) ConfigureIn(ctx context.Context, namespace, configMap string, data map[string]string) error {
	changes := map[string]any{}
	for key, value := range data {
		changes[key] = value
		if value == "" {
			changes[key] = nil
		}
	}
	patch, err := json.Marshal(map[string]any{"data": changes})
	if err != nil {
		return err
	}
	_, err = i.Kube.CoreV1().ConfigMaps(namespace).Patch(ctx, configMap, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// Token makes a token for a service account, which is valid for a day.
func (i *Installation) Token(ctx context.Context, namespace, account string) (string, error) {
	day := int64(24 * 60 * 60)
	answer, err := i.Kube.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &day}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token for service account %s: %w", account, err)
	}
	return answer.Status.Token, nil
}

// ConfigOf returns a client configuration for a service account.
func (i *Installation) ConfigOf(ctx context.Context, namespace, account string) (*rest.Config, error) {
	token, err := i.Token(ctx, namespace, account)
	if err != nil {
		return nil, err
	}
	return i.Plane.Config(token), nil
}

// AddNamespace makes a namespace in which Pods can be created: with the account that they need, so that nothing waits until the
// controller manager makes it.
func (i *Installation) AddNamespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := i.Kube.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := i.Kube.CoreV1().ServiceAccounts(name).Create(ctx, account, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// Controller describes a controller process.
type Controller struct {
	// Program is the file of the program, and Kubeconfig the file that it reads to reach the API server.
	Program, Kubeconfig string
	// Namespace is that of its installation; SystemNamespace if empty.
	Namespace string
	// Sink is its K_SINK; empty for none.
	Sink string
	// Replica reports whether it takes part in leader elections.
	Replica bool
	// Environment holds further environment variables.
	Environment []string
}

// ControllerPorts are the ports that a controller process listens on.
type ControllerPorts struct{ Profiling, Metrics, Probe int }

// Start starts the controller. Its output goes to the file log.
func (c Controller) Start(log string) (*process.Process, ControllerPorts, error) {
	free, err := process.FreePorts(3)
	if err != nil {
		return nil, ControllerPorts{}, err
	}
	ports := ControllerPorts{Profiling: free[0], Metrics: free[1], Probe: free[2]}
	var arguments []string
	if !c.Replica {
		arguments = []string{"-local"}
	}
	started, err := process.Start(log, append([]string{
		"KUBECONFIG=" + c.Kubeconfig,
		"SYSTEM_NAMESPACE=" + cmp.Or(c.Namespace, SystemNamespace),
		"CONFIG_LOGGING_NAME=config-logging",
		"CONFIG_OBSERVABILITY_NAME=config-observability",
		"CONFIG_LEADERELECTION_NAME=config-leader-election",
		fmt.Sprintf("PROFILING_PORT=%d", ports.Profiling),
		fmt.Sprintf("METRICS_PROMETHEUS_PORT=%d", ports.Metrics),
		fmt.Sprintf("PROBE_PORT=%d", ports.Probe),
		"K_SINK=" + c.Sink,
	}, c.Environment...), c.Program, arguments...)
	return started, ports, err
}

// Fetch returns what a URL of a controller's port answers, such as profiles or metrics.
func Fetch(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	return body, err
}
