package function

import (
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/events"
)

// pi is the application that the tests tell of.
var pi = events.Object{
	Group: "spark.apache.org", Resource: "sparkapplications", Kind: "SparkApplication",
	Namespace: "team-a", Name: "pi", UID: "uid-of-pi",
}

// transition is one of pi's life.
func transition(sequence int64, state string) v1alpha1.Transition {
	at := time.Date(2026, 3, 1, 8, 0, int(sequence), 0, time.UTC)
	return v1alpha1.Transition{Sequence: sequence, Time: metav1.NewMicroTime(at), State: state}
}

// failed is the event of a failure.
func failed(t *testing.T) cloudevents.Event {
	t.Helper()
	end := transition(7, "Failed")
	end.End = &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed, RestartAllowed: true, Class: "application"}
	event, err := events.NewTransitionEvent(pi, end)
	must(t, err)
	return event
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
