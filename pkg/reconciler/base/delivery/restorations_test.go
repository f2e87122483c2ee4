package delivery_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	. "github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// shown is an application of a resourceVersion, with a condition that has a message and changed at a time.
func shown(version, message string, at time.Time) *sparkv1.SparkApplication {
	app := &sparkv1.SparkApplication{ObjectMeta: metav1.ObjectMeta{UID: "1", ResourceVersion: version}}
	app.Status.Conditions = []metav1.Condition{{Type: "DriverReady", Message: message, LastTransitionTime: metav1.NewTime(at)}}
	return app
}

func TestStatusThatAnotherWriterChangesIsRestoredWithABackOff(t *testing.T) {
	var r Restorations
	now, writes := start, 0
	for now.Before(start.Add(time.Hour)) {
		wait := r.Wait(shown("theirs", "theirs", now), shown("theirs", "ours", now), now)
		if wait == 0 {
			writes++
			r.Wrote(shown("ours", "ours", now))
			wait = time.Millisecond // the other writer is fast
		}
		now = now.Add(wait)
	}
	if writes < 10 || writes > 20 {
		t.Errorf("%d writes in an hour", writes)
	}
	r.Wait(shown("theirs", "theirs", now), shown("theirs", "ours", now), now)
	if r.Wait(shown("theirs", "theirs", now), shown("theirs", "ours", now), now) == 0 {
		t.Error("the same is restored at once")
	}
	r.Forget("1")
	if r.Wait(shown("theirs", "theirs", now), shown("theirs", "ours", now), now) > 0 {
		t.Error("what is forgotten waits")
	}
}

func TestStatusWithATransitionIsWrittenAtOnce(t *testing.T) {
	var r Restorations
	restore := func(message string) time.Duration {
		return r.Wait(shown("theirs", "theirs", start), shown("theirs", message, start), start)
	}
	for i, message := range []string{"a", "b", "a"} {
		if wait := restore(message); wait > 0 {
			t.Errorf("write %d waits for %s", i, wait)
		}
	}
	if restore("a") == 0 {
		t.Fatal("the same is restored at once")
	}
	r.Wrote(shown("ours", "a", start))
	if wait := r.Wait(shown("ours", "a", start), shown("ours", "c", start), start); wait > 0 {
		t.Errorf("after the own write news wait for %s", wait)
	}
	later := start.Add(time.Hour)
	if wait := r.Wait(shown("theirs", "theirs", later), shown("theirs", "a", later), later); wait > 0 {
		t.Errorf("after a long time a change is restored in %s", wait)
	}
}
