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
)

// RetryAfter is when an object is requeued if no event will enqueue it.
const RetryAfter = time.Second

const (
	firstRetryDelay   = 5 * time.Millisecond
	longestRetryDelay = time.Minute
)

// Retries is the back-off of objects whose reconcile failed. Each object has its own. The work queue has one more limit for all
// objects: ten retries a second, so that after a short outage of the API server some objects would wait for minutes.
type Retries struct {
	limiter workqueue.TypedRateLimiter[types.NamespacedName]
}

// NewRetries returns a back-off without failures.
func NewRetries() *Retries {
	return &Retries{workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetryDelay, longestRetryDelay)}
}

// Requeue turns the error of a reconcile that failed, or met a conflict, into one that requeues the object.
func (r *Retries) Requeue(ctx context.Context, object types.NamespacedName, err error) error {
	if !Failed(err) && !apierrors.IsConflict(err) || controller.IsPermanentError(err) {
		r.limiter.Forget(object)
		return err
	}
	delay := r.limiter.When(object)
	if Failed(err) {
		logging.FromContext(ctx).Errorw("reconcile failed", zap.Duration("requeueAfter", delay), zap.Error(err))
	}
	return controller.NewRequeueAfter(delay)
}

// Failed reports whether a reconcile failed. A conflict and a request to requeue are no failures.
func Failed(err error) bool {
	requeue, _ := controller.IsRequeueKey(err)
	return err != nil && !requeue && !controller.IsSkipKey(err) && !apierrors.IsConflict(err)
}
