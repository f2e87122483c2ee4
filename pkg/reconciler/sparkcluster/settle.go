package sparkcluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
)

// settle finds out which objects of a cluster are there although no informer shows them: somebody changed the labels by which
// they are found. Only what is in doubt is read.
func (r *Reconciler) settle(ctx context.Context, c *sparkv1.SparkCluster, objects *resources.Objects) error {
	if c.DeletionTimestamp != nil && wasMade(c) && r.memory.firstLook(c.UID) {
		// It happened, perhaps, while no controller ran.
		for _, wanted := range objects.All() {
			if r.estate.get(c.UID, placeOf(wanted)) == nil {
				r.estate.doubt(c.UID, placeOf(wanted))
			}
		}
	}
	return r.estate.settle(c.UID, func(at place) (object, error) { return r.read(ctx, at) })
}

// wasMade reports whether the objects of a cluster were made, and are not released.
func wasMade(c *sparkv1.SparkCluster) bool {
	return c.Status.Firesteel != nil && cluster.Current(c.Status.Firesteel).Running()
}

// read returns an object as it is at the API server, nil if there is none.
func (r *Reconciler) read(ctx context.Context, at place) (object, error) {
	verbs, err := verbsFor(r.kube, emptyAt(at))
	if err != nil {
		return nil, err
	}
	live, err := verbs.get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look whether there is %s %s/%s: %w", at.kind, at.namespace, at.name, err)
	}
	return live, nil
}
