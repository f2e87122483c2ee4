package application

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// emitEvents emits the Kubernetes Events for the changes of a status write.
func emitEvents(ctx context.Context, d dialect.Dialect, before, after dialect.Application) {
	recorder := controller.GetEventRecorder(ctx)
	for _, event := range d.KubernetesEvents(before, after) {
		recorder.Event(after, event.Type, event.Reason, event.Message)
	}
}

// emitObstacle emits a Kubernetes Event when it becomes known what keeps a driver or its executors from starting. If no node
// has room, it emits none: the scheduler emits its own. It emits none for what the user is expected to do, which has no class.
func emitObstacle(ctx context.Context, before, after dialect.Application, obstacle *lifecycle.Cause) {
	if obstacle == nil || obstacle.Class == lifecycle.ClassScheduling || obstacle.Class == "" {
		return
	}
	shown := func(app dialect.Application) bool {
		condition := meta.FindStatusCondition(app.GetConditions(), dialect.ConditionSucceeded)
		return condition != nil && condition.Reason == obstacle.Reason
	}
	if shown(after) && !shown(before) {
		controller.GetEventRecorder(ctx).Event(after, corev1.EventTypeWarning, obstacle.Reason, obstacle.Message)
	}
}

// emitDriverLeft emits a Kubernetes Event if the deletion of an application leaves a driver Pod that is still terminating.
func emitDriverLeft(ctx context.Context, before, after dialect.Application) {
	released := func(app dialect.Application) bool {
		return lifecycle.CurrentState(app.GetRecord()) == lifecycle.ResourceReleased
	}
	launch := after.GetRecord().Launch
	if after.GetDeletionTimestamp() == nil || released(before) || !released(after) || launch == nil || launch.Released {
		return
	}
	left := diagnosis.DriverLeftTerminating(after.GetRecord())
	controller.GetEventRecorder(ctx).Event(after, corev1.EventTypeWarning, left.Reason, left.Message())
}

// emitFailedWebhook emits a Kubernetes Event if a reconcile failed since the API server cannot call a webhook. It is tried again, so
// nothing else would say why the application does not go on.
func emitFailedWebhook(ctx context.Context, app dialect.Application, err error) {
	if err == nil {
		return
	}
	if webhook := apierror.FailedWebhook(err); webhook != "" {
		explanation := diagnosis.WebhookFailed(webhook)
		controller.GetEventRecorder(ctx).Event(app, corev1.EventTypeWarning, explanation.Reason, explanation.Message())
	}
}
