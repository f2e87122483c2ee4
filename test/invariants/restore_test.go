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
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

// backup is an application as it was at a revision.
type backup struct {
	revision string
	app      *sparkv1.SparkApplication
}

func (l *run) backup() backup { return backup{fmt.Sprint(l.revision), l.app.DeepCopy()} }

func (l *run) restore(b backup) {
	l.app = *b.app.DeepCopy()
	l.history.Restored(b.revision, []dialect.Application{b.app})
}

// before returns the run as it was once it had passed further states, which its history does not see.
func (l *run) before(states ...string) *run {
	b := &run{T: l.T, history: invariants.NewHistory(deletionGrace), app: *l.app.DeepCopy()}
	for _, state := range states {
		b.persist(state)
	}
	return b
}

func TestRestoreAllowsUndoneStepsToDiffer(t *testing.T) {
	for name, after := range map[string]func(l *run, undone eventlog.Entry){
		"another transition with the same number": func(l *run, _ eventlog.Entry) {
			l.persist("Failed")
			l.receive(l.event(4))
		},
		"the same transition, published before it is seen": func(l *run, undone eventlog.Entry) {
			l.receive(undone)
			l.persist("DriverReady") // with the same time, as the first transition of a launch that was fenced
			l.persist("RunningHealthy")
			l.receive(l.event(5))
		},
		"the same transition, whose successor is published before it is seen": func(l *run, undone eventlog.Entry) {
			l.receive(undone)
			l.receive(l.before("DriverReady", "RunningHealthy").event(5))
			l.persist("DriverReady")
			l.persist("RunningHealthy")
		},
		"a driver that is not in the backup, and another": func(l *run, _ eventlog.Entry) {
			l.driver(watch.Added, "third", corev1.PodRunning)
			l.driver(watch.Deleted, "third", corev1.PodRunning)
		},
		"the driver of the backup that ends again": func(l *run, _ eventlog.Entry) { l.driver(watch.Deleted, "first", corev1.PodRunning) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newRun(t, "Submitted", "DriverRequested", "DriverStarted")
			l.driver(watch.Added, "first", corev1.PodRunning)
			b := l.backup()
			l.persist("DriverReady")
			undone := l.event(4)
			l.receive(undone)
			l.driver(watch.Deleted, "first", corev1.PodRunning)
			l.driver(watch.Added, "second", corev1.PodRunning)
			l.restore(b)
			if strings.Contains(name, "not in the backup") {
				l.driver(watch.Deleted, "first", corev1.PodRunning)
			}
			after(l, undone)
			l.receive(undone)
			if wrong := append(l.history.Violations(), l.history.Undelivered()...); len(wrong) > 0 {
				t.Errorf("violations are %v", wrong)
			}
		})
	}
}

func TestRestoreReportsViolations(t *testing.T) {
	for name, test := range map[string]struct {
		wrong func(*run)
		want  string
	}{
		"another transition, of which only the event that was undone is taken": {func(l *run) {
			l.receive(l.before("DriverReady").event(4))
			l.persist("Failed")
			l.persist("ResourceReleased")
			l.receive(l.event(5))
		}, "the sink took transition 5 after 3"},
		"another transition, whose successor is published before it is seen": {func(l *run) {
			l.receive(l.before("DriverReady").event(4))
			l.receive(l.before("Failed", "ResourceReleased").event(5))
			l.persist("Failed")
		}, "the sink took transition 5 after 3"},
		"a transition whose event was only taken before": {func(l *run) { l.persist("Failed") }, "the sink did not take transition 4, Failed"},
		"a driver beside that of the backup": {func(l *run) {
			l.driver(watch.Added, "third", corev1.PodRunning)
		}, "more than one driver lives: [first third]"},
		"an event of no transition": {func(l *run) {
			l.persist("Failed")
			other := l.event(4)
			other.Attributes["sparkstate"] = "Succeeded"
			l.receive(other)
		}, "the event of transition 4 is"},
		"a deletion that the run asked for, but before": {func(l *run) {
			l.app.DeletionTimestamp = &metav1.Time{Time: start}
			l.see(watch.Modified)
		}, "that was not due"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newRun(t, "Submitted", "DriverRequested", "DriverStarted")
			l.driver(watch.Added, "first", corev1.PodRunning)
			b := l.backup()
			l.history.PermitDeletion(l.app.UID)
			l.persist("DriverReady")
			l.receive(l.event(4))
			l.driver(watch.Deleted, "first", corev1.PodRunning)
			l.see(watch.Deleted)
			l.restore(b)
			test.wrong(l)
			wrong := text(append(l.history.Violations(), l.history.Undelivered()...))
			if !strings.Contains(wrong, test.want) {
				t.Errorf("violations are %q, want %q", wrong, test.want)
			}
		})
	}
}

func TestRestoreLosesAnApplicationThatIsNotInTheBackup(t *testing.T) {
	l := newRun(t, "Submitted")
	l.persist("DriverRequested")
	l.history.Restored("1", nil)
	if wrong := append(l.history.Violations(), l.history.Undelivered()...); len(wrong) > 0 {
		t.Errorf("violations are %v", wrong)
	}
	if a := l.history.Applications()[0]; !a.Lost() || !a.Gone() {
		t.Errorf("lost: %t, gone: %t", a.Lost(), a.Gone())
	}
}

func TestRestoreUndoesAnOutcome(t *testing.T) {
	l := newRun(t, whole[:5]...)
	b := l.backup()
	l.persist("Succeeded")
	l.persist("ResourceReleased")
	l.restore(b)
	a := l.history.Applications()[0]
	if a.Outcome() != "" || a.Ended() {
		t.Errorf("it has the outcome %q, ended: %t", a.Outcome(), a.Ended())
	}
	l.persist("Succeeded")
	l.persist("ResourceReleased")
	if violations := l.history.Violations(); len(violations) > 0 || a.Outcome() != v1alpha1.OutcomeSucceeded {
		t.Errorf("outcome %q, violations are %v", a.Outcome(), violations)
	}
}
