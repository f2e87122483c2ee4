package sparkcluster

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	sparkclusterreconciler "github.com/firesteel-dev/firesteel/pkg/client/injection/reconciler/spark/v1/sparkcluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/masterui"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/metrics/clusters"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/quotas"
)

const (
	// maxEffects is the largest number of effects in one reconcile. A cluster that needs more is requeued.
	maxEffects = 6
)

// Masters reads from masters how many workers are registered. masterui.Watch is one.
type Masters interface {
	Follow(uid types.UID, key types.NamespacedName, master masterui.Master, every time.Duration)
	PollNow(uid types.UID)
	Seen(uid types.UID) *cluster.Master
	Forget(uid types.UID)
	ForgetWhere(gone func(types.NamespacedName) bool)
}

// Reconciler reconciles clusters. The generated reconciler names the work queue and the lease of the leader election after this
// type.
type Reconciler struct {
	kube    kubernetes.Interface
	client  versioned.Interface
	owned   *ownedObjects
	masters Masters
	relay   delivery.Publisher
	tracker *quotas.Tracker
	quotas  *quotas.Source
	clock   clock.PassiveClock
	// enqueueAfter requeues a cluster.
	enqueueAfter func(c any, after time.Duration)

	state     *clusterState
	redactors base.Redactors
	metrics   *clusters.Metrics
}

var (
	_ sparkclusterreconciler.Interface = (*Reconciler)(nil)
	_ sparkclusterreconciler.Finalizer = (*Reconciler)(nil)
)

// ReconcileKind reconciles a cluster that is not deleted.
func (r *Reconciler) ReconcileKind(ctx context.Context, c *sparkv1.SparkCluster) reconciler.Event {
	ctx, cancel := context.WithTimeout(ctx, reconciler.DefaultTimeout)
	defer cancel()
	_, err := r.advance(ctx, c)
	return r.redactors.Error(c, err)
}

// FinalizeKind deletes the objects of a deleted cluster and waits for the delivery of its events. Then it must not
// write the cluster: the patch that removes the finalizer has this resourceVersion.
func (r *Reconciler) FinalizeKind(ctx context.Context, c *sparkv1.SparkCluster) reconciler.Event {
	ctx, cancel := context.WithTimeout(ctx, reconciler.DefaultTimeout)
	defer cancel()
	if r.state.finalizerRemovals.JustRemoved(c) {
		return controller.NewRequeueAfter(base.RetryAfter) // the cache may be stale
	}
	current, err := r.advance(ctx, c)
	if err != nil {
		return r.redactors.Error(c, err)
	}
	*c = *current
	if c.Status.Firesteel.HasNewerFormat() {
		r.forget(c.UID)
		r.state.finalizerRemoved(c)
		return nil
	}
	if record := c.Status.Firesteel; c.Undecodable == "" && record != nil && cluster.Current(record) != cluster.ResourceReleased {
		return base.RequeueHeld(ctx, record, "objects not deleted", delivery.CursorDelay) // the objects that are left are watched
	}
	if wait := delivery.DeletionGrace(ctx, c, c.Status.Firesteel, r.relay.Progress(c.UID), r.clock.Now()); wait > 0 {
		return base.RequeueHeld(ctx, c.Status.Firesteel, "events not delivered", wait) // progress of the delivery is reported
	}
	logging.FromContext(ctx).Debugw("removing finalizer", base.LogKeys(c.Status.Firesteel)...)
	r.forget(c.UID)
	r.state.finalizerRemoved(c)
	return nil
}

// advance decides, persists and acts, and does so again with the result.
func (r *Reconciler) advance(ctx context.Context, c *sparkv1.SparkCluster) (*sparkv1.SparkCluster, error) {
	if !r.owned.synced() {
		return c, controller.NewRequeueAfter(base.RetryAfter)
	}
	c = r.state.written.Newest(c)
	if done, err := r.isBlocked(ctx, c); done || err != nil {
		return c, err
	}
	settings := config.FromContext(ctx)
	policy := status.Policy(c, settings.Clusters.MasterStartTimeout, settings.Events.DeletionGrace)
	policy.Spec.SameSince = r.state.edits.SameSince(c.UID, c.Generation)
	defaults := settings.OfClusters(c.Namespace)
	objects, err := resources.Build(c, defaults)
	if err != nil {
		return c, err
	}
	if err := r.resolveUncertain(ctx, c, objects); err != nil {
		return c, err
	}
	if err := r.retryRefused(ctx, c, objects); err != nil {
		return c, err
	}
	if !r.runs(c, objects) {
		policy.Refused = r.redactors.Cause(c, dialect.Refused(status.Invalid(c, settings.Admission.Rules)))
	}
	warnings := objects.PodSecurityWarnings(defaults.PodSecurity).Sentences()
	record, seen := r.withProgress(c), r.observe(ctx, c, objects)
	for range maxEffects {
		seen.Room = r.room(ctx, c, record, policy, objects)
		var decision cluster.Decision
		record, decision = cluster.Decide(record, policy, seen, r.clock.Now())
		decision.Warnings = append(decision.Warnings, warnings...)
		logDecision(ctx, record, decision)
		if c, err = r.persist(ctx, c, record, decision); err != nil {
			return c, err
		}
		record = c.Status.Firesteel.DeepCopy()
		if decision.SpecAdopted {
			blocked.SpecAdopted(ctx, c, record)
		}
		r.relay.Publish(events.Snapshot{Object: objectOf(c), Record: c.Status.Firesteel, Span: trace.SpanContextFromContext(ctx)})
		r.masters.Follow(c.UID, kube.KeyOf(c), r.masterOf(c, objects), decision.PollInterval)
		if decision.Effect == cluster.NoEffect {
			r.requeue(ctx, c, decision)
			return c, nil
		}
		if err := r.act(ctx, c, objects, decision.Effect, &seen); err != nil {
			return c, err
		}
	}
	r.enqueueAfter(c, base.RetryAfter)
	return c, nil
}

