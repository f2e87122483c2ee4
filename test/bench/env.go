package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

const (
	nodes = 4
	// patience is how long anything may take. It is far longer than anything takes.
	patience = 15 * time.Minute
	poll     = 20 * time.Millisecond
)

// env is a control plane with a scheduler and simulated nodes.
type env struct {
	*firesteel.Installation
	// root is the folder of the source, and dir that of all its files.
	root, dir string
	// program is the file of the controller.
	program string
	sink    *sink

	namespaces, controllers int
}

func newEnv(ctx context.Context, root, dir string) (*env, error) {
	w := &env{root: root, dir: dir, program: filepath.Join(dir, "controller")}
	group, starting := errgroup.WithContext(ctx)
	group.Go(func() error { return firesteel.Build(starting, root, dir, "cmd/controller") })
	group.Go(func() error { return w.startPlane(starting) })
	if err := group.Wait(); err != nil {
		w.close()
		return nil, err
	}
	w.sink = newSink()
	return w, nil
}

// another starts a second env, with its own control plane and nodes.
func (w *env) another(ctx context.Context, name string) (*env, error) {
	other := &env{root: w.root, dir: filepath.Join(w.dir, name), program: w.program, sink: newSink()}
	err := os.Mkdir(other.dir, 0o700)
	if err == nil {
		err = other.startPlane(ctx)
	}
	if err != nil {
		other.close()
	}
	return other, err
}

func (w *env) close() {
	if w.sink != nil {
		w.sink.close()
	}
	if w.Installation != nil {
		w.Plane.Stop()
	}
}

func (w *env) startPlane(ctx context.Context) (err error) {
	w.Installation, err = firesteel.Install(ctx, w.root, controlplane.Options{Dir: filepath.Join(w.dir, "plane"), Unaudited: true},
		firesteel.Manifests...)
	if err != nil {
		return err
	}
	kwok, arguments := w.Plane.Kwok(filepath.Join(w.root, "test/bench/testdata/stages.yaml"), "--manage-all-nodes")
	return errors.Join(
		w.Configure(ctx, "config-observability", map[string]string{"runtime-profiling": "enabled"}),
		w.Plane.RunScheduler(),
		w.Plane.Run(filepath.Base(kwok), arguments...),
		w.Plane.AddNodes(ctx, nodes),
	)
}

// namespace makes a namespace in which Pods can be created. All their names are of the same length.
func (w *env) namespace(ctx context.Context) (string, error) {
	w.namespaces++
	name := fmt.Sprintf("bench-%03d", w.namespaces)
	return name, w.AddNamespace(ctx, name)
}

// untilNoPods waits until no Pod is left in a namespace.
func (w *env) untilNoPods(ctx context.Context, namespace string) error {
	return until(ctx, "the Pods of "+namespace+" to go", func() (bool, error) {
		pods, err := w.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		return err == nil && len(pods.Items) == 0, err
	})
}

// untilEmpty waits until nothing is left of the applications in a namespace.
func (w *env) untilEmpty(ctx context.Context, namespace string) error {
	if err := w.untilNoPods(ctx, namespace); err != nil {
		return err
	}
	return until(ctx, namespace+" to be empty", func() (bool, error) {
		few := metav1.ListOptions{Limit: 2}
		services, err := w.Kube.CoreV1().Services(namespace).List(ctx, few)
		if err != nil || len(services.Items) > 0 {
			return false, err
		}
		maps, err := w.Kube.CoreV1().ConfigMaps(namespace).List(ctx, few) // no controller creates kube-root-ca.crt here
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
