package invariants_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// backup is an application as it was at a revision.
type backup struct {
	revision string
	app      *sparkv1.SparkApplication
}

func (l *life) backup() backup { return backup{fmt.Sprint(l.revision), l.app.DeepCopy()} }

func (l *life) restore(b backup) {
	l.app = *b.app.DeepCopy()
	l.court.Restored(b.revision, []dialect.Application{b.app})
}

func TestWhatARestoreUndoesMayComeAgainInAnotherWay(t *testing.T) {
	for name, after := range map[string]func(*life){
		"another transition with the same number": func(l *life) {
			l.persist("Failed")
			l.hear(l.event(4))
		},
		"a driver that is not in the backup, and another": func(l *life) {
			l.driver(watch.Added, "third", corev1.PodRunning)
			l.driver(watch.Deleted, "third", corev1.PodRunning)
		},
		"the driver of the backup that ends again": func(l *life) { l.driver(watch.Deleted, "first", corev1.PodRunning) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t, "Submitted", "DriverRequested", "DriverStarted")
			l.driver(watch.Added, "first", corev1.PodRunning)
			b := l.backup()
			l.persist("DriverReady")
			undone := l.event(4)
			l.hear(undone)
			l.driver(watch.Deleted, "first", corev1.PodRunning)
			l.driver(watch.Added, "second", corev1.PodRunning)
			l.restore(b)
			if strings.Contains(name, "not in the backup") {
				l.driver(watch.Deleted, "first", corev1.PodRunning)
			}
			after(l)
			l.hear(undone)
			if wrong := append(l.court.Charges(), l.court.Undelivered()...); len(wrong) > 0 {
				t.Errorf("charged with %v", wrong)
			}
		})
	}
}

func TestWhatIsWrongAfterARestoreIsACharge(t *testing.T) {
	for name, test := range map[string]struct {
		wrong  func(*life)
		charge string
	}{
		"a transition whose event was only taken before": {func(l *life) { l.persist("Failed") }, "the sink did not take transition 4, Failed"},
		"a driver beside that of the backup": {func(l *life) {
			l.driver(watch.Added, "third", corev1.PodRunning)
		}, "more than one driver lives: [first third]"},
		"an event of no transition": {func(l *life) {
			l.persist("Failed")
			other := l.event(4)
			other.Attributes["sparkstate"] = "Succeeded"
			l.hear(other)
		}, "the event of transition 4 is"},
		"a deletion that the run asked for, but before": {func(l *life) {
			l.app.DeletionTimestamp = &metav1.Time{Time: start}
			l.see(watch.Modified)
		}, "that was not due"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t, "Submitted", "DriverRequested", "DriverStarted")
			l.driver(watch.Added, "first", corev1.PodRunning)
			b := l.backup()
			l.court.Permit(l.app.UID)
			l.persist("DriverReady")
			l.hear(l.event(4))
			l.driver(watch.Deleted, "first", corev1.PodRunning)
			l.see(watch.Deleted)
			l.restore(b)
			test.wrong(l)
			wrong := strings.Join(append(l.court.Charges(), l.court.Undelivered()...), "\n")
			if !strings.Contains(wrong, test.charge) {
				t.Errorf("charged with %q, want %q", wrong, test.charge)
			}
		})
	}
}

func TestAnApplicationThatIsNotInTheBackupIsLost(t *testing.T) {
	l := newLife(t, "Submitted")
	l.persist("DriverRequested")
	l.court.Restored("1", nil)
	if wrong := append(l.court.Charges(), l.court.Undelivered()...); len(wrong) > 0 {
		t.Errorf("charged with %v", wrong)
	}
	if c := l.court.Cases()[0]; !c.Lost() || !c.Gone() {
		t.Errorf("lost: %t, gone: %t", c.Lost(), c.Gone())
	}
}

func TestAnOutcomeThatARestoreUndid(t *testing.T) {
	l := newLife(t, whole[:5]...)
	b := l.backup()
	l.persist("Succeeded")
	l.persist("ResourceReleased")
	l.restore(b)
	c := l.court.Cases()[0]
	if c.Outcome() != "" || c.Ended() {
		t.Errorf("it has the outcome %q, ended: %t", c.Outcome(), c.Ended())
	}
	l.persist("Succeeded")
	l.persist("ResourceReleased")
	if charges := l.court.Charges(); len(charges) > 0 || c.Outcome() != v1alpha1.OutcomeSucceeded {
		t.Errorf("outcome %q, charged with %v", c.Outcome(), charges)
	}
}
