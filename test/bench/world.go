package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/test/integration/controlplane"
)

const (
	systemNamespace = "firesteel-system"
	// assets is the variable that names the folder of the control plane's programs, and kwok.
	assets = "KUBEBUILDER_ASSETS"
	nodes  = 4
	// patience is how long anything may take. Nothing does unless it never comes.
	patience = 15 * time.Minute
	poll     = 20 * time.Millisecond
)

// installed is what of config is needed: all but the controller's Deployment.
var installed = []string{"1*.yaml", "2*.yaml", "3*.yaml", "4*.yaml"}

// world is all that a run takes place in: a control plane, a scheduler and nodes that are simulated.
type world struct {
	// root is the folder of the source, and dir that of all files of the world.
	root, dir string
	// program is the file of the controller.
	program string
	plane   *controlplane.ControlPlane
	kube    kubernetes.Interface
	spark   versioned.Interface
	sink    *sink

	namespaces, controllers int
}

func newWorld(ctx context.Context, root, dir string) (*world, error) {
	w := &world{root: root, dir: dir, program: filepath.Join(dir, "controller")}
	group, starting := errgroup.WithContext(ctx)
	group.Go(func() error { return w.build(starting) })
	group.Go(func() error { return w.startPlane(starting) })
	if err := group.Wait(); err != nil {
		w.close()
		return nil, err
	}
	w.sink = newSink()
	return w, nil
}

// another is a world beside a world, with a control plane and nodes of its own.
func (w *world) another(ctx context.Context, name string) (*world, error) {
	other := &world{root: w.root, dir: filepath.Join(w.dir, name), program: w.program, sink: newSink()}
	err := os.Mkdir(other.dir, 0o700)
	if err == nil {
		err = other.startPlane(ctx)
	}
	if err != nil {
		other.close()
	}
	return other, err
}

func (w *world) close() {
	if w.sink != nil {
		w.sink.close()
	}
	if w.plane != nil {
		w.plane.Stop()
	}
}

// build builds the controller as ko does.
func (w *world) build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", w.program, "./cmd/controller")
	cmd.Dir, cmd.Env = w.root, append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, output)
	}
	return nil
}

func (w *world) startPlane(ctx context.Context) (err error) {
	manifests, err := controlplane.Manifests(filepath.Join(w.root, "config"), installed...)
	if err != nil {
		return err
	}
	dir := filepath.Join(w.dir, "plane")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if w.plane, err = controlplane.StartUnaudited(ctx, os.Getenv(assets), dir, manifests...); err != nil {
		return err
	}
	admin := w.plane.Admin()
	var errs [2]error
	w.spark, errs[0] = versioned.NewForConfig(admin)
	w.kube, errs[1] = kubernetes.NewForConfig(admin)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	return errors.Join(
		w.configure(ctx, "config-observability", map[string]string{"runtime-profiling": "enabled"}),
		w.plane.RunScheduler(),
		w.plane.Run("kwok", "--kubeconfig="+w.plane.Kubeconfig(),
			"--config="+filepath.Join(w.root, "test/bench/testdata/stages.yaml"), "--manage-all-nodes"),
		w.plane.AddNodes(ctx, nodes),
	)
}

// configure sets keys of one of Firesteel's config maps. A controller reads them when it starts.
func (w *world) configure(ctx context.Context, configMap string, data map[string]string) error {
	patch, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return err
	}
	_, err = w.kube.CoreV1().ConfigMaps(systemNamespace).Patch(ctx, configMap, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// namespace makes a namespace in which Pods can be created. All their names are of the same length.
func (w *world) namespace(ctx context.Context) (string, error) {
	w.namespaces++
	name := fmt.Sprintf("bench-%03d", w.namespaces)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := w.kube.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return "", err
	}
	return name, until(ctx, "the service account of "+name, func() (bool, error) {
		_, err := w.kube.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// untilNoPods waits until no Pod is left in a namespace.
func (w *world) untilNoPods(ctx context.Context, namespace string) error {
	return until(ctx, "the Pods of "+namespace+" to go", func() (bool, error) {
		pods, err := w.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		return err == nil && len(pods.Items) == 0, err
	})
}

// untilEmpty waits until nothing is left of the applications in a namespace.
func (w *world) untilEmpty(ctx context.Context, namespace string) error {
	if err := w.untilNoPods(ctx, namespace); err != nil {
		return err
	}
	return until(ctx, namespace+" to be empty", func() (bool, error) {
		few := metav1.ListOptions{Limit: 2}
		services, err := w.kube.CoreV1().Services(namespace).List(ctx, few)
		if err != nil || len(services.Items) > 0 {
			return false, err
		}
		maps, err := w.kube.CoreV1().ConfigMaps(namespace).List(ctx, few) // nobody makes kube-root-ca.crt here
		return err == nil && len(maps.Items) == 0, err
	})
}

// until polls for what cannot be watched.
func until(ctx context.Context, what string, done func() (bool, error)) error {
	err := wait.PollUntilContextTimeout(ctx, poll, patience, true, func(context.Context) (bool, error) { return done() })
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, err)
	}
	return nil
}

// receive waits for what is sent, or closed, when something has happened.
func receive[T any](ctx context.Context, what string, news <-chan T) (T, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var none T
	select {
	case it := <-news:
		return it, nil
	case <-ctx.Done():
		return none, ctx.Err()
	case <-timer.C:
		return none, fmt.Errorf("waited %s for %s", patience, what)
	}
}
