package model

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

// A replica is replaced while the API server takes nine seconds to create a driver for it. The next leader launches the same
// attempt, whose driver fails at once. The late driver must not meet that of the next attempt.
func TestLateCreateOfAFormerLeaderMeetsNoOtherDriver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newEnv(t, 1)
		always := func() bool { return true }
		w.sink.calm = always
		var asked, arrived atomic.Bool
		slow := newConnection(w.server, always, w.random(2))
		slow.slow = func(request *http.Request) time.Duration {
			if k, _ := parse(request.URL.Path); request.Method != http.MethodPost || k.resource != pods {
				return 0
			}
			const taken = 9 * time.Second
			asked.Store(true)
			time.AfterFunc(taken, func() { arrived.Store(true) })
			return taken
		}
		former := startReplica(t, slow, w.sink, nil)
		app := key{apaches, "team-a", "pi"}
		given := anApache(app, w.random(3)).(*sparkv1.SparkApplication)
		given.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{RestartConfig: &sparkv1.RestartConfig{
			RestartPolicy: sparkv1.RestartOnFailure, MaxRestartAttempts: ptr.To[int64](1), RestartBackoffMillis: new(int64),
		}}
		w.expect(w.server.create(app, given))
		w.until("the former leader asks for the driver", asked.Load)
		var ended = make(chan struct{})
		go func() {
			defer close(ended)
			former.terminate()
		}()
		next := startReplica(t, newConnection(w.server, always, w.random(4)), w.sink, nil)
		defer next.end()
		w.await(app, "DriverRequested")
		if arrived.Load() {
			t.Fatal("the driver of the former leader was created before that of the next one")
		}
		first := key{pods, "team-a", "pi-0-driver"}
		w.expect(w.server.change(first, metav1.Preconditions{}, func(stored object) error {
			end(stored.(*corev1.Pod), 1)
			return nil
		}))
		second := key{pods, "team-a", "pi-1-driver"}
		w.until("the second attempt is launched", func() bool { _, err := w.server.get(second); return err == nil })
		<-ended
		time.Sleep(time.Minute)
		if seen := w.server.history.Applications()[0].Drivers(); seen["pi-0-driver"] != 2 || seen["pi-1-driver"] != 1 {
			t.Errorf("the drivers were %v, want two of the first attempt", seen)
		}
		for _, violation := range w.server.history.Violations() {
			t.Error(violation)
		}
		if t.Failed() {
			w.logChanges()
		}
	})
}

// until waits for a condition.
func (w *env) until(what string, holds func() bool) {
	w.t.Helper()
	for range 600 {
		if holds() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.t.Fatalf("it does not happen that %s", what)
}
