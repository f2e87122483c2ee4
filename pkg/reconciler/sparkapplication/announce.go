package sparkapplication

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"knative.dev/pkg/controller"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// announce makes Kubernetes Events of the transitions that people look for.
func announce(ctx context.Context, before, after *sparkv1.SparkApplication) {
	var told int64
	if before.Status.Firesteel != nil {
		told = before.Status.Firesteel.Sequence
	}
	recorder := controller.GetEventRecorder(ctx)
	for _, transition := range after.Status.Firesteel.Transitions {
		state := lifecycle.State(transition.State)
		switch {
		case transition.Sequence <= told:
		case state.Failure():
			recorder.Event(after, corev1.EventTypeWarning, transition.State, transition.Message)
		case state == lifecycle.DriverRequested:
			recorder.Eventf(after, corev1.EventTypeNormal, transition.State, "Created driver Pod %s.", transition.DriverPod)
		case state == lifecycle.Succeeded:
			recorder.Eventf(after, corev1.EventTypeNormal, transition.State, "Attempt %d: %s", transition.Attempt, transition.Message)
		case state == lifecycle.ScheduledToRestart:
			recorder.Eventf(after, corev1.EventTypeNormal, transition.State, "Attempt %d follows.", transition.Attempt)
		}
	}
}

// announceObstacle makes a Kubernetes Event of what keeps a driver from starting, when it becomes known. That no node
// has room is left to the scheduler's own.
func announceObstacle(ctx context.Context, before, after *sparkv1.SparkApplication, obstacle *lifecycle.Cause) {
	if obstacle == nil || obstacle.Class == lifecycle.ClassScheduling {
		return
	}
	shown := func(app *sparkv1.SparkApplication) bool {
		condition := meta.FindStatusCondition(app.Status.Conditions, apache.ConditionSucceeded)
		return condition != nil && condition.Reason == obstacle.Reason
	}
	if shown(after) && !shown(before) {
		controller.GetEventRecorder(ctx).Event(after, corev1.EventTypeWarning, obstacle.Reason, obstacle.Message)
	}
}
