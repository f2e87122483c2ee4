package application

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// emitEvents makes Kubernetes Events of what a write brought.
func emitEvents(ctx context.Context, d dialect.Dialect, before, after dialect.Application) {
	recorder := controller.GetEventRecorder(ctx)
	for _, told := range d.Announcements(before, after) {
		recorder.Event(after, told.Type, told.Reason, told.Message)
	}
}

// emitObstacle makes a Kubernetes Event of what keeps a driver from starting, or executors from it, when it becomes
// known. That no node has room is left to the scheduler's own.
func emitObstacle(ctx context.Context, before, after dialect.Application, obstacle *lifecycle.Cause) {
	if obstacle == nil || obstacle.Class == lifecycle.ClassScheduling {
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

// emitDriverLeft makes a Kubernetes Event where the deletion of an application leaves a driver Pod terminating.
func emitDriverLeft(ctx context.Context, before, after dialect.Application) {
	released := func(app dialect.Application) bool {
		return lifecycle.CurrentState(app.GetRecord()) == lifecycle.ResourceReleased
	}
	launch := after.GetRecord().Launch
	if after.GetDeletionTimestamp() == nil || released(before) || !released(after) || launch == nil || launch.Released {
		return
	}
	controller.GetEventRecorder(ctx).Event(after, corev1.EventTypeWarning, "DriverLeftTerminating", outbox.Current(after.GetRecord()).Message)
}
