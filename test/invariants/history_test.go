package invariants_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// run feeds a history with the revisions and events of one application, step by step.
type run struct {
	*testing.T
	history  *invariants.History
	app      sparkv1.SparkApplication
	revision int
}

const deletionGrace = 5 * time.Second

// newRun makes an application pass states. Each is persisted and then taken by the sink.
func newRun(t *testing.T, states ...string) *run {
	l := &run{T: t, history: invariants.NewHistory(deletionGrace), revision: 100}
	l.app.Namespace, l.app.Name, l.app.UID = "team-a", "pi", "uid-of-pi"
	l.app.Status.Firesteel = &v1alpha1.Record{}
	for _, state := range states {
		l.persist(state)
		l.receive(l.event(l.record().Sequence))
	}
	return l
}

var whole = strings.Fields("Submitted DriverRequested DriverStarted DriverReady RunningHealthy Succeeded ResourceReleased")

// text is the text of violations.
func text(violations []error) string { return fmt.Sprint(errors.Join(violations...)) }

func (l *run) record() *v1alpha1.Record { return l.app.Status.Firesteel }

// persist has the application enter a state.
func (l *run) persist(state string) {
	r := l.record()
	if state == "ScheduledToRestart" {
		r.Attempt.ID++
	}
	r.Sequence++
	t := v1alpha1.Transition{
		Sequence: r.Sequence, Time: metav1.NewMicroTime(start.Add(time.Duration(r.Sequence) * time.Second)), Attempt: r.Attempt.ID, State: state,
	}
	switch state {
	case "Succeeded", "Failed":
		t.End = &v1alpha1.AttemptEnd{Outcome: state}
	case "ResourceReleased":
		t.Outcome = v1alpha1.OutcomeSucceeded
	}
	r.Transitions = append(r.Transitions, t)
	l.see(watch.Modified)
}

func (l *run) see(what watch.EventType) {
	l.revision++
	l.app.ResourceVersion = fmt.Sprint(l.revision)
	l.history.SawApplication(what, l.app.DeepCopy())
}

// event is the event of a transition.
func (l *run) event(sequence int64) eventlog.Entry {
	l.Helper()
	object := events.Object{
		Group: "spark.apache.org", Resource: "sparkapplications", Kind: "SparkApplication",
		Namespace: l.app.Namespace, Name: l.app.Name, UID: l.app.UID,
	}
	event, err := events.NewTransitionEvent(object, l.record().Transitions[sequence-1])
	if err != nil {
		l.Fatal(err)
	}
	entry, err := eventlog.New(event)
	if err != nil {
		l.Fatal(err)
	}
	entry.Taken = true
	return entry
}

func (l *run) receive(entry eventlog.Entry) { l.history.SawEvent(entry) }

// driver shows a driver Pod.
func (l *run) driver(what watch.EventType, uid string, phase corev1.PodPhase) {
	l.revision++
	l.history.SawPod(what, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: uid, UID: types.UID(uid), ResourceVersion: fmt.Sprint(l.revision),
			OwnerReferences: []metav1.OwnerReference{{Kind: "SparkApplication", UID: l.app.UID}},
		},
		Status: corev1.PodStatus{Phase: phase},
	})
}

