package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

const (
	nodes = 4
	// namespace is that of the applications, and driverAccount the service account of their drivers.
	namespace     = "bench"
	driverAccount = "spark"
)

// env is a control plane for one operator, with simulated nodes.
type env struct {
	*firesteel.Installation
	dir string
}

// newEnv starts a control plane in a folder, and applies manifests of Firesteel and CRDs that are too large for kubectl apply
// on the client's side.
func newEnv(ctx context.Context, root, dir string, manifests, largeCRDs []string) (*env, error) {
	installation, err := firesteel.Install(ctx, root, controlplane.Options{Dir: dir, Unaudited: true}, manifests...)
	if err != nil {
		return nil, err
	}
	w := &env{Installation: installation, dir: dir}
	if err := w.prepare(ctx, root, largeCRDs); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *env) close() { w.Plane.Stop() }

func (w *env) prepare(ctx context.Context, root string, largeCRDs []string) error {
	for _, file := range largeCRDs {
		if _, err := w.Plane.Kubectl(ctx, "", "apply", "--server-side", "--filename="+file); err != nil {
			return err
		}
	}
	if err := w.Plane.AwaitDefinitions(ctx, "--all", "customresourcedefinitions"); err != nil {
		return err
	}
	kwok, arguments := w.Plane.Kwok(filepath.Join(root, "test/bench/testdata/stages.yaml"), "--manage-all-nodes")
	return errors.Join(
		w.Plane.RunScheduler(),
		w.Plane.Run(filepath.Base(kwok), arguments...),
		w.Plane.AddNodes(ctx, nodes),
		w.AddNamespace(ctx, namespace),
		w.addServiceAccount(ctx, namespace, driverAccount),
	)
}

func (w *env) addServiceAccount(ctx context.Context, namespace, name string) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := w.Kube.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{})
	return err
}

// writeKubeconfig writes a kubeconfig for a service account. Both operators have one: the API server's Priority and Fairness
// does not apply to its admin.
func (w *env) writeKubeconfig(ctx context.Context, namespace, account string) (file string, err error) {
	config, err := w.ConfigOf(ctx, namespace, account)
	if err != nil {
		return "", err
	}
	file = filepath.Join(w.dir, "operator.kubeconfig")
	return file, controlplane.WriteKubeconfig(file, config)
}

// log is the file for the operator's output.
func (w *env) log() string { return filepath.Join(w.dir, "operator.log") }

const (
	// podsLimit bounds the wait for deleted Pods.
	podsLimit    = 5 * time.Minute
	pollInterval = 50 * time.Millisecond
)

// untilNoPods waits until no Pod of an application is left.
func (w *env) untilNoPods(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, pollInterval, podsLimit, true, func(ctx context.Context) (bool, error) {
		pods, err := w.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		return err == nil && len(pods.Items) == 0, err
	})
	if err != nil {
		return fmt.Errorf("wait until no Pod is left in namespace %s: %w", namespace, err)
	}
	return nil
}
