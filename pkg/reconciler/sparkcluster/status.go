package sparkcluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// workersAfter is how long after a write a change of only the numbers of workers is written.
const workersAfter = 10 * time.Second

// persist writes the record and the resulting status, with the resourceVersion that was read. It writes nothing if
// nothing changed. A cursor alone is written when it is due, numbers of workers alone not before workersAfter.
func (r *Reconciler) persist(
	ctx context.Context, c *sparkv1.SparkCluster, record *v1alpha1.Record, decision cluster.Decision,
) (*sparkv1.SparkCluster, error) {
	if !r.relay.HasSink() {
		record.Acknowledged = record.Sequence
	}
	facts := r.statusFacts(c, decision)
	if !r.worthWriting(c, record, facts) {
		return c, nil
	}
	desired := withStatus(c, record, facts)
	stored, err := r.client.SparkV1().SparkClusters(c.Namespace).UpdateStatus(ctx, desired, metav1.UpdateOptions{})
	refused := blocked.IsRefused(err, c.Status.Firesteel == nil)
	if err != nil && !refused {
		return c, fmt.Errorf("write status: %w", err)
	}
	if refused || blocked.IsPruned(desired.Status.Firesteel, stored.Status.Firesteel) {
		return c, r.state.pruned.Report(ctx, c, status.Definition, status.Manifest, r.clock.Now(), err)
	}
	r.state.statusWritten(stored, r.clock.Now())
	var known int64
	if c.Status.Firesteel != nil {
		known = c.Status.Firesteel.Sequence
	}
	logging.FromContext(ctx).Debugw("wrote status", append(base.LogKeys(stored.Status.Firesteel), "resourceVersion", stored.ResourceVersion)...)
	base.LogTransitions(ctx, c.Status.Firesteel, stored.Status.Firesteel)
	r.metrics.CountTransitions(stored.Status.Firesteel, known)
	emitEvents(ctx, stored, known)
	return stored, nil
}

// withStatus returns a cluster with the status that a record results in.
func withStatus(c *sparkv1.SparkCluster, record *v1alpha1.Record, facts status.Facts) *sparkv1.SparkCluster {
	desired := c.DeepCopy()
	status.Project(desired, record.DeepCopy(), facts)
	return desired
}

func (r *Reconciler) worthWriting(c *sparkv1.SparkCluster, record *v1alpha1.Record, facts status.Facts) bool {
	return delivery.WorthWriting(c.Status.Firesteel, record, r.clock.Now(), func(unmoved *v1alpha1.Record) bool {
		desired := withStatus(c, unmoved, facts)
		same := status.SameButWorkers(c.Status, desired.Status)
		if c.DeletionTimestamp == nil && r.clock.Since(r.state.writtenAt(c.UID)) >= workersAfter {
			same = equality.Semantic.DeepEqual(c.Status, desired.Status)
		}
		if same {
			return false
		}
		return !equality.Semantic.DeepEqual(c.Status.Firesteel, unmoved) || !r.restoresLater(c, desired)
	})
}

// restoresLater reports whether a write has to wait that only restores what another writer changed. Then the cluster
// is requeued.
func (r *Reconciler) restoresLater(c, desired *sparkv1.SparkCluster) bool {
	wait := r.state.restorations.Wait(c, desired, r.clock.Now())
	if wait > 0 {
		r.enqueueAfter(c, wait)
	}
	return wait > 0
}

// workersChanged reports whether the numbers of workers in the status are outdated.
func (r *Reconciler) workersChanged(c *sparkv1.SparkCluster, decision cluster.Decision) bool {
	facts, shown := r.statusFacts(c, decision), c.Status.Workers
	return c.DeletionTimestamp == nil && facts.Exists && (shown == nil || shown.Replicas != facts.Workers || shown.Registered != facts.Registered)
}

// emitEvents records a Kubernetes Event for each transition after a sequence that users look for.
func emitEvents(ctx context.Context, c *sparkv1.SparkCluster, known int64) {
	for _, t := range c.Status.Firesteel.Transitions {
		state := cluster.State(t.State)
		if t.Sequence <= known || !state.Running() && !state.AttemptEnded() {
			continue
		}
		kind := corev1.EventTypeNormal
		if state != cluster.RunningHealthy {
			kind = corev1.EventTypeWarning
		}
		controller.GetEventRecorder(ctx).Event(c, kind, t.State, t.Message)
	}
}
