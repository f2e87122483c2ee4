package sparkcluster

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

const (
	// workersAfter is the time after a write from which on numbers of workers are written for their own sake.
	workersAfter = 10 * time.Second
)

// pruned says that the API server does not keep the record in a status. Nothing is created then, since nothing would
// remember it.
const pruned = "the API server does not keep status.firesteel: the CustomResourceDefinition " + status.Definition +
	" is another operator's, or an earlier one of Firesteel; apply " + status.Manifest

// persist writes the record, and what is projected from it, with the resourceVersion that was read. It writes nothing where
// nothing is new, a cursor alone only at rest, and numbers of workers alone not all the time.
func (r *Reconciler) persist(
	ctx context.Context, c *sparkv1.SparkCluster, record *v1alpha1.Record, decision cluster.Decision,
) (*sparkv1.SparkCluster, error) {
	if !r.relay.HasSink() {
		record.Acknowledged = record.Sequence
	}
	facts := r.facts(c, decision)
	if !r.worthWriting(c, record, facts) {
		return c, nil
	}
	desired := projected(c, record, facts)
	stored, err := r.client.SparkV1().SparkClusters(c.Namespace).UpdateStatus(ctx, desired, metav1.UpdateOptions{})
	// Another operator's schema may as well refuse the first status that Firesteel writes.
	refused := apierrors.IsInvalid(err) && c.Status.Firesteel == nil
	if err != nil && !refused {
		return c, fmt.Errorf("write status: %w", err)
	}
	if refused || delivery.Pruned(desired.Status.Firesteel, stored.Status.Firesteel) {
		logging.FromContext(ctx).Errorw("Cluster is not created", "reason", pruned, zap.Error(err))
		controller.GetEventRecorder(ctx).Event(c, corev1.EventTypeWarning, "WrongCustomResourceDefinition", pruned)
		return c, controller.NewRequeueAfter(base.PrunedRetryAfter)
	}
	r.memory.remember(stored, r.clock.Now())
	var told int64
	if c.Status.Firesteel != nil {
		told = c.Status.Firesteel.Sequence
	}
	r.instruments.moved(stored.Status.Firesteel, told)
	announce(ctx, stored, told)
	return stored, nil
}

// projected is a cluster with the status that a record stands for.
func projected(c *sparkv1.SparkCluster, record *v1alpha1.Record, facts status.Facts) *sparkv1.SparkCluster {
	desired := c.DeepCopy()
	status.Project(desired, record.DeepCopy(), facts)
	return desired
}

func (r *Reconciler) worthWriting(c *sparkv1.SparkCluster, record *v1alpha1.Record, facts status.Facts) bool {
	return delivery.WorthWriting(c.Status.Firesteel, record, r.clock.Now(), func(unmoved *v1alpha1.Record) bool {
		desired := projected(c, unmoved, facts)
		same := status.SameButWorkers(c.Status, desired.Status)
		if c.DeletionTimestamp == nil && r.clock.Since(r.memory.wroteAt(c.UID)) >= workersAfter {
			same = equality.Semantic.DeepEqual(c.Status, desired.Status)
		}
		if same {
			return false
		}
		return !equality.Semantic.DeepEqual(c.Status.Firesteel, unmoved) || !r.restoresLater(c, desired)
	})
}

// restoresLater reports whether a status is not written yet that only restores what another writer has changed. Then the
// cluster is requeued.
func (r *Reconciler) restoresLater(c, desired *sparkv1.SparkCluster) bool {
	wait := r.memory.restorations.Wait(c, desired, r.clock.Now())
	if wait > 0 {
		r.enqueueAfter(c, wait)
	}
	return wait > 0
}

// workersMoved says that the status has other numbers of workers than there are.
func (r *Reconciler) workersMoved(c *sparkv1.SparkCluster, decision cluster.Decision) bool {
	facts, shown := r.facts(c, decision), c.Status.Workers
	return c.DeletionTimestamp == nil && facts.Exists && (shown == nil || shown.Replicas != facts.Workers || shown.Registered != facts.Registered)
}

// announce makes Kubernetes Events of the transitions after a sequence that people look for.
func announce(ctx context.Context, c *sparkv1.SparkCluster, told int64) {
	for _, t := range c.Status.Firesteel.Transitions {
		state := cluster.State(t.State)
		if t.Sequence <= told || !state.Running() && !state.Stopping() {
			continue
		}
		kind := corev1.EventTypeNormal
		if state != cluster.RunningHealthy {
			kind = corev1.EventTypeWarning
		}
		controller.GetEventRecorder(ctx).Event(c, kind, t.State, t.Message)
	}
}

// leaveAlone does nothing for a cluster whose record this version of Firesteel does not understand, and does not write it: a
// newer version may run beside this one. A Kubernetes Event says so. If the user deletes the cluster its objects are deleted.
// The version that wrote the record is given time to conclude it.
func (r *Reconciler) leaveAlone(ctx context.Context, c *sparkv1.SparkCluster) error {
	r.forget(c.UID)
	if c.DeletionTimestamp == nil {
		if message := delivery.NotUnderstood(c.Status.Firesteel); r.memory.reports.First(c) {
			logging.FromContext(ctx).Warnw("Cluster is left alone", "message", message)
			controller.GetEventRecorder(ctx).Event(c, corev1.EventTypeWarning, "RecordNotUnderstood", message)
		}
		return nil
	}
	if accepted, _ := r.releasing(c, nil); !accepted {
		if err := r.release(ctx, c); err != nil {
			return err
		}
	}
	if wait := delivery.LeftToNewer(ctx, c, r.clock.Now()); wait > 0 {
		return controller.NewRequeueAfter(wait)
	}
	logging.FromContext(ctx).Errorw("A deleted cluster goes whose record is not understood",
		"message", delivery.NotUnderstood(c.Status.Firesteel), "record", c.Status.Firesteel)
	return nil
}

// setAside says of a cluster that cannot be decoded why nothing is done for it, once per generation. Where it is deleted,
// what there is of it goes.
func (r *Reconciler) setAside(ctx context.Context, c *sparkv1.SparkCluster) error {
	if c.DeletionTimestamp != nil {
		if accepted, released := r.releasing(c, nil); released || accepted {
			return nil
		}
		return r.release(ctx, c)
	}
	if !r.memory.reports.First(c) {
		return nil
	}
	const reason = "Undecodable"
	message := "The cluster cannot be decoded, so that nothing is done for it: " + c.Undecodable
	controller.GetEventRecorder(ctx).Event(c, corev1.EventTypeWarning, reason, message)
	patch, err := dialect.BlockedPatch(c, metav1.Condition{
		Type: status.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: message,
	}, r.clock.Now())
	if err != nil {
		return fmt.Errorf("encode why the cluster is set aside: %w", err)
	}
	_, err = r.client.SparkV1().SparkClusters(c.Namespace).Patch(ctx, c.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		r.memory.reports.Forget(c.UID)
		return fmt.Errorf("report that the cluster is set aside: %w", err)
	}
	return nil
}
