package sparkcluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/masterui"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/kube/objectclient"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// observe reads the state of a cluster from the caches. objects is nil if they cannot be built.
func (r *Reconciler) observe(ctx context.Context, c *sparkv1.SparkCluster, objects *resources.Objects) cluster.Observation {
	seen := cluster.Observation{Master: r.masters.Seen(c.UID), Reported: status.ReportedReadiness(c)}
	if objects != nil {
		switch last := r.lastRefusal(c, objects); {
		case last.cause == nil:
			seen.Ensured = r.allUpToDate(c, objects)
		case last.isTemporary():
			seen.Awaited, seen.RetryAt = last.cause, last.until
		default:
			seen.Ensured, seen.Refused = true, last.cause
		}
	}
	seen.Complete = r.hasAllPods(c)
	if set := r.statefulSet(c, resources.MasterName(c.Name)); set != nil {
		seen.Created = set.CreationTimestamp.Time
	}
	if set := r.statefulSet(c, resources.WorkerName(c.Name)); set != nil {
		seen.ReadyWorkers = set.Status.ReadyReplicas
	}
	pods := r.podsOf(c)
	if seen.Obstacle = obstacle(pods); seen.Obstacle == nil {
		seen.Obstacle = r.whyPodsAreMissing(ctx, c)
	}
	seen.Obstacle = r.redactors.Cause(c, seen.Obstacle)
	seen.ReleaseAccepted, seen.Released = r.releaseProgress(c, pods)
	if c.DeletionTimestamp != nil {
		seen.Deleted, seen.Left = c.DeletionTimestamp.Time, r.remaining(c, pods)
	}
	return seen
}

// remaining returns the names of the Pods and objects that a cluster has.
func (r *Reconciler) remaining(c *sparkv1.SparkCluster, pods []*corev1.Pod) []string {
	var names []string
	for _, pod := range pods {
		names = append(names, "Pod "+pod.Name)
	}
	for _, owned := range r.owned.ownedBy(c.UID) {
		names = append(names, objectclient.KindOf(owned)+" "+owned.GetName())
	}
	slices.Sort(names)
	return names
}

// releaseProgress reports whether the deletion of all objects of a cluster is accepted, and whether none is left.
// Objects that the deletion orphans do not count.
func (r *Reconciler) releaseProgress(c *sparkv1.SparkCluster, pods []*corev1.Pod) (accepted, released bool) {
	if c.DeletionTimestamp != nil && slices.Contains(c.Finalizers, metav1.FinalizerOrphanDependents) {
		return true, true
	}
	owned := r.owned.ownedBy(c.UID)
	lasting := slices.ContainsFunc(owned, func(o object) bool { return o.GetDeletionTimestamp() == nil })
	return !lasting, len(owned) == 0 && len(pods) == 0
}

// podsOf returns the Pods of a cluster's StatefulSets. Drivers may have the cluster's label as well, and the Pods of
// an orphaned StatefulSet do not belong to the cluster.
func (r *Reconciler) podsOf(c *sparkv1.SparkCluster) []*corev1.Pod {
	return slices.DeleteFunc(r.owned.podsOf(c.Namespace, c.Name), func(pod *corev1.Pod) bool {
		owner := metav1.GetControllerOf(pod)
		if owner == nil || owner.Kind != "StatefulSet" ||
			owner.Name != resources.MasterName(c.Name) && owner.Name != resources.WorkerName(c.Name) {
			return true
		}
		set := r.owned.get(c.UID, objectKey{kind: objectclient.KindOf(&appsv1.StatefulSet{}), namespace: c.Namespace, name: owner.Name})
		return set != nil && set.GetUID() == owner.UID && !owns(c.UID, set)
	})
}

func (r *Reconciler) statefulSet(c *sparkv1.SparkCluster, name string) *appsv1.StatefulSet {
	set, ok := r.owned.get(c.UID, objectKey{kind: objectclient.KindOf(&appsv1.StatefulSet{}), namespace: c.Namespace, name: name}).(*appsv1.StatefulSet)
	if !ok || !owns(c.UID, set) {
		return nil
	}
	return set
}

