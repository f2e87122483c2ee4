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
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// observe looks at what there is of a cluster. objects is nil where nobody can tell what there is to be.
func (r *Reconciler) observe(ctx context.Context, c *sparkv1.SparkCluster, objects *resources.Objects) cluster.Observation {
	seen := cluster.Observation{Master: r.masters.Seen(c.UID), Told: status.Told(c)}
	if objects != nil {
		switch last := r.lastRefusal(c, objects); {
		case last.cause == nil:
			seen.Ensured = r.isEnsured(c, objects)
		case last.passing:
			seen.Awaited, seen.TryAgain = last.cause, last.at.Add(retryAfter)
		default:
			seen.Ensured, seen.Refused = true, last.cause
		}
	}
	if set := r.statefulSet(c, resources.MasterName(c.Name)); set != nil {
		seen.Created = set.CreationTimestamp.Time
	}
	if set := r.statefulSet(c, resources.WorkerName(c.Name)); set != nil {
		seen.ReadyWorkers = set.Status.ReadyReplicas
	}
	pods := r.podsOf(c)
	if seen.Obstacle = obstacle(pods); seen.Obstacle == nil {
		seen.Obstacle = r.missingPods(ctx, c)
	}
	if seen.Obstacle != nil {
		told := *seen.Obstacle
		told.Message = r.redactors.For(c).Text(told.Message)
		seen.Obstacle = &told
	}
	seen.ReleaseAccepted, seen.Released = r.releasing(c, pods)
	if c.DeletionTimestamp != nil {
		seen.Deleted, seen.Left = c.DeletionTimestamp.Time, r.left(c, pods)
	}
	return seen
}

// left names what there is of a cluster.
func (r *Reconciler) left(c *sparkv1.SparkCluster, pods []*corev1.Pod) []string {
	var names []string
	for _, pod := range pods {
		names = append(names, "Pod "+pod.Name)
	}
	for _, owned := range r.estate.of(c.UID) {
		names = append(names, kindOf(owned)+" "+owned.GetName())
	}
	slices.Sort(names)
	return names
}

// releasing says whether all that there is of a cluster is on its way out, and whether nothing is left. What is to be
// orphaned is no more the cluster's.
func (r *Reconciler) releasing(c *sparkv1.SparkCluster, pods []*corev1.Pod) (accepted, released bool) {
	if c.DeletionTimestamp != nil && slices.Contains(c.Finalizers, metav1.FinalizerOrphanDependents) {
		return true, true
	}
	owned := r.estate.of(c.UID)
	lasting := slices.ContainsFunc(owned, func(o object) bool { return o.GetDeletionTimestamp() == nil })
	return !lasting, len(owned) == 0 && len(pods) == 0
}

// podsOf are the Pods of a cluster's StatefulSets. Drivers of jobs may carry its label too, and those of a StatefulSet that was
// orphaned are its own no more.
func (r *Reconciler) podsOf(c *sparkv1.SparkCluster) []*corev1.Pod {
	return slices.DeleteFunc(r.estate.podsOf(c.Namespace, c.Name), func(pod *corev1.Pod) bool {
		owner := metav1.GetControllerOf(pod)
		if owner == nil || owner.Kind != "StatefulSet" ||
			owner.Name != resources.MasterName(c.Name) && owner.Name != resources.WorkerName(c.Name) {
			return true
		}
		set := r.estate.get(c.UID, place{kind: kindOf(&appsv1.StatefulSet{}), namespace: c.Namespace, name: owner.Name})
		return set != nil && set.GetUID() == owner.UID && !owns(c.UID, set)
	})
}

func (r *Reconciler) statefulSet(c *sparkv1.SparkCluster, name string) *appsv1.StatefulSet {
	set, is := r.estate.get(c.UID, place{kind: kindOf(&appsv1.StatefulSet{}), namespace: c.Namespace, name: name}).(*appsv1.StatefulSet)
	if !is || !owns(c.UID, set) {
		return nil
	}
	return set
}

// statefulSets are those that there are of a cluster, the master's first.
func (r *Reconciler) statefulSets(c *sparkv1.SparkCluster) []*appsv1.StatefulSet {
	var sets []*appsv1.StatefulSet
	for _, name := range []string{resources.MasterName(c.Name), resources.WorkerName(c.Name)} {
		if set := r.statefulSet(c, name); set != nil {
			sets = append(sets, set)
		}
	}
	return sets
}

// masterOf is where the master is, going by what there is: an edit may have been refused.
func (r *Reconciler) masterOf(c *sparkv1.SparkCluster, objects *resources.Objects) masterui.Master {
	service, set := objects.MasterService, objects.Master
	if found, is := r.estate.get(c.UID, placeOf(service)).(*corev1.Service); is {
		service = found
	}
	if found, is := r.estate.get(c.UID, placeOf(set)).(*appsv1.StatefulSet); is {
		set = found
	}
	return masterui.Master{Namespace: service.Namespace, Service: service.Name, Port: resources.PagePort(service, set)}
}

// obstacle says what keeps a Pod of a cluster from running, the master before workers.
func obstacle(pods []*corev1.Pod) *lifecycle.Cause {
	sorted := slices.SortedFunc(slices.Values(pods), func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	for _, pod := range sorted {
		if cause := lifecycle.Waiting(pod, "A Pod"); cause != nil {
			return cause
		}
		for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if cause := ends(status); cause != nil {
				return cause
			}
		}
	}
	return nil
}

// ends says that a container is started over and over.
func ends(status corev1.ContainerStatus) *lifecycle.Cause {
	const crashes = "CrashLoopBackOff"
	if status.State.Waiting == nil || status.State.Waiting.Reason != crashes {
		return nil
	}
	message := fmt.Sprintf("Container %s ends over and over; its log says why.", status.Name)
	if last := status.LastTerminationState.Terminated; last != nil {
		message = fmt.Sprintf("Container %s ends over and over, last with exit code %d (%s); its log says why.",
			status.Name, last.ExitCode, last.Reason)
	}
	return &lifecycle.Cause{Class: lifecycle.ClassApplication, Reason: crashes, Message: message}
}

// facts are what is said of a cluster beside its record.
func (r *Reconciler) facts(c *sparkv1.SparkCluster, decision cluster.Decision) status.Facts {
	warnings := slices.Concat(status.Warnings(c), decision.Warnings)
	if len(warnings) > 0 {
		warnings = r.redactors.For(c).Texts(warnings)
	}
	facts := status.Facts{
		Now: r.clock.Now(), Decision: decision, Warnings: warnings,
		Exists:   len(r.estate.of(c.UID)) > 0,
		Delivery: delivery.Of(c.Status.Firesteel, r.relay.Progress(c.UID)),
	}
	facts.Rollout = status.RolloutOf(r.statefulSets(c)...)
	worker := r.statefulSet(c, resources.WorkerName(c.Name))
	if worker == nil {
		return facts
	}
	facts.Workers = worker.Status.Replicas
	facts.Registered = r.registered(c, worker, decision.Ready.Ready)
	return facts
}

// registered is the number of workers that the master calls alive. While it is silent, and the cluster ready all the same, that is
// what it last told.
func (r *Reconciler) registered(c *sparkv1.SparkCluster, worker *appsv1.StatefulSet, ready bool) int32 {
	master := r.masters.Seen(c.UID)
	silent := master == nil || !master.FailingSince.IsZero() && ready
	switch {
	case silent && c.Status.Workers != nil:
		return c.Status.Workers.Registered
	case silent:
		return 0
	case master.Closed:
		return worker.Status.ReadyReplicas
	default:
		return master.Workers
	}
}
