package sparkcluster

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/quota"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/quotas"
)

// room compares what a cluster asks for with the quotas of its namespace, before its Pods are created the first time. It returns nil if
// they may exist, or if the cluster is not about to be created.
func (r *Reconciler) room(
	ctx context.Context, c *sparkv1.SparkCluster, record *v1alpha1.Record, policy cluster.Policy, objects *resources.Objects,
) *cluster.Room {
	if c.DeletionTimestamp != nil || policy.Suspend || policy.Refused != nil || !cluster.AwaitsCreation(record, policy) || len(r.statefulSets(c)) > 0 {
		return nil
	}
	var recorded *v1alpha1.QuotaClaim
	if cluster.Current(record) == cluster.Submitted {
		recorded = record.Quota
	}
	request := quotas.Request{Object: c, Kind: events.KindCluster, Settings: config.FromContext(ctx).Admission.QuotaSettings}
	asked := func() *v1alpha1.QuotaClaim {
		master, worker := objects.Pods()
		return r.tracker.Claim(master, worker, int64(resources.InitialWorkers(c)), recorded)
	}
	if recorded != nil && recorded.Reserved != nil && quota.SameClaim(recorded, asked()) {
		claim, hold := r.tracker.Confirm(request, recorded)
		return roomOf(claim, hold, true)
	}
	claim, hold := r.tracker.Reserve(request, recorded, asked)
	return roomOf(claim, hold, claim == nil)
}

// roomOf returns what the tracker said. confirmed reports whether the objects may be created if nothing holds them.
func roomOf(claim *v1alpha1.QuotaClaim, hold *quotas.Hold, confirmed bool) *cluster.Room {
	if hold == nil {
		return &cluster.Room{Claim: claim, Confirmed: confirmed}
	}
	return &cluster.Room{Claim: claim, Waiting: hold.Waiting, Refused: hold.Refused, RetryAt: hold.RetryAt}
}

// quotaState returns what the tracker of quotas needs to know of a cluster.
func quotaState(c *sparkv1.SparkCluster, inScope bool) quotas.State {
	state := quotas.State{Object: c, Record: c.Status.Firesteel, Cluster: true}
	if !inScope || c.DeletionTimestamp != nil {
		return state
	}
	current := cluster.Current(c.Status.Firesteel)
	state.Waits = current == cluster.Submitted && !c.Spec.Suspend && c.Undecodable == ""
	state.Active = current == cluster.Submitted || current.Running()
	return state
}

// livePods returns which Pods of a cluster exist and have not ended: the master's as that of a driver, workers as executors.
func (r *Reconciler) livePods(c *sparkv1.SparkCluster) (live quotas.Pods) {
	for _, pod := range r.podsOf(c) {
		switch {
		case lifecycle.PodEnded(pod):
		case pod.Labels[resources.LabelRole] == resources.Master:
			live.Driver = true
		default:
			live.Executors++
		}
	}
	return live
}

// podsOfCluster returns a function that returns which Pods of a cluster exist, by the caches.
func (r *Reconciler) podsOfCluster(cached func(types.NamespacedName) *sparkv1.SparkCluster) func(types.NamespacedName, v1alpha1.Launch) quotas.Pods {
	return func(key types.NamespacedName, _ v1alpha1.Launch) quotas.Pods {
		c := cached(key)
		if c == nil {
			return quotas.Pods{Over: true}
		}
		return r.livePods(c)
	}
}

// hasAllPods reports whether all Pods exist that the StatefulSets of a cluster ask for.
func (r *Reconciler) hasAllPods(c *sparkv1.SparkCluster) bool {
	const both = 2
	sets := r.statefulSets(c)
	for _, set := range sets {
		if !isObserved(set) || lacksPods(set) {
			return false
		}
	}
	return len(sets) == both
}

// waitsForQuota reports whether a cluster that is not there yet waits since a quota refused one of its objects.
func (r *Reconciler) waitsForQuota(ctx context.Context, c *sparkv1.SparkCluster, refused *lifecycle.Cause) bool {
	return config.FromContext(ctx).Admission.Quota == config.QuotaHold && refused.Reason == apierror.QuotaExceeded &&
		cluster.Current(c.Status.Firesteel) == cluster.Submitted
}
