package base

import (
	"context"
	"time"

	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
)

// Generated is what injection-gen makes of a reconciler, for what stands before it.
type Generated interface {
	controller.Reconciler
	reconciler.LeaderAware
	IsLeaderFor(key types.NamespacedName) bool
}

// PrunedRetryAfter is when an object is tried again whose record the API server does not keep.
const PrunedRetryAfter = time.Minute

const (
	retryFrom = 5 * time.Millisecond
	retryCap  = time.Minute
)

// Retries is the back-off of objects whose reconcile failed. Each has its own: the queue's would have all of them
// share ten tries a second, so that after a moment without API server some wait for minutes.
type Retries struct {
	limiter workqueue.TypedRateLimiter[types.NamespacedName]
}

// NewRetries knows of no failure yet.
func NewRetries() *Retries {
	return &Retries{workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](retryFrom, retryCap)}
}

// Requeue turns the error of a reconcile that failed, or met a conflict, into one that has the object looked at again.
func (r *Retries) Requeue(ctx context.Context, object types.NamespacedName, err error) error {
	if !Failed(err) && !apierrors.IsConflict(err) || controller.IsPermanentError(err) {
		r.limiter.Forget(object)
		return err
	}
	delay := r.limiter.When(object)
	if Failed(err) {
		logging.FromContext(ctx).Errorw("Reconcile failed", zap.Duration("again", delay), zap.Error(err))
	}
	return controller.NewRequeueAfter(delay)
}

// Failed says that an error of a reconcile is one, and not a way to be asked again.
func Failed(err error) bool {
	requeue, _ := controller.IsRequeueKey(err)
	return err != nil && !requeue && !controller.IsSkipKey(err) && !apierrors.IsConflict(err)
}
