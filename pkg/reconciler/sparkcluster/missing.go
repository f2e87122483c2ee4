package sparkcluster

import (
	"cmp"
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
	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// missedAfter is how long a StatefulSet may lack Pods before it is asked why: who creates them may be at it.
const missedAfter = 20 * time.Second

// failedCreate is the reason of the Kubernetes Events by which the controller of StatefulSets tells that a Pod was refused. It
// tells it nowhere else.
const failedCreate = "FailedCreate"

// missing is a StatefulSet that lacks Pods.
type missing struct {
	since time.Time
	// version is that of the StatefulSet when it was last asked why, and cause the answer; empty where nobody asked.
	version string
	cause   *lifecycle.Cause
}

// missingPods says why Pods of a cluster are not even created; nil where they are, or where nobody says why. It asks the API
// server, of a StatefulSet that has lacked Pods for long: once, and again when it has changed.
func (r *Reconciler) missingPods(ctx context.Context, c *sparkv1.SparkCluster) *lifecycle.Cause {
	var cause *lifecycle.Cause
	for _, set := range r.statefulSets(c) {
		if !lacksPods(set) {
			r.memory.found(c.UID, set.Name)
			continue
		}
		known := r.memory.miss(c.UID, set.Name, r.clock.Now())
		if known.version != set.ResourceVersion && r.clock.Since(known.since) >= missedAfter {
			known = r.ask(ctx, set, known)
			r.memory.keepMissing(c.UID, set.Name, known)
		}
		cause = cmp.Or(cause, known.cause)
	}
	return cause
}

// ask asks why Pods of a StatefulSet are missing. Where there is no answer it is asked again after a while.
func (r *Reconciler) ask(ctx context.Context, set *appsv1.StatefulSet, known missing) missing {
	selector := fields.Set{"involvedObject.uid": string(set.UID), "reason": failedCreate}.AsSelector().String()
	events, err := r.kube.CoreV1().Events(set.Namespace).List(ctx, metav1.ListOptions{FieldSelector: selector, Limit: 50})
	if err != nil {
		logging.FromContext(ctx).Warnw("It is not known why Pods are missing", "statefulSet", set.Name, "error", err)
		known.since = r.clock.Now()
		return known
	}
	known.version, known.cause = set.ResourceVersion, nil
	if len(events.Items) > 0 {
		known.cause = refusedPod(latestOf(events.Items))
	}
	return known
}

// lacksPods says that the controller of StatefulSets has looked at one, and that there are fewer Pods than it is to have.
func lacksPods(set *appsv1.StatefulSet) bool {
	return set.Spec.Replicas != nil && set.Status.ObservedGeneration > 0 && set.Status.ObservedGeneration == set.Generation && set.Status.Replicas < *set.Spec.Replicas
}

func latestOf(events []corev1.Event) corev1.Event {
	return slices.MaxFunc(events, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
}

func refusedPod(event corev1.Event) *lifecycle.Cause {
	cause := &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: failedCreate, Message: "A Pod was refused: " + event.Message}
	if strings.Contains(event.Message, "exceeded quota") {
		cause.Reason = apierror.QuotaExceeded
		cause.Message += "; " + remedies[apierror.QuotaExceeded]
	}
	return cause
}
