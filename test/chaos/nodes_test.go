package chaos

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/harness/rng"
)

const (
	// labelPlace names the applications that a node is for: calm or wild ones. Only nodes of wild ones are lost.
	labelPlace = "chaos/place"
	// labelLost is on a node that is lost. kwok serves the others.
	labelLost = "chaos/lost"
)

func place(namespace string) string {
	if strings.HasPrefix(namespace, "calm-") {
		return "calm"
	}
	return "wild"
}

// nodePlaces are the places of the nodes.
var nodePlaces = map[string]string{"node-0": "calm", "node-1": "wild", "node-2": "wild"}

func (w *env) addNodes(ctx context.Context) error {
	for name, place := range nodePlaces {
		if err := w.addNode(ctx, name, place); err != nil {
			return err
		}
	}
	return nil
}

// addNode makes a node, whose kubelet serves logs if the run archives.
func (w *env) addNode(ctx context.Context, name, place string) error {
	if err := w.Plane.AddNode(ctx, name, map[string]string{labelPlace: place}); err != nil || w.archiving == nil {
		return err
	}
	return w.archiving.logs.Attach(ctx, w.Kube, name)
}

// lossEndings are the ways in which the loss of a node ends.
var lossEndings = []string{"node came back", "node deleted", "node out of service"}

// loseNodes lets the nodes of the wild applications be lost for a while, one after the other, until the context ends.
func (w *env) loseNodes(ctx context.Context) error {
	d := rng.New(w.seed, "nodes")
	var deck []string
	for {
		select {
		case <-time.After(d.About(2 * time.Second)):
		case <-ctx.Done():
			return nil
		}
		if len(deck) == 0 {
			deck = d.Shuffled(lossEndings)
		}
		if err := w.loseNode(ctx, d, fmt.Sprintf("node-%d", 1+d.Below(2)), deck[0]); err != nil {
			return err
		}
		deck = deck[1:]
	}
}

// loseNode loses a node. It finishes also if the context ends.
func (w *env) loseNode(ctx context.Context, d *rng.Rand, node, ending string) error {
	w.acting.RLock()
	defer w.acting.RUnlock()
	evicted, length := d.Chance(0.7), d.Between(500*time.Millisecond, 4*time.Second)
	calm := context.WithoutCancel(ctx)
	if err := w.patchNode(calm, node, nodeLost); err != nil {
		return err
	}
	w.counters.count("node lost")
	if evicted {
		if err := w.deletePodsOf(calm, node, nil); err != nil {
			return err
		}
	}
	select {
	case <-time.After(length):
	case <-ctx.Done():
	}
	w.counters.count(ending)
	switch ending {
	case "node deleted":
		if err := w.replaceNode(calm, node); err != nil {
			return err
		}
	case "node out of service":
		if err := w.deletePodsOf(calm, node, new(int64)); err != nil {
			return err
		}
	}
	return w.patchNode(calm, node, nodeServed)
}

// The control plane taints a node that it has not heard from.
const (
	nodeLost = `{"metadata": {"labels": {"` + labelLost + `": "yes"}}, "spec": {"taints": [` +
		`{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]}}`
	nodeServed = `{"metadata": {"labels": {"` + labelLost + `": null}}, "spec": {"taints": null}}`
)

func (w *env) patchNode(ctx context.Context, node, patch string) error {
	return persist(ctx, func(ctx context.Context) error {
		_, err := w.Kube.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	})
}

// replaceNode deletes a node, and with it its Pods, as the collector of Pods does. Then a new node takes its name.
func (w *env) replaceNode(ctx context.Context, node string) error {
	err := persist(ctx, func(ctx context.Context) error {
		return ignore(w.Kube.CoreV1().Nodes().Delete(ctx, node, metav1.DeleteOptions{}), apierrors.IsNotFound)
	})
	if err != nil {
		return err
	}
	if err := w.deletePodsOf(ctx, node, new(int64)); err != nil {
		return err
	}
	return persist(ctx, func(ctx context.Context) error {
		return ignore(w.addNode(ctx, node, nodePlaces[node]), apierrors.IsAlreadyExists)
	})
}

// deletePodsOf deletes all Pods of a node; grace is in seconds, nil for each Pod's own.
func (w *env) deletePodsOf(ctx context.Context, node string, grace *int64) error {
	return persist(ctx, func(ctx context.Context) error {
		pods, err := w.Kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
		if err != nil {
			return err
		}
		for i := range pods.Items {
			err := w.deletePod(ctx, &pods.Items[i], grace)
			if err := ignore(ignore(err, apierrors.IsNotFound), apierrors.IsConflict); err != nil {
				return err
			}
		}
		return nil
	})
}

// persist tries again until the API server does what is asked.
func persist(ctx context.Context, do func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, poll, patience, true, func(ctx context.Context) (bool, error) {
		last = do(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w", err, last)
	}
	return nil
}
