package sparkcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/kube/objectclient"
)

// resolveUncertain finds out which objects of a cluster exist although no informer shows them, because their labels
// were changed. It reads only the uncertain ones.
func (r *Reconciler) resolveUncertain(ctx context.Context, c *sparkv1.SparkCluster, objects *resources.Objects) error {
	if c.DeletionTimestamp != nil && isCreated(c) && r.state.firstReconcileOfDeleted(c.UID) {
		// The labels may have been changed while no controller ran.
		for _, wanted := range objects.All() {
			if r.owned.get(c.UID, objectKeyOf(wanted)) == nil {
				r.owned.markUncertain(c.UID, objectKeyOf(wanted))
			}
		}
	}
	return r.owned.resolve(c.UID, func(at objectKey) (object, error) { return r.getLive(ctx, at) })
}

// isCreated reports whether the objects of a cluster are created and not released.
func isCreated(c *sparkv1.SparkCluster) bool {
	return c.Status.Firesteel != nil && cluster.Current(c.Status.Firesteel).Running()
}

// getLive reads an object from the API server, nil if there is none.
func (r *Reconciler) getLive(ctx context.Context, at objectKey) (object, error) {
	client, err := objectclient.For(r.kube, nil, emptyObject(at))
	if err != nil {
		return nil, err
	}
	live, err := client.Get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("check whether there is %s %s/%s: %w", at.kind, at.namespace, at.name, err)
	}
	return live, nil
}

// reportedDeleted handles an object that a watch reported as deleted. The watch selects by a label, so it also reports an object
// whose label was removed. Only an object without finalizers that Firesteel deleted is gone for certain; all others are uncertain.
func (e *ownedObjects) reportedDeleted(found any) {
	o, ok := kube.LastKnown(found).(object)
	if _, isPod := o.(*corev1.Pod); isPod || !ok {
		return
	}
	at := objectKeyOf(o)
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.pending[at.kind].ReportedDeleted(o) && len(o.GetFinalizers()) == 0 {
		return
	}
	for _, owner := range o.GetOwnerReferences() {
		e.markUncertainLocked(owner.UID, at, o)
	}
}

// markUncertain makes the next reconcile of a cluster read an object live.
func (e *ownedObjects) markUncertain(cluster types.UID, at objectKey) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.markUncertainLocked(cluster, at, nil)
}

func (e *ownedObjects) markUncertainLocked(cluster types.UID, at objectKey, last object) {
	known, _ := e.uncertain.Get(cluster)
	doubts, _ := known.(map[objectKey]object)
	if doubts == nil {
		doubts = map[objectKey]object{}
		e.uncertain.Add(cluster, doubts)
	}
	doubts[at] = last
}

// resolve reads each uncertain object of a cluster live, once. read returns nil if an object does not exist.
func (e *ownedObjects) resolve(cluster types.UID, read func(objectKey) (object, error)) error {
	for _, at := range e.uncertainKeys(cluster) {
		if e.cached(at) != nil {
			e.resolved(cluster, at)
			continue
		}
		live, err := read(at)
		switch {
		case err != nil:
			return err
		case live == nil || !owns(cluster, live):
			e.resolved(cluster, at)
		default:
			stripped, err := strip(live)
			if err != nil {
				return err
			}
			e.mutex.Lock()
			e.markUncertainLocked(cluster, at, stripped.(object))
			e.mutex.Unlock()
		}
	}
	return nil
}

func (e *ownedObjects) uncertainKeys(cluster types.UID) []objectKey {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	known, _ := e.uncertain.Get(cluster)
	doubts, _ := known.(map[objectKey]object)
	return slices.Collect(maps.Keys(doubts))
}

// resolved records that the cache is right about an object.
func (e *ownedObjects) resolved(cluster types.UID, at objectKey) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	known, _ := e.uncertain.Get(cluster)
	doubts, _ := known.(map[objectKey]object)
	if delete(doubts, at); len(doubts) == 0 {
		e.uncertain.Remove(cluster)
	}
}

// forget drops the uncertain objects of a cluster.
func (e *ownedObjects) forget(cluster types.UID) { e.uncertain.Remove(cluster) }

// emptyObject returns an object with only a name and a namespace.
func emptyObject(at objectKey) object {
	meta := metav1.ObjectMeta{Namespace: at.namespace, Name: at.name}
	for _, empty := range []object{
		&corev1.Service{ObjectMeta: meta}, &appsv1.StatefulSet{ObjectMeta: meta}, &networkingv1.NetworkPolicy{ObjectMeta: meta},
		&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta}, &policyv1.PodDisruptionBudget{ObjectMeta: meta},
	} {
		if objectclient.KindOf(empty) == at.kind {
			return empty
		}
	}
	return nil
}
