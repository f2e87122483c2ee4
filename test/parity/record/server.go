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

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/parity"
)

// startLimit bounds the wait until the API server serves a kind.
const startLimit = 2 * time.Minute

// server is an API server without controllers. It is for both IP families, and accepts Pods of service accounts that do not
// exist.
type server struct {
	*controlplane.ControlPlane
	dir    string
	config *rest.Config
	client dynamic.Interface
}

func startServer(ctx context.Context, dir string) (*server, error) {
	plane, err := controlplane.Start(ctx, controlplane.Options{
		Dir: dir, Unaudited: true, ServerOnly: true,
		ServerArguments: []string{
			"--service-cluster-ip-range=10.0.0.0/16,fd00:10::/112", "--allow-privileged",
			"--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection",
		},
	})
	if err != nil {
		return nil, err
	}
	s := &server{ControlPlane: plane, dir: dir, config: plane.Admin()}
	s.config.WarningHandler = rest.NoWarnings{}
	if s.client, err = dynamic.NewForConfig(s.config); err == nil {
		err = s.prepare(ctx)
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// prepare makes what the cases need.
func (s *server) prepare(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, startLimit, true, func(ctx context.Context) (bool, error) {
		_, err := s.client.Resource(classes).Get(ctx, "system-node-critical", metav1.GetOptions{})
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the API server, which logs to %s: %w", s.dir, err)
	}
	return errors.Join(
		s.create(ctx, definition, podGroupDefinition), s.create(ctx, runtimeClasses, runtimeClass), s.serveApplications(ctx),
	)
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
