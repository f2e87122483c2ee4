package sparkcluster

import (
	"context"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"knative.dev/pkg/logging"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/refusal"
)

// missedAfter is the age of a StatefulSet from which on its Pods are missed.
const missedAfter = 20 * time.Second

// failedCreate is the reason of the Kubernetes Events by which the controller of StatefulSets tells that a Pod was refused. It
// tells it nowhere else.
const failedCreate = "FailedCreate"

// missingPods says why Pods of a cluster are not even created; nil where they are, or where nobody says why. It asks the API
// server, of a cluster that lacks something for long.
func (r *Reconciler) missingPods(ctx context.Context, c *sparkv1.SparkCluster) *lifecycle.Cause {
	for _, name := range []string{resources.MasterName(c.Name), resources.WorkerName(c.Name)} {
		set := r.statefulSet(c, name)
		if set == nil || !lacksPods(set) || r.clock.Since(set.CreationTimestamp.Time) < missedAfter {
			continue
		}
		selector := fields.Set{"involvedObject.uid": string(set.UID), "reason": failedCreate}.AsSelector().String()
		events, err := r.kube.CoreV1().Events(c.Namespace).List(ctx, metav1.ListOptions{FieldSelector: selector, Limit: 50})
		if err != nil {
			logging.FromContext(ctx).Warnw("It is not known why Pods are missing", "statefulSet", name, "error", err)
			return nil
		}
		if len(events.Items) > 0 {
			return refusedPod(latestOf(events.Items))
		}
	}
	return nil
}

// lacksPods says that the controller of StatefulSets has looked at one, and that there are fewer Pods than it is to have.
func lacksPods(set *appsv1.StatefulSet) bool {
	return set.Spec.Replicas != nil && set.Status.ObservedGeneration == set.Generation && set.Status.Replicas < *set.Spec.Replicas
}

func latestOf(events []corev1.Event) corev1.Event {
	return slices.MaxFunc(events, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
}

func refusedPod(event corev1.Event) *lifecycle.Cause {
	cause := &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: failedCreate, Message: "A Pod was refused: " + event.Message}
	if strings.Contains(event.Message, "exceeded quota") {
		cause.Reason = refusal.QuotaExceeded
		cause.Message += "; " + remedies[refusal.QuotaExceeded]
	}
	return cause
}