// leave begins the history anew. It shows a driver Pod that was stopped at an instant and is still terminating when the application,
// deleted one second after the start, is gone. The record says that resources were released after seven seconds.
func (l *run) leave(stopped time.Time) {
	l.history = invariants.NewHistory(deletionGrace)
	for sequence := range l.record().Sequence {
		l.receive(l.event(sequence + 1))
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "first", UID: "first", OwnerReferences: []metav1.OwnerReference{{Kind: "SparkApplication", UID: l.app.UID}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	see := func(what watch.EventType) {
		l.revision++
		pod.ResourceVersion = fmt.Sprint(l.revision)
		l.history.SawPod(what, pod)
	}
	see(watch.Added)
	const grace = 30
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &metav1.Time{Time: stopped.Add(grace * time.Second)}, ptr.To[int64](grace)
	see(watch.Modified)
	l.history.PermitDeletion(l.app.UID)
	l.app.DeletionTimestamp = &metav1.Time{Time: start.Add(time.Second)}
	l.see(watch.Modified)
	l.see(watch.Deleted)
	see(watch.Deleted)
}

func TestHistoryWithoutViolations(t *testing.T) {
	for name, live := range map[string]func(*run){
		"a whole life": func(*run) {},
		"events that come again, late, and though the sink said that it did not take them": func(l *run) {
			l.receive(l.event(3))
			l.receive(l.event(1))
			refused := l.event(7)
			refused.Taken = false
			l.receive(refused)
		},
		"a driver after another": func(l *run) {
			l.driver(watch.Added, "first", corev1.PodRunning)
			l.driver(watch.Modified, "first", corev1.PodFailed)
			l.driver(watch.Added, "second", corev1.PodPending)
			l.driver(watch.Deleted, "first", corev1.PodFailed)
			l.driver(watch.Deleted, "second", corev1.PodRunning)
			l.driver(watch.Added, "third", corev1.PodPending)
		},
		"a deletion that the run asked for": func(l *run) {
			l.history.PermitDeletion(l.app.UID)
			l.app.DeletionTimestamp = &metav1.Time{Time: start}
			l.see(watch.Modified)
			l.see(watch.Deleted)
		},
		"a driver that stays terminating for as long as the deletion waits": func(l *run) { l.leave(start.Add(2 * time.Second)) },
		"a deletion when the time to live is over": func(l *run) {
			l.expiresAfter(time.Second)
			l.app.DeletionTimestamp = &metav1.Time{Time: start.Add(7 * time.Second)}
			l.see(watch.Modified)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newRun(t, whole...)
			live(l)
			if wrong := append(l.history.Violations(), l.history.Undelivered()...); len(wrong) > 0 {
				t.Errorf("violations are %v", wrong)
			}
			for _, a := range l.history.Applications() {
				if !a.Ended() || a.Outcome() != v1alpha1.OutcomeSucceeded || fmt.Sprint(a.Ends()) != "[Succeeded]" {
					t.Errorf("ended: %t, %s, %v", a.Ended(), a.Outcome(), a.Ends())
				}
			}
		})
	}
}

// expiresAfter gives the application a time to live, which begins at its end.
func (l *run) expiresAfter(ttl time.Duration) {
	millis := ttl.Milliseconds()
	l.app.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{TTLAfterStopMillis: &millis}
}

func TestHistoryReportsViolations(t *testing.T) {
	for name, test := range map[string]struct {
		wrong func(*run)
		want  string
	}{
		"a record that is gone":   {func(l *run) { l.app.Status.Firesteel = nil; l.see(watch.Modified) }, "the record was lost"},
		"a record that goes back": {func(l *run) { l.record().Sequence--; l.see(watch.Modified) }, "the record went back from 0/3 to 0/2"},
		"a cursor that goes back": {func(l *run) {
			l.record().Acknowledged = 2
			l.see(watch.Modified)
			l.record().Acknowledged = 1
			l.see(watch.Modified)
		}, "the record went back from 2/3 to 1/3"},
		"a transition that is rewritten": {func(l *run) {
			l.record().Transitions[0].Message = "no"
			l.see(watch.Modified)
		}, "transition 1 was rewritten"},
		"a transition that was never seen": {func(l *run) {
			l.record().Sequence++
			l.persist("DriverReady")
		}, "transition 4 was never persisted, but 5 was"},
		"a state that comes back":       {func(l *run) { l.persist("DriverRequested") }, "DriverRequested of attempt 0 follows DriverStarted"},
		"a restart of what did not end": {func(l *run) { l.persist("ScheduledToRestart") }, "ScheduledToRestart of attempt 1 follows DriverStarted"},
		"a second end": {func(l *run) {
			l.persist("Succeeded")
			l.persist("ResourceReleased")
			l.persist("ResourceReleased")
		}, "it came to its end twice"},
		"an event in two ways": {func(l *run) {
			again := l.event(2)
			again.Body += " "
			l.receive(again)
		}, "was delivered with different bytes"},
		"an event that is not what its transition says": {func(l *run) {
			l.persist("DriverReady")
			other := l.event(4)
			other.Attributes["sparkstate"] = "Failed"
			l.receive(other)
		}, "the event of transition 4 is"},
		"an event before the one before it": {func(l *run) {
			l.persist("DriverReady")
			l.persist("RunningHealthy")
			l.receive(l.event(5))
			l.receive(l.event(4))
		}, "the sink took transition 5 after 3"},
		"an event of no object": {func(l *run) {
			l.receive(eventlog.Entry{Attributes: map[string]string{"source": "/me"}})
		}, "an event of no object"},
		"two drivers": {func(l *run) {
			l.driver(watch.Added, "first", corev1.PodRunning)
			l.driver(watch.Added, "second", corev1.PodPending)
		}, "more than one driver lives: [first second]"},
		"a driver that outlives its object": {func(l *run) {
			l.history.PermitDeletion(l.app.UID)
			l.driver(watch.Added, "first", corev1.PodRunning)
			l.see(watch.Deleted)
			l.driver(watch.Deleted, "first", corev1.PodRunning)
		}, "the object was gone at revision 105, and its driver first lived until 106"},
		"a driver that its object does not wait for": {func(l *run) {
			l.leave(start.Add(3 * time.Second))
		}, "the object was gone at revision 107, and its driver first lived until 108"},
		"a driver that lives on when its resources are released": {func(l *run) {
			l.record().Launch = &v1alpha1.Launch{DriverUID: "first"}
			l.driver(watch.Added, "first", corev1.PodRunning)
			l.persist("Failed")
			l.persist("ResourceReleased")
			l.driver(watch.Deleted, "first", corev1.PodRunning)
		}, "resources were released at revision 106, and driver first lived until 107"},
		"a deletion that was not asked for": {func(l *run) {
			l.app.DeletionTimestamp = &metav1.Time{Time: start}
			l.see(watch.Modified)
		}, "that was not due"},
		"a deletion before the time to live is over": {func(l *run) {
			l.expiresAfter(time.Minute)
			l.persist("Succeeded")
			l.persist("ResourceReleased")
			l.app.DeletionTimestamp = &metav1.Time{Time: start.Add(30 * time.Second)}
			l.see(watch.Modified)
		}, "that was not due"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newRun(t, "Submitted", "DriverRequested", "DriverStarted")
			test.wrong(l)
			if got := text(l.history.Violations()); !strings.Contains(got, test.want) {
				t.Errorf("violations are %q, want %q", got, test.want)
			}
		})
	}
}

