package invariants_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// life is what the witnesses saw and heard of one application, told step by step.
type life struct {
	*testing.T
	court    *invariants.Court
	app      sparkv1.SparkApplication
	revision int
}

// newLife has an application go through states, each persisted and then taken by the sink.
func newLife(t *testing.T, states ...string) *life {
	l := &life{T: t, court: invariants.New(), revision: 100}
	l.app.Namespace, l.app.Name, l.app.UID = "team-a", "pi", "uid-of-pi"
	l.app.Status.Firesteel = &v1alpha1.Record{}
	for _, state := range states {
		l.persist(state)
		l.hear(l.event(l.record().Sequence))
	}
	return l
}

var whole = strings.Fields("Submitted DriverRequested DriverStarted DriverReady RunningHealthy Succeeded ResourceReleased")

func (l *life) record() *v1alpha1.Record { return l.app.Status.Firesteel }

// persist has the application enter a state.
func (l *life) persist(state string) {
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

func (l *life) see(what watch.EventType) {
	l.revision++
	l.app.ResourceVersion = fmt.Sprint(l.revision)
	l.court.SawApplication(what, l.app.DeepCopy())
}

// event is the event of a transition.
func (l *life) event(sequence int64) eventlog.Entry {
	l.Helper()
	object := events.Object{
		Group: "spark.apache.org", Resource: "sparkapplications", Kind: "SparkApplication",
		Namespace: l.app.Namespace, Name: l.app.Name, UID: l.app.UID,
	}
	event, err := events.NewTransitionEvent(object, l.record().Transitions[sequence-1])
	if err != nil {
		l.Fatal(err)
	}
	request, err := cloudevents.NewHTTPRequestFromEvent(context.Background(), "http://sink", event)
	if err != nil {
		l.Fatal(err)
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		l.Fatal(err)
	}
	return eventlog.Entry{Attributes: eventlog.Attributes(request.Header), Body: string(body), Taken: true}
}

func (l *life) hear(entry eventlog.Entry) { l.court.Heard(entry) }

// driver shows a driver Pod.
func (l *life) driver(what watch.EventType, uid string, phase corev1.PodPhase) {
	l.revision++
	l.court.SawPod(what, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: uid, UID: types.UID(uid), ResourceVersion: fmt.Sprint(l.revision),
			OwnerReferences: []metav1.OwnerReference{{Kind: "SparkApplication", UID: l.app.UID}},
		},
		Status: corev1.PodStatus{Phase: phase},
	})
}

func TestWhatIsRightIsNoCharge(t *testing.T) {
	for name, live := range map[string]func(*life){
		"a whole life": func(*life) {},
		"events that come again, late, and though the sink said that it did not take them": func(l *life) {
			l.hear(l.event(3))
			l.hear(l.event(1))
			refused := l.event(7)
			refused.Taken = false
			l.hear(refused)
		},
		"a driver after another": func(l *life) {
			l.driver(watch.Added, "first", corev1.PodRunning)
			l.driver(watch.Modified, "first", corev1.PodFailed)
			l.driver(watch.Added, "second", corev1.PodPending)
			l.driver(watch.Deleted, "first", corev1.PodFailed)
			l.driver(watch.Deleted, "second", corev1.PodRunning)
			l.driver(watch.Added, "third", corev1.PodPending)
		},
		"a deletion that the run asked for": func(l *life) {
			l.court.Permit(l.app.UID)
			l.app.DeletionTimestamp = &metav1.Time{Time: start}
			l.see(watch.Modified)
			l.see(watch.Deleted)
		},
		"a deletion when the time to live is over": func(l *life) {
			l.expiresAfter(time.Second)
			l.app.DeletionTimestamp = &metav1.Time{Time: start.Add(7 * time.Second)}
			l.see(watch.Modified)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t, whole...)
			live(l)
			if wrong := append(l.court.Charges(), l.court.Undelivered()...); len(wrong) > 0 {
				t.Errorf("charged with %v", wrong)
			}
			for _, c := range l.court.Cases() {
				if !c.Ended() || c.Outcome() != v1alpha1.OutcomeSucceeded || fmt.Sprint(c.Ends()) != "[Succeeded]" {
					t.Errorf("ended: %t, %s, %v", c.Ended(), c.Outcome(), c.Ends())
				}
			}
		})
	}
}

// expiresAfter gives the application a time to live, which begins at its end.
func (l *life) expiresAfter(ttl time.Duration) {
	millis := ttl.Milliseconds()
	l.app.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{TTLAfterStopMillis: &millis}
}

