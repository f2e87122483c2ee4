package invariants_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

// kubeflowRun feeds a history with the revisions of an application of the Kubeflow kind.
type kubeflowRun struct {
	*testing.T
	history *invariants.History
	app     v1beta2.SparkApplication
}

// newKubeflowRun makes an application pass states. The word edited edits its spec.
func newKubeflowRun(t *testing.T, states string) *kubeflowRun {
	l := &kubeflowRun{T: t, history: invariants.NewHistory(deletionGrace)}
	l.app.Namespace, l.app.Name, l.app.UID = "team-a", "pi", "uid-of-pi"
	l.app.Status.Firesteel = &v1alpha1.Record{}
	fields.SpecOf(&l.app).Note(l.app.Status.Firesteel)
	for _, state := range strings.Fields(states) {
		if state == "edited" {
			l.app.Spec.Arguments = append(l.app.Spec.Arguments, "more")
			continue
		}
		l.persist(state)
	}
	return l
}

// persist makes the application enter a state and show it.
func (l *kubeflowRun) persist(state string) {
	r := l.app.Status.Firesteel.DeepCopy()
	switch state {
	case "ScheduledToRestart", "Resuming":
		next := v1alpha1.Attempt{ID: r.Attempt.ID + 1}
		if state == "Resuming" {
			next.Executions = 1
		}
		r.Attempt, r.Launch = next, nil
		fields.SpecOf(&l.app).Note(r)
	case "DriverRequested":
		id := fmt.Sprint(r.Attempt.ID)
		r.Launch = &v1alpha1.Launch{ID: id, DriverPod: "pi-driver", DriverUID: "uid", ApplicationID: "spark-" + id}
	}
	r.Sequence++
	t := v1alpha1.Transition{
		Sequence: r.Sequence, Time: metav1.NewMicroTime(start.Add(time.Duration(r.Sequence) * time.Second)), Attempt: r.Attempt.ID, State: state,
	}
	switch state {
	case "Succeeded":
		t.End = &v1alpha1.AttemptEnd{Outcome: state}
	case "TerminatedWithoutReleaseResources":
		t.Outcome = v1alpha1.OutcomeSucceeded
	}
	r.Transitions = append(r.Transitions, t)
	status.Project(&l.app.Status, r, status.Executors{})
	l.app.ResourceVersion = fmt.Sprint(100 + r.Sequence)
	l.history.SawApplication(watch.Modified, l.app.DeepCopy())
}

const completes = "Submitted DriverRequested DriverStarted RunningHealthy Succeeded TerminatedWithoutReleaseResources "

func TestKubeflowApplicationEndsAgainAfterAnEdit(t *testing.T) {
	for name, states := range map[string]string{
		"as it is":          completes,
		"edited at its end": completes + "edited Invalidating ScheduledToRestart" + strings.TrimPrefix(completes, "Submitted"),
		"edited when its resources were released": completes + "ResourceReleased edited Invalidating ScheduledToRestart" + strings.TrimPrefix(completes, "Submitted"),
		"edited while it ran":                     "Submitted DriverRequested edited Invalidating ScheduledToRestart" + strings.TrimPrefix(completes, "Submitted"),
		"suspended":                               "Submitted DriverRequested Suspending Suspended Resuming" + strings.TrimPrefix(completes, "Submitted"),
		"unknown for a while":                     "Submitted DriverRequested DriverStarted Unknown RunningHealthy Succeeded TerminatedWithoutReleaseResources",
	} {
		t.Run(name, func(t *testing.T) {
			l := newKubeflowRun(t, states)
			if violations := l.history.Violations(); len(violations) > 0 {
				t.Errorf("violations are %v", violations)
			}
			if c := l.history.Applications()[0]; !c.Ended() || c.Outcome() != v1alpha1.OutcomeSucceeded || c.Object.Group != "sparkoperator.k8s.io" {
				t.Errorf("%s ended: %t, %s", c.Object.Group, c.Ended(), c.Outcome())
			}
		})
	}
}

func TestKubeflowApplicationDoesNotRunAgainWithoutReason(t *testing.T) {
	for name, tt := range map[string]struct{ states, want string }{
		"a second run that was not asked for": {completes + "ScheduledToRestart", "ScheduledToRestart of attempt 1 follows TerminatedWithoutRelease"},
		"an edit that was none":               {completes + "Invalidating", "its spec is that of its attempt"},
		"a resumption of what runs":           {"Submitted DriverRequested Resuming", "Resuming of attempt 1 follows DriverRequested"},
		"a suspension after the end":          {completes + "Suspending", "Suspending of attempt 0 follows TerminatedWithoutRelease"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newKubeflowRun(t, tt.states)
			if got := text(l.history.Violations()); !strings.Contains(got, tt.want) {
				t.Errorf("violations are %q, want %q", got, tt.want)
			}
		})
	}
}
