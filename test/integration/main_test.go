package integration

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/test/integration/controlplane"
)

const (
	systemNamespace = "firesteel-system"
	configFolder    = "../../config"
	// assets is the variable that names the folder of the control plane's programs.
	assets = "KUBEBUILDER_ASSETS"
)

// installed is what of config these tests need: all but the controller's Deployment, which no node would run.
var installed = []string{"1*.yaml", "2*.yaml", "3*.yaml", "4*.yaml", "eventing/500-handler-*.yaml"}

// suite is a control plane, and what tests need to use it.
type suite struct {
	// dir holds the logs, and programs Firesteel's programs.
	dir       string
	programs  string
	plane     *controlplane.ControlPlane
	kube      kubernetes.Interface
	spark     versioned.Interface
	dynamic   dynamic.Interface
	audit     *controlplane.Audit
	sink      *sink
	kubelet   *kubelet
	witness   *witness
	processes processes
	common    common
}

var controlPlanes *planes

func TestMain(m *testing.M) {
	// Each test waits until it has a control plane or a place on the shared one, and that limits them.
	if err := flag.Set("test.parallel", "1000"); err != nil {
		panic(err)
	}
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	if os.Getenv(assets) == "" {
		fmt.Fprintf(os.Stderr, "%s names no folder with etcd and kube-apiserver: run make test-integration, which builds them\n", assets)
		return 1
	}
	dir, err := os.MkdirTemp("", "firesteel-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if code == 0 {
			os.RemoveAll(dir)
			return
		}
		fmt.Fprintln(os.Stderr, "logs are in", dir)
	}()
	controlPlanes = newPlanes(dir)
	defer controlPlanes.stop()
	if err := build(context.Background(), dir, "cmd/controller", "cmd/handler"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code = m.Run()
	if err := controlPlanes.withinRoles(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// start starts the control plane. What watches it ends with the context.
func (s *suite) start(ctx context.Context) error {
	var err error
	if s.plane, err = newPlane(ctx, filepath.Join(s.dir, "plane"), installed...); err != nil {
		return err
	}
	return s.connect(ctx)
}

// newPlane starts a control plane and applies files of config to it.
func newPlane(ctx context.Context, dir string, patterns ...string) (*controlplane.ControlPlane, error) {
	manifests, err := controlplane.Manifests(configFolder, patterns...)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return controlplane.Start(ctx, os.Getenv(assets), dir, manifests...)
}

func (s *suite) connect(ctx context.Context) error {
	var errs [4]error
	s.kube, errs[0] = kubernetes.NewForConfig(s.plane.Admin())
	s.spark, errs[1] = versioned.NewForConfig(s.plane.Admin())
	s.dynamic, errs[2] = dynamic.NewForConfig(s.plane.Admin())
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	if err := s.configure(ctx, "config-events", "deletion-grace", deletionGrace.String()); err != nil {
		return err
	}
	if err := s.letAskMasters(ctx); err != nil {
		return err
	}
	s.audit = s.plane.Audit(userOf("controller"))
	s.sink = newSink()
	s.kubelet = newKubelet(ctx, s.kube)
	var err error
	s.witness, err = newWitness(ctx, s.kube)
	return err
}

func (s *suite) stop() {
	s.processes.stop()
	if s.sink != nil {
		s.sink.close()
	}
	if s.plane != nil {
		s.plane.Stop()
	}
}

// configure sets a key of one of the controller's config maps; an empty value removes it.
func (s *suite) configure(ctx context.Context, configMap, key, value string) error {
	return s.configureIn(ctx, systemNamespace, configMap, key, value)
}

// configureIn is configure for another installation.
func (s *suite) configureIn(ctx context.Context, namespace, configMap, key, value string) error {
	maps := s.kube.CoreV1().ConfigMaps(namespace)
	existing, err := maps.Get(ctx, configMap, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if existing.Data == nil {
		existing.Data = map[string]string{}
	}
	existing.Data[key] = value
	if value == "" {
		delete(existing.Data, key)
	}
	_, err = maps.Update(ctx, existing, metav1.UpdateOptions{})
	return err
}

// token is for a service account of an installation.
func token(ctx context.Context, kube kubernetes.Interface, namespace, account string) (string, error) {
	day := int64(24 * 60 * 60)
	answer, err := kube.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &day}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token for service account %s: %w", account, err)
	}
	return answer.Status.Token, nil
}

// build puts programs into a folder, which the repository has in folders of those names.
func build(ctx context.Context, dir string, commands ...string) error {
	arguments := []string{"build", "-o", dir + "/"}
	for _, command := range commands {
		arguments = append(arguments, "../../"+command)
	}
	output, err := exec.CommandContext(ctx, "go", arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, output)
	}
	return nil
}