// statefulSets returns the existing StatefulSets of a cluster, that of the master first.
func (r *Reconciler) statefulSets(c *sparkv1.SparkCluster) []*appsv1.StatefulSet {
	var sets []*appsv1.StatefulSet
	for _, name := range []string{resources.MasterName(c.Name), resources.WorkerName(c.Name)} {
		if set := r.statefulSet(c, name); set != nil {
			sets = append(sets, set)
		}
	}
	return sets
}

// runs reports whether a cluster exists as its present spec asks. Then a change of the admin's rules does nothing to it.
func (r *Reconciler) runs(c *sparkv1.SparkCluster, objects *resources.Objects) bool {
	if len(r.statefulSets(c)) < 2 {
		return false
	}
	return !slices.ContainsFunc(objects.All(), func(wanted resources.Object) bool {
		existing := r.owned.get(c.UID, objectKeyOf(wanted))
		return existing != nil && !resources.Same(existing, wanted)
	})
}

// masterOf returns the address of the master as the existing objects have it: an edit may have been refused.
func (r *Reconciler) masterOf(c *sparkv1.SparkCluster, objects *resources.Objects) masterui.Master {
	service, set := objects.MasterService, objects.Master
	if found, ok := r.owned.get(c.UID, objectKeyOf(service)).(*corev1.Service); ok {
		service = found
	}
	if found, ok := r.owned.get(c.UID, objectKeyOf(set)).(*appsv1.StatefulSet); ok {
		set = found
	}
	return masterui.Master{Namespace: service.Namespace, Service: service.Name, Port: resources.PagePort(service, set)}
}

// obstacle returns what keeps a Pod of a cluster from running, for the master before workers.
func obstacle(pods []*corev1.Pod) *lifecycle.Cause {
	sorted := slices.SortedFunc(slices.Values(pods), func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	for _, pod := range sorted {
		if cause := lifecycle.WaitingCause(pod, "A Pod"); cause != nil {
			return cause
		}
		for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if cause := crashLoop(status); cause != nil {
				return cause
			}
		}
	}
	return nil
}

// crashLoop returns the cause if a container restarts again and again.
func crashLoop(status corev1.ContainerStatus) *lifecycle.Cause {
	const crashes = "CrashLoopBackOff"
	if status.State.Waiting == nil || status.State.Waiting.Reason != crashes {
		return nil
	}
	message := fmt.Sprintf("Container %s restarts again and again; its log says why.", status.Name)
	if last := status.LastTerminationState.Terminated; last != nil {
		message = fmt.Sprintf("Container %s restarts again and again, last with exit code %d (%s); its log says why.",
			status.Name, last.ExitCode, last.Reason)
	}
	return &lifecycle.Cause{Class: lifecycle.ClassApplication, Reason: crashes, Message: message}
}

// statusFacts returns what the status shows besides the record.
func (r *Reconciler) statusFacts(c *sparkv1.SparkCluster, decision cluster.Decision) status.Facts {
	warnings := r.redactors.Texts(c, slices.Concat(status.Warnings(c).Sentences(), decision.Warnings))
	facts := status.Facts{
		Now: r.clock.Now(), Decision: decision, Warnings: warnings,
		Exists:   len(r.owned.ownedBy(c.UID)) > 0,
		Delivery: delivery.Of(c.Status.Firesteel, r.relay.Progress(c.UID)),
	}
	facts.Rollout = status.RolloutOf(r.statefulSets(c)...)
	worker := r.statefulSet(c, resources.WorkerName(c.Name))
	if worker == nil {
		return facts
	}
	facts.Workers = worker.Status.Replicas
	facts.Registered = r.registeredWorkers(c, worker, decision.Ready.Ready)
	return facts
}

// registeredWorkers returns the number of workers that the master calls alive. While the master does not answer and the cluster is
// ready, it is the last known number.
func (r *Reconciler) registeredWorkers(c *sparkv1.SparkCluster, worker *appsv1.StatefulSet, ready bool) int32 {
	master := r.masters.Seen(c.UID)
	noAnswer := master == nil || !master.FailingSince.IsZero() && ready
	switch {
	case noAnswer && c.Status.Workers != nil:
		return c.Status.Workers.Registered
	case noAnswer:
		return 0
	case master.Closed:
		return worker.Status.ReadyReplicas
	default:
		return master.Workers
	}
}
