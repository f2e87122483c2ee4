package diagnosis_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

var (
	now   = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	words = diagnosis.Wording{ReadLog: "Read the log.", NeverForced: "Delete the Node.", Retained: "is kept."}
)

func TestApplicationHasRemedyDeadlineAndObject(t *testing.T) {
	in := func(state lifecycle.State, end *v1alpha1.AttemptEnd) *v1alpha1.Record {
		return &v1alpha1.Record{
			Attempt: v1alpha1.Attempt{ID: 1},
			Transitions: []v1alpha1.Transition{
				{Sequence: 1, Attempt: 1, State: string(state), DriverPod: "pi-1-driver", End: end},
			},
		}
	}
	waiting := in(lifecycle.ScheduledToRestart, nil)
	due := metav1.NewMicroTime(now.Add(time.Minute))
	waiting.Verdict = &v1alpha1.Verdict{Attempt: 0, Restart: true, NotBefore: &due}
	ofUser := in(lifecycle.DriverStarted, nil)
	ofUser.Launch = &v1alpha1.Launch{ByUser: true}
	forces := lifecycle.Policy{Timeouts: lifecycle.Timeouts{ForceTermination: time.Minute}}
	const notForced = "If its node is lost, delete the Node, or taint it with node.kubernetes.io/out-of-service, or delete the Pod by force: " +
		"Firesteel does not force the deletion of a driver that a user started."
	for name, test := range map[string]struct {
		record *v1alpha1.Record
		facts  diagnosis.Facts
		want   diagnosis.Explanation
		says   string
	}{
		"back-off": {
			waiting, diagnosis.Facts{Now: now},
			diagnosis.Explanation{
				Status: metav1.ConditionUnknown, Reason: "ScheduledToRestart", Summary: "Attempt 1 starts at 2026-01-01T12:01:00Z.", Until: due.Time,
			},
			"Attempt 1 starts at 2026-01-01T12:01:00Z.",
		},
		"a driver that does not go": {
			in(lifecycle.ScheduledToRestart, nil),
			diagnosis.Facts{Now: now, Held: lifecycle.HeldDriverTerminating, HeldBy: "driver Pod pi-0-driver on node n"},
			diagnosis.Explanation{
				Status: metav1.ConditionUnknown, Reason: "ScheduledToRestart",
				Summary: "Attempt 1 waits for its start. The driver Pod's deletion was accepted and it is not gone yet: driver Pod pi-0-driver on node n.",
				Remedy:  "Delete the Node.", See: "driver Pod pi-0-driver on node n",
			},
			"Attempt 1 waits for its start. The driver Pod's deletion was accepted and it is not gone yet: driver Pod pi-0-driver on node n. Delete the Node.",
		},
		"a driver of the user that does not go": {
			ofUser,
			diagnosis.Facts{Now: now, Held: lifecycle.HeldDriverTerminating, HeldBy: "driver Pod mine on node n", Policy: forces},
			diagnosis.Explanation{
				Status: metav1.ConditionUnknown, Reason: "DriverStarted",
				Summary: "The driver Pod's deletion was accepted and it is not gone yet: driver Pod mine on node n.",
				Remedy:  notForced, See: "driver Pod mine on node n",
			},
			"The driver Pod's deletion was accepted and it is not gone yet: driver Pod mine on node n. " + notForced,
		},
		"a failure of which only the log knows": {
			in(lifecycle.Failed, &v1alpha1.AttemptEnd{Outcome: "failed", Reason: "Error", Message: "It exited with 1 (Error)."}),
			diagnosis.Facts{Now: now},
			diagnosis.Explanation{
				Status: metav1.ConditionFalse, Reason: "Failed", Summary: "It exited with 1 (Error).", Remedy: "Read the log.", See: "pi-1-driver",
			},
			"It exited with 1 (Error). Read the log.",
		},
		"what keeps the driver, by a reason that no condition may have": {
			in(lifecycle.DriverRequested, nil), diagnosis.Facts{Now: now, Obstacle: &lifecycle.Cause{Reason: "no reason", Message: "No node fits."}},
			diagnosis.Explanation{Status: metav1.ConditionUnknown, Reason: "DriverRequested", Summary: "No node fits."},
			"No node fits.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := diagnosis.Application(test.record, test.facts, words)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("explanation (-want +got):\n%s", diff)
			}
			if got.Message() != test.says {
				t.Errorf("it says %q, want %q", got.Message(), test.says)
			}
		})
	}
}

func TestSilentHandlerIsNamedWithTheRemedy(t *testing.T) {
	want := `The handler "ttl" was asked and has not acted; make sure that it runs, or change where it runs in the ConfigMap config-handlers.`
	if got := diagnosis.SilentHandler("ttl"); got.Message() != want || got.See != "ttl" {
		t.Errorf("it is %+v, want %s", got, want)
	}
}

func TestRecordsThatAreNotUnderstoodAreExplained(t *testing.T) {
	const rest = " Nothing is done for the object, and what runs is left alone. " +
		"Upgrade Firesteel to the version that wrote it, or delete the object."
	unknown := &v1alpha1.Record{Format: v1alpha1.Format, Transitions: []v1alpha1.Transition{{State: "Paused"}}}
	for want, got := range map[string]diagnosis.Explanation{
		"status.firesteel.format is no format that this version of Firesteel can read." + rest:           diagnosis.NewerFormat(v1alpha1.FormatUnreadable),
		`status.firesteel has the state "Paused", which this version of Firesteel does not know.` + rest: diagnosis.NotUnderstood(unknown),
	} {
		if got.Message() != want {
			t.Errorf("it says %q, want %q", got.Message(), want)
		}
	}
}
