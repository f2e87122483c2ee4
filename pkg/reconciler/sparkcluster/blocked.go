package sparkcluster

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/controller"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
)

// isBlocked reports whether nothing is done for a cluster now, and handles the cluster if so: it reports why or, if the cluster is
// deleted, deletes its objects.
func (r *Reconciler) isBlocked(ctx context.Context, c *sparkv1.SparkCluster) (bool, error) {
	record, deleted := c.Status.Firesteel, c.DeletionTimestamp != nil
	switch {
	case record.HasNewerFormat(), record != nil && !deleted && !cluster.Understands(record):
		return true, r.leaveToNewerVersion(ctx, c)
	case c.Undecodable != "" && deleted:
		return true, r.releaseUnmanaged(ctx, c)
	case c.Undecodable != "":
		return true, r.reportUndecodable(ctx, c)
	case record != nil:
		return false, nil
	case deleted && r.state.pruned.Has(c.UID):
		return true, r.releaseUnmanaged(ctx, c)
	default:
		wait := r.state.pruned.Wait(c.UID, r.clock.Now())
		if wait > 0 {
			return true, controller.NewRequeueAfter(wait)
		}
		return false, nil
	}
}

// leaveToNewerVersion does nothing for a cluster whose record this version of Firesteel does not understand, and does not write it:
// a newer version may run beside this one. A Kubernetes Event says so. If the user deletes the cluster its objects are deleted. The
// version that wrote the record is given time to conclude it.
func (r *Reconciler) leaveToNewerVersion(ctx context.Context, c *sparkv1.SparkCluster) error {
	r.forget(c.UID)
	if c.DeletionTimestamp == nil {
		r.state.reports.NotUnderstood(ctx, c, diagnosis.NotUnderstood(c.Status.Firesteel))
		return nil
	}
	if err := r.releaseUnmanaged(ctx, c); err != nil {
		return err
	}
	return blocked.AwaitNewerVersion(ctx, c, c.Status.Firesteel, r.clock.Now())
}

// releaseUnmanaged deletes the objects of a deleted cluster whose record no controller writes, unless they are to be orphaned.
func (r *Reconciler) releaseUnmanaged(ctx context.Context, c *sparkv1.SparkCluster) error {
	if accepted, _ := r.releaseProgress(c, nil); accepted {
		return nil
	}
	return r.release(ctx, c)
}

// reportUndecodable reports why nothing is done for a cluster that cannot be decoded.
func (r *Reconciler) reportUndecodable(ctx context.Context, c *sparkv1.SparkCluster) error {
	condition := diagnosis.Undecodable("cluster", r.redactors.For(c).Text(c.Undecodable)).Condition(status.ConditionReady)
	condition.Status = metav1.ConditionFalse
	return r.state.reports.Report(ctx, c, condition.Reason, condition.Message, func() error {
		patch, err := dialect.BlockedPatch(c, condition, r.clock.Now())
		if err != nil {
			return fmt.Errorf("encode the condition: %w", err)
		}
		_, err = r.client.SparkV1().SparkClusters(c.Namespace).Patch(ctx, c.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
}
