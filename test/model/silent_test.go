package model

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// A handler runs elsewhere, and takes its question without ever acting on it.
func TestSilentHandlerIsNamedAfterTwoMinutes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newEnv(t, 1)
		always := func() bool { return true }
		w.sink.calm = always
		connection := newConnection(w.server, always, w.random(2))
		replica := startReplica(t, connection, w.sink, func(string) bool { return false })
		defer replica.end()

		app := key{apaches, "team-a", "pi"}
		given := anApache(app, w.random(3)).(*sparkv1.SparkApplication)
		given.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{
			RestartConfig: &sparkv1.RestartConfig{RestartPolicy: sparkv1.RestartOnFailure},
		}
		w.expect(w.server.create(app, given))
		w.await(app, "DriverRequested")
		w.expect(w.server.change(key{pods, "team-a", "pi-0-driver"}, metav1.Preconditions{}, func(stored object) error {
			end(stored.(*corev1.Pod), 1)
			return nil
		}))
		failed := w.await(app, "Failed").Status.Firesteel.Transitions[2].Time.Time

		const patience, late = 2 * time.Minute, time.Second
		time.Sleep(time.Until(failed.Add(patience - time.Second)))
		if c := w.answered(app); c != nil {
			t.Errorf("before its time is over the handler is named: %+v", c)
		}
		time.Sleep(time.Second + late)
		if c := w.answered(app); c == nil || c.Status != metav1.ConditionFalse || c.Reason != "NoAnswer" {
			t.Errorf("%s after the question the condition is %+v", patience+late, c)
		}
	})
}

// await waits for an application's state.
func (w *env) await(k key, state string) *sparkv1.SparkApplication {
	w.t.Helper()
	for range 600 {
		stored, err := w.server.get(k)
		if app, ok := stored.(*sparkv1.SparkApplication); err == nil && ok &&
			app.Status.CurrentState != nil && app.Status.CurrentState.CurrentStateSummary == state {
			return app
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.t.Fatalf("%s does not come to be %s", k.name, state)
	return nil
}

func (w *env) answered(k key) *metav1.Condition {
	w.t.Helper()
	stored, err := w.server.get(k)
	if err != nil {
		w.t.Fatal(err)
	}
	return meta.FindStatusCondition(stored.(*sparkv1.SparkApplication).Status.Conditions, dialect.ConditionHandlerAnswered)
}