func TestHistoryReportsUndeliveredTransitions(t *testing.T) {
	l := newRun(t, "Submitted")
	l.persist("DriverRequested")
	if missing := l.history.Undelivered(); len(missing) != 1 || !strings.Contains(missing[0].Error(), "transition 2, DriverRequested") {
		t.Errorf("missing are %v", missing)
	}
	refused := l.event(2)
	refused.Taken = false
	l.receive(refused)
	if missing := l.history.Undelivered(); len(missing) != 1 {
		t.Errorf("an event that the sink refused counts as taken")
	}
}

// The API server does not see a finalizer that is added while it deletes an object. What is missing then is no violation.
func TestHistoryForgivesWhatAnApplicationLacksThatWasRemovedWithItsFinalizer(t *testing.T) {
	for name, test := range map[string]struct {
		finalizers []string
		deleted    bool // it has a deletion timestamp
		forgiven   bool
	}{
		"removed at once with the finalizer":  {[]string{apache.API.Finalizer}, false, true},
		"removed at once without a finalizer": {nil, false, false},
		"removed with another finalizer":      {[]string{"example.com/another"}, false, false},
		"removed as Firesteel lets it go":     {[]string{apache.API.Finalizer}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := newRun(t, "Submitted")
			l.history.PermitDeletion(l.app.UID)
			l.persist("DriverRequested")
			l.driver(watch.Added, "driver", corev1.PodRunning)
			if l.app.Finalizers = test.finalizers; test.deleted {
				l.app.DeletionTimestamp = &metav1.Time{Time: start}
			}
			l.see(watch.Deleted)
			l.driver(watch.Deleted, "driver", corev1.PodRunning)
			if missing, wrong := l.history.Undelivered(), l.history.Violations(); (len(missing)+len(wrong) == 0) != test.forgiven {
				t.Errorf("missing are %v, violations %v", missing, wrong)
			}
		})
	}
}

// Of two controllers that overlap, one may create the driver of a launch that the other one records as refused.
func TestHistoryForgivesThatADriverInNoRecordIsDeletedLater(t *testing.T) {
	l := newRun(t, "Submitted")
	l.driver(watch.Added, "late", corev1.PodRunning)
	l.persist("Failed")
	l.persist("ResourceReleased")
	l.driver(watch.Deleted, "late", corev1.PodRunning)
	if wrong := l.history.Violations(); len(wrong) > 0 || l.history.HasRecorded("late") {
		t.Errorf("violations %v", wrong)
	}
}

func TestHistoryReportsUnpersistedTransitions(t *testing.T) {
	l := newRun(t, whole[:5]...)
	ahead := newRun(t, whole...)
	l.receive(ahead.event(6))
	if unpersisted := l.history.Unpersisted(); len(unpersisted) != 1 || !strings.Contains(unpersisted[0].Error(), "transition 6, which was never persisted") {
		t.Errorf("unpersisted are %v", unpersisted)
	}
	l.persist("Succeeded") // it was only seen later than it was heard of
	if wrong := append(l.history.Unpersisted(), l.history.Violations()...); len(wrong) > 0 {
		t.Errorf("violations are %v", wrong)
	}
}