// act carries out an effect and observes the result.
func (r *Reconciler) act(
	ctx context.Context, c *sparkv1.SparkCluster, objects *resources.Objects, effect cluster.Effect, seen *cluster.Observation,
) error {
	deleted := seen.Deleted
	switch effect {
	case cluster.Ensure:
		if err := r.ensureObjects(ctx, c, objects); err != nil {
			return err
		}
		logging.FromContext(ctx).Debugw("ensured objects", base.LogKeys(c.Status.Firesteel)...)
		*seen = r.observe(ctx, c, objects)
		seen.Ensured, seen.Deleted = seen.Awaited == nil, deleted
	case cluster.Release:
		if cluster.Current(c.Status.Firesteel) == cluster.ResourceReleased {
			if err := r.checkUnchanged(ctx, c); err != nil {
				return err
			}
		}
		if err := r.release(ctx, c); err != nil {
			return err
		}
		logging.FromContext(ctx).Debugw("deleted objects", base.LogKeys(c.Status.Firesteel)...)
		r.state.forgetRefusal(c.UID)
		*seen = r.observe(ctx, c, objects)
		seen.ReleaseAccepted, seen.Deleted = true, deleted
	}
	return nil
}

// ensureObjects creates or updates all objects, and stores why if it could not.
func (r *Reconciler) ensureObjects(ctx context.Context, c *sparkv1.SparkCluster, objects *resources.Objects) error {
	cause, err := r.ensure(ctx, c, objects, !cluster.Current(c.Status.Firesteel).Running())
	var notFree *nameNotFreeError
	last := refusal{objects: objectsHash(objects), at: r.clock.Now()}
	switch {
	case errors.As(err, &notFree):
		cause, last.until = notFree.cause(), last.at.Add(base.RetryAfter)
	case err != nil:
		return err
	case cause == nil:
		r.tracker.Launched(c.UID)
	case r.waitsForQuota(ctx, c, cause):
		cause.Reason, last.until = diagnosis.ReasonWaitingForQuota, r.tracker.Refused(c)
	}
	last.cause = r.redactors.Cause(c, cause)
	r.state.setRefusal(c.UID, last)
	return nil
}

// retryRefused retries, after a while, what was refused for a running cluster.
func (r *Reconciler) retryRefused(ctx context.Context, c *sparkv1.SparkCluster, objects *resources.Objects) error {
	last := r.lastRefusal(c, objects)
	if last.cause == nil || last.isTemporary() || r.clock.Since(last.at) < refusalRetry ||
		!cluster.Current(c.Status.Firesteel).Running() || c.DeletionTimestamp != nil {
		return nil
	}
	return r.ensureObjects(ctx, c, objects)
}

// withProgress returns the record with what the sink acknowledged since it was written, nil if the cluster is new.
func (r *Reconciler) withProgress(c *sparkv1.SparkCluster) *v1alpha1.Record {
	if c.Status.Firesteel == nil {
		return status.Inherit(c)
	}
	return delivery.CatchUp(c.Status.Firesteel, r.relay.Progress(c.UID))
}

// requeue requeues a cluster for the time when the first of these is due: its deadline, its cursor, its numbers of workers.
func (r *Reconciler) requeue(ctx context.Context, c *sparkv1.SparkCluster, decision cluster.Decision) {
	due := decision.RequeueAt
	sooner := func(at time.Time) {
		if due.IsZero() || !at.IsZero() && at.Before(due) {
			due = at
		}
	}
	sooner(delivery.CursorDueAt(c.Status.Firesteel, r.relay.Progress(c.UID)))
	sooner(r.state.explainAt(c.UID))
	if r.workersChanged(c, decision) {
		sooner(r.state.writtenAt(c.UID).Add(workersAfter))
	}
	if decision.Refused != nil {
		sooner(r.clock.Now().Add(refusalRetry))
	}
	if !due.IsZero() {
		base.LogRequeue(ctx, base.LogKeys(c.Status.Firesteel), due)
		r.enqueueAfter(c, max(due.Sub(r.clock.Now()), 0))
	}
}

// forget ends the delivery of events about a cluster, and the reading of its master.
func (r *Reconciler) forget(uid types.UID) {
	r.relay.Forget(uid)
	r.masters.Forget(uid)
	r.owned.forget(uid)
}

func objectOf(c *sparkv1.SparkCluster) events.Object {
	return events.Object{
		Group: sparkv1.SchemeGroupVersion.Group, Resource: status.Resource, Kind: events.KindCluster,
		Namespace: c.Namespace, Name: c.Name, UID: c.UID,
	}
}
