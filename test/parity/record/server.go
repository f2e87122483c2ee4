package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/test/integration/controlplane"
	"github.com/firesteel-dev/firesteel/test/parity"
)

const (
	token      = "recorder"
	startLimit = 2 * time.Minute
)

// server is an API server without controllers: objects stay as they were created, and go when they are deleted. It is
// one for both IP families, and takes pods of service accounts that do not exist.
type server struct {
	dir       string
	processes []*controlplane.Process
	config    *rest.Config
	client    dynamic.Interface
}

func startServer(ctx context.Context, programs, dir string) (*server, error) {
	ports, err := controlplane.FreePorts(3)
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir}
	s.config = &rest.Config{
		Host: fmt.Sprintf("https://127.0.0.1:%d", ports[2]), BearerToken: token, QPS: -1, WarningHandler: rest.NoWarnings{},
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(dir, "pki", "apiserver.crt")},
	}
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+",recorder,recorder,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	etcd, peer := fmt.Sprintf("http://127.0.0.1:%d", ports[0]), fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	if err := s.run(programs, "etcd", "--data-dir="+filepath.Join(dir, "etcd"), "--unsafe-no-fsync", "--log-level=error",
		"--listen-client-urls="+etcd, "--advertise-client-urls="+etcd, "--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer); err != nil {
		return nil, err
	}
	key := filepath.Join(dir, "pki", "apiserver.key") // which the API server makes for itself
	if err := s.run(programs, "kube-apiserver", "--etcd-servers="+etcd, "--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[2]), "--cert-dir="+filepath.Join(dir, "pki"),
		"--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.0.0.0/16,fd00:10::/112",
		"--allow-privileged", "--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection", "--authorization-mode=RBAC", "--token-auth-file="+tokens,
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+key,
		"--service-account-signing-key-file="+key); err != nil {
		return nil, err
	}
	return s, s.ready(ctx)
}

func (s *server) run(programs, program string, arguments ...string) error {
	process, err := controlplane.StartProcess(filepath.Join(s.dir, program+".log"), nil, filepath.Join(programs, program), arguments...)
	if err == nil {
		s.processes = append(s.processes, process)
	}
	return err
}

func (s *server) stop() {
	for i := len(s.processes) - 1; i >= 0; i-- {
		s.processes[i].Kill()
	}
}

func (s *server) ready(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, startLimit, true, func(ctx context.Context) (bool, error) {
		if _, err := os.Stat(s.config.CAFile); err != nil {
			return false, nil // it makes that first
		}
		client, err := dynamic.NewForConfig(s.config)
		if err != nil {
			return false, err
		}
		s.client = client
		_, err = client.Resource(classes).Get(ctx, "system-node-critical", metav1.GetOptions{})
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the API server, which logs to %s: %w", s.dir, err)
	}
	if err := errors.Join(s.create(ctx, definition, podGroupDefinition), s.create(ctx, runtimeClasses, runtimeClass)); err != nil {
		return err
	}
	if err := s.serveApplications(ctx); err != nil {
		return err
	}
	return controlplane.WriteKubeconfig(s.kubeconfig(), s.config)
}

// serveApplications has the API server take applications of the Apache operator's API.
func (s *server) serveApplications(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "300-sparkapplication.yaml"))
	if err != nil {
		return err
	}
	crd := parity.Object{}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return err
	}
	if err := s.create(ctx, definition, crd); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, startLimit, true, func(ctx context.Context) (bool, error) {
		_, err := s.client.Resource(applications).List(ctx, metav1.ListOptions{})
		return err == nil, nil
	})
}

// runtimeClass is the one that a case names.
var runtimeClass = parity.Object{
	"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": parity.Object{"name": "sandboxed"}, "handler": "sandbox",
}

func (s *server) kubeconfig() string { return filepath.Join(s.dir, "kubeconfig") }

func (s *server) create(ctx context.Context, resource schema.GroupVersionResource, object parity.Object) error {
	_, err := s.client.Resource(resource).Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	return err
}

var (
	classes = schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"}
	// runtimeClasses are what Pods name that ask for a runtime of their own.
	runtimeClasses = schema.GroupVersionResource{Group: "node.k8s.io", Version: "v1", Resource: "runtimeclasses"}
	namespaces     = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	applications   = schema.GroupVersionResource{Group: "spark.apache.org", Version: "v1", Resource: "sparkapplications"}
	definition     = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	// kinds are those that a submission may create.
	kinds = map[string]schema.GroupVersionResource{
		"Pod":                   {Version: "v1", Resource: "pods"},
		"Service":               {Version: "v1", Resource: "services"},
		"ConfigMap":             {Version: "v1", Resource: "configmaps"},
		"Secret":                {Version: "v1", Resource: "secrets"},
		"PersistentVolumeClaim": {Version: "v1", Resource: "persistentvolumeclaims"},
		"NetworkPolicy":         {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
		"PodGroup":              {Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"},
	}
)