func TestWhatIsWrongIsACharge(t *testing.T) {
	for name, test := range map[string]struct {
		wrong  func(*life)
		charge string
	}{
		"a record that is gone":   {func(l *life) { l.app.Status.Firesteel = nil; l.see(watch.Modified) }, "the record was lost"},
		"a record that goes back": {func(l *life) { l.record().Sequence--; l.see(watch.Modified) }, "the record went back from 0/3 to 0/2"},
		"a cursor that goes back": {func(l *life) {
			l.record().Acknowledged = 2
			l.see(watch.Modified)
			l.record().Acknowledged = 1
			l.see(watch.Modified)
		}, "the record went back from 2/3 to 1/3"},
		"a transition that is rewritten": {func(l *life) {
			l.record().Transitions[0].Message = "no"
			l.see(watch.Modified)
		}, "transition 1 was rewritten"},
		"a transition that was never seen": {func(l *life) {
			l.record().Sequence++
			l.persist("DriverReady")
		}, "transition 4 was never persisted, but 5 was"},
		"a state that comes back":       {func(l *life) { l.persist("DriverRequested") }, "DriverRequested of attempt 0 follows DriverStarted"},
		"a restart of what did not end": {func(l *life) { l.persist("ScheduledToRestart") }, "ScheduledToRestart of attempt 1 follows DriverStarted"},
		"a second end": {func(l *life) {
			l.persist("Succeeded")
			l.persist("ResourceReleased")
			l.persist("ResourceReleased")
		}, "it came to its end twice"},
		"an event in two ways": {func(l *life) {
			again := l.event(2)
			again.Body += " "
			l.hear(again)
		}, "came in two ways"},
		"an event that is not what its transition says": {func(l *life) {
			l.persist("DriverReady")
			other := l.event(4)
			other.Attributes["sparkstate"] = "Failed"
			l.hear(other)
		}, "the event of transition 4 is"},
		"an event before the one before it": {func(l *life) {
			l.persist("DriverReady")
			l.persist("RunningHealthy")
			l.hear(l.event(5))
			l.hear(l.event(4))
		}, "the sink took transition 5 after 3"},
		"an event of nobody": {func(l *life) {
			l.hear(eventlog.Entry{Attributes: map[string]string{"source": "/me"}})
		}, "an event of nobody's"},
		"two drivers": {func(l *life) {
			l.driver(watch.Added, "first", corev1.PodRunning)
			l.driver(watch.Added, "second", corev1.PodPending)
		}, "more than one driver lives: [first second]"},
		"a driver that outlives its object": {func(l *life) {
			l.court.Permit(l.app.UID)
			l.driver(watch.Added, "first", corev1.PodRunning)
			l.see(watch.Deleted)
			l.driver(watch.Deleted, "first", corev1.PodRunning)
		}, "the object went at revision 105, and its driver first lived until 106"},
		"a driver that lives on when its resources are released": {func(l *life) {
			l.driver(watch.Added, "first", corev1.PodRunning)
			l.persist("Failed")
			l.persist("ResourceReleased")
			l.driver(watch.Deleted, "first", corev1.PodRunning)
		}, "resources were released at revision 106, and driver first lived until 107"},
		"a deletion that nobody asked for": {func(l *life) {
			l.app.DeletionTimestamp = &metav1.Time{Time: start}
			l.see(watch.Modified)
		}, "that was not due"},
		"a deletion before the time to live is over": {func(l *life) {
			l.expiresAfter(time.Minute)
			l.persist("Succeeded")
			l.persist("ResourceReleased")
			l.app.DeletionTimestamp = &metav1.Time{Time: start.Add(30 * time.Second)}
			l.see(watch.Modified)
		}, "that was not due"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t, "Submitted", "DriverRequested", "DriverStarted")
			test.wrong(l)
			if charges := strings.Join(l.court.Charges(), "\n"); !strings.Contains(charges, test.charge) {
				t.Errorf("charged with %q, want %q", charges, test.charge)
			}
		})
	}
}

func TestEventsThatAreMissing(t *testing.T) {
	l := newLife(t, "Submitted")
	l.persist("DriverRequested")
	if missing := l.court.Undelivered(); len(missing) != 1 || !strings.Contains(missing[0], "transition 2, DriverRequested") {
		t.Errorf("missing are %v", missing)
	}
	refused := l.event(2)
	refused.Taken = false
	l.hear(refused)
	if missing := l.court.Undelivered(); len(missing) != 1 {
		t.Errorf("an event that the sink refused counts as taken")
	}
}

func TestEventsOfWhatNeverWas(t *testing.T) {
	l := newLife(t, whole[:5]...)
	ahead := newLife(t, whole...)
	l.hear(ahead.event(6))
	if imagined := l.court.Cases()[0].Imagined(); len(imagined) != 1 || !strings.Contains(imagined[0], "transition 6, which was never persisted") {
		t.Errorf("imagined are %v", imagined)
	}
	l.persist("Succeeded") // it was only seen later than it was heard of
	if wrong := append(l.court.Cases()[0].Imagined(), l.court.Charges()...); len(wrong) > 0 {
		t.Errorf("charged with %v", wrong)
	}
}
