package application

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/launch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// finishedDeletes bounds the executor Pods that one reconcile deletes.
const finishedDeletes = 20

// deleteFinishedExecutors deletes the oldest executor Pods that ended, beyond those that stay for the archive. Otherwise those of a long application with
// dynamic allocation would accumulate. Pods that stay because the user asks for it are not touched.
func (r *Reconciler) deleteFinishedExecutors(ctx context.Context, v *view.Application, record *v1alpha1.Record) error {
	if !v.KeepExecutors || v.Deleted() || !lifecycle.CurrentState(record).DriverRuns() || record.Launch == nil {
		return nil
	}
	namespace := v.App.GetNamespace()
	surplus := r.finishedExecutors.Surplus(namespace, record.Launch, r.clock.Now(), finishedDeletes)
	if len(surplus) == 0 {
		return nil
	}
	if plan, err := v.Dialect.Plan(v.App, record.Attempt); err != nil || launch.KeptByUser(plan) {
		return nil //nolint:nilerr // nothing is known of what the user wants, so the Pods stay
	}
	for _, pod := range surplus {
		err := r.kube.CoreV1().Pods(namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("delete executor Pod %s/%s, which has ended: %w", namespace, pod.Name, err)
		}
	}
	logging.FromContext(ctx).Debugw("deleted executor Pods that ended", append(v.LogKeys(), "pods", len(surplus))...)
	if len(surplus) == finishedDeletes {
		r.enqueueAfter(v.App, base.RetryAfter)
	}
	return nil
}
