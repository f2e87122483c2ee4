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

// explainAfter is how long a StatefulSet may lack Pods before Firesteel looks for the reason. Until then its
// controller may be creating them.
const explainAfter = 20 * time.Second

// failedCreate is the reason of the Kubernetes Events with which the StatefulSet controller reports that a Pod was
// refused. It is reported nowhere else.
const failedCreate = "FailedCreate"

// missingPods is what is known about a StatefulSet that lacks Pods.
type missingPods struct {
	since time.Time
	// askedAt is the resourceVersion of the StatefulSet when its Events were listed; empty if they were not. cause is
	// the result.
	askedAt string
	cause   *lifecycle.Cause
}

// whyPodsAreMissing returns why Pods of a cluster are not created; nil if all are, or if the reason is unknown. If a
// StatefulSet lacks Pods for long, it lists its Events: once, and again when the StatefulSet has changed.
func (r *Reconciler) whyPodsAreMissing(ctx context.Context, c *sparkv1.SparkCluster) *lifecycle.Cause {
	var cause *lifecycle.Cause
	for _, set := range r.statefulSets(c) {
		if !lacksPods(set) {
			r.state.podsFound(c.UID, set.Name)
			continue
		}
		known := r.state.lackingSince(c.UID, set.Name, r.clock.Now())
		if known.askedAt != set.ResourceVersion && r.clock.Since(known.since) >= explainAfter {
			known = r.listFailedCreates(ctx, set, known)
			r.state.setMissing(c.UID, set.Name, known)
		}
		cause = cmp.Or(cause, known.cause)
	}
	return cause
}

// listFailedCreates reads from the API server why Pods of a StatefulSet are missing. If that fails, it is retried
// later.
func (r *Reconciler) listFailedCreates(ctx context.Context, set *appsv1.StatefulSet, known missingPods) missingPods {
	selector := fields.Set{"involvedObject.uid": string(set.UID), "reason": failedCreate}.AsSelector().String()
	events, err := r.kube.CoreV1().Events(set.Namespace).List(ctx, metav1.ListOptions{FieldSelector: selector, Limit: 50})
	if err != nil {
		logging.FromContext(ctx).Warnw("cannot find out why Pods are missing", "statefulSet", set.Name, "error", err)
		known.since = r.clock.Now()
		return known
	}
	known.askedAt, known.cause = set.ResourceVersion, nil
	if len(events.Items) > 0 {
		known.cause = podRefusal(latestEvent(events.Items))
	}
	return known
}

// lacksPods reports whether a StatefulSet, which its controller has observed, has fewer Pods than replicas.
func lacksPods(set *appsv1.StatefulSet) bool {
	return set.Spec.Replicas != nil && isObserved(set) && set.Status.Replicas < *set.Spec.Replicas
}

// isObserved reports whether the status of a StatefulSet is that of its present spec.
func isObserved(set *appsv1.StatefulSet) bool {
	return set.Status.ObservedGeneration > 0 && set.Status.ObservedGeneration == set.Generation
}

func latestEvent(events []corev1.Event) corev1.Event {
	return slices.MaxFunc(events, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
}

func podRefusal(event corev1.Event) *lifecycle.Cause {
	reason, remedy := failedCreate, ruleRemedy
	if strings.Contains(event.Message, "exceeded quota") {
		reason, remedy = apierror.QuotaExceeded, remedies[apierror.QuotaExceeded]
	}
	return &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: reason, Message: "A Pod was refused: " + event.Message + "; " + remedy}
}
