package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
)

const (
	nodes = 4
	// namespace is that of the applications, and driverAccount the service account of their drivers.
	namespace     = "bench"
	driverAccount = "spark"
)

// world is a control plane for one operator, with simulated nodes.
type world struct {
	dir     string
	plane   *controlplane.ControlPlane
	kube    kubernetes.Interface
	dynamic dynamic.Interface
}

// newWorld starts a control plane in a folder and applies manifests, and afterwards CRDs that are too large for kubectl apply
// on the client's side.
func newWorld(ctx context.Context, root, dir string, manifests, largeCRDs []string) (*world, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: dir, Manifests: manifests, Unaudited: true})
	if err != nil {
		return nil, err
	}
	w := &world{dir: dir, plane: plane}
	if err := w.prepare(ctx, root, largeCRDs); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *world) close() { w.plane.Stop() }

func (w *world) prepare(ctx context.Context, root string, largeCRDs []string) error {
	for _, file := range largeCRDs {
		if _, err := w.plane.Kubectl(ctx, "", "apply", "--server-side", "--filename="+file); err != nil {
			return err
		}
	}
	if _, err := w.plane.Kubectl(ctx, "", "wait", "--for=condition=Established", "--all", "customresourcedefinitions"); err != nil {
		return err
	}
	var errs [2]error
	w.kube, errs[0] = kubernetes.NewForConfig(w.plane.Admin())
	w.dynamic, errs[1] = dynamic.NewForConfig(w.plane.Admin())
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	kwok, arguments := w.plane.Kwok(filepath.Join(root, "test/bench/testdata/stages.yaml"), "--manage-all-nodes")
	return errors.Join(
		w.plane.RunScheduler(),
		w.plane.Run(filepath.Base(kwok), arguments...),
		w.plane.AddNodes(ctx, nodes),
		w.addNamespace(ctx, namespace),
		w.addServiceAccount(ctx, namespace, driverAccount),
	)
}

// addNamespace makes a namespace, and waits until Pods can be created in it.
func (w *world) addNamespace(ctx context.Context, name string) error {
	its := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := w.kube.CoreV1().Namespaces().Create(ctx, its, metav1.CreateOptions{}); err != nil {
		return err
	}
	return until(ctx, "the service account of "+name, func() (bool, error) {
		_, err := w.kube.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}

func (w *world) addServiceAccount(ctx context.Context, namespace, name string) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := w.kube.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{})
	return err
}

// writeKubeconfig writes a kubeconfig for a service account. Both operators have one: the API server's Priority and Fairness
// does not apply to its admin.
func (w *world) writeKubeconfig(ctx context.Context, file, namespace, account string) error {
	day := int64(24 * 60 * 60)
	answer, err := w.kube.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &day}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("token for service account %s: %w", account, err)
	}
	return controlplane.WriteKubeconfig(file, w.plane.Config(answer.Status.Token))
}

// untilNoPods waits until no Pod of an application is left.
func (w *world) untilNoPods(ctx context.Context) error {
	return until(ctx, "the Pods to be gone", func() (bool, error) {
		pods, err := w.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		return err == nil && len(pods.Items) == 0, err
	})
}

const (
	// pollLimit bounds what is polled for.
	pollLimit    = 5 * time.Minute
	pollInterval = 50 * time.Millisecond
)

// until polls for what cannot be watched.
func until(ctx context.Context, what string, done func() (bool, error)) error {
	err := wait.PollUntilContextTimeout(ctx, pollInterval, pollLimit, true, func(context.Context) (bool, error) { return done() })
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, err)
	}
	return nil
}
