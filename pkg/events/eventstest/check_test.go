package eventstest_test

import (
	"strings"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/events/eventstest"
)

// about is an object that a type's events can be about.
func about(kind events.Type) events.Object {
	o := events.Object{
		Group: "spark.apache.org", Resource: kind.Resource(), Kind: "SparkApplication", Namespace: "team-a", Name: "pi", UID: "uid-of-pi",
	}
	switch {
	case kind.Cluster:
		o.Kind = events.KindCluster
	case kind.Name == events.DueType:
		o.Kind = "ScheduledSparkApplication"
	}
	return o
}

var instant = time.Date(2026, 3, 1, 8, 15, 30, 123456789, time.FixedZone("east", 3600))

// fullest has all that events of a type can have.
func fullest(t *testing.T, kind events.Type) cloudevents.Event {
	t.Helper()
	long, code := strings.Repeat("\x01é", 10_000), int32(137)
	transition := v1alpha1.Transition{
		Sequence: 8, Time: metav1.NewMicroTime(instant), Attempt: 2, State: kind.State, Message: long, Outcome: v1alpha1.OutcomeFailed,
	}
	if kind.EndsAttempt {
		transition.End = &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed, RestartAllowed: true, Class: long, Reason: long, Message: long}
	}
	if !kind.Cluster {
		transition.DriverPod, transition.ApplicationID = long, long
		if kind.EndsAttempt {
			transition.End.ExitCode = &code
		}
	}
	event, err := events.NewTransitionEvent(about(kind), transition)
	switch kind.Name {
	case events.DueType:
		event, err = events.NewDueEvent(about(kind), instant)
	case events.ExpiredType:
		event, err = events.NewExpiredEvent(about(kind), instant)
	}
	if err != nil {
		t.Fatal(err)
	}
	return event
}

func TestEventsOfAllTypesKeepTheContract(t *testing.T) {
	for _, kind := range events.Types {
		if err := eventstest.Check(fullest(t, kind)); err != nil {
			t.Errorf("%s: %v", kind.Name, err)
		}
		if kind.Clock() {
			continue
		}
		sparse, err := events.NewTransitionEvent(about(kind), v1alpha1.Transition{
			Sequence: 1, Time: metav1.NewMicroTime(instant), State: kind.State,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := eventstest.Check(sparse); err != nil {
			t.Errorf("%s, with next to nothing: %v", kind.Name, err)
		}
	}
}

func TestAnEventThatBreaksTheContractIsFound(t *testing.T) {
	failed, _ := events.TypeForState("SparkApplication", "Failed")
	extension := func(name string, value any) func(*cloudevents.Event) {
		return func(e *cloudevents.Event) { e.SetExtension(name, value) }
	}
	data := func(old, new string) func(*cloudevents.Event) {
		return func(e *cloudevents.Event) { e.DataEncoded = []byte(strings.Replace(string(e.Data()), old, new, 1)) }
	}
	for name, change := range map[string]func(*cloudevents.Event){
		"no sequence":                   extension(events.ExtensionSequence, nil),
		"a sequence that is a number":   extension(events.ExtensionSequence, 8),
		"another sequence":              extension(events.ExtensionSequence, "0000000009"),
		"a sequence without its zeros":  extension(events.ExtensionSequence, "8"),
		"no state":                      extension(events.ExtensionState, nil),
		"another state":                 extension(events.ExtensionState, "Succeeded"),
		"no word on the restart":        extension(events.ExtensionRestartAllowed, nil),
		"another word on the restart":   extension(events.ExtensionRestartAllowed, "false"),
		"an outcome that is none":       extension(events.ExtensionOutcome, "Lost"),
		"not the last, as the data has": extension(events.ExtensionFinal, nil),
		"another name":                  extension(events.ExtensionName, "po"),
		"an extension of its own":       extension("sparkmood", "good"),
		"another type":                  func(e *cloudevents.Event) { e.SetType("dev.firesteel.application.lost.v1") },
		"another schema":                func(e *cloudevents.Event) { e.SetDataSchema("https://example.com") },
		"another id":                    func(e *cloudevents.Event) { e.SetID("1") },
		"no subject":                    func(e *cloudevents.Event) { e.SetSubject("") },
		"no time":                       func(e *cloudevents.Event) { e.SetTime(time.Time{}) },
		"data without its state":        data(`"state":"Failed",`, ""),
		"data of another state":         data(`"state":"Failed"`, `"state":"Lost"`),
		"data with a number as text":    data(`"attempt":2`, `"attempt":"2"`),
		"data with another uid":         data("uid-of-pi", "uid-of-po"),
		"data with a field of its own":  data(`"attempt":2`, `"attempt":2,"mood":"good"`),
		"data with an outcome of none":  data(`"outcome":"Failed"`, `"outcome":"Lost"`),
		"data that is no JSON":          data("{", ""),
		"too much data":                 data("Failed", "Failed"+strings.Repeat(" ", 8<<10)),
	} {
		t.Run(name, func(t *testing.T) {
			event := fullest(t, failed)
			change(&event)
			if err := eventstest.Check(event); err == nil {
				t.Errorf("it passes: %s", event)
			}
		})
	}
	marked := fullest(t, failed)
	marked.SetExtension("knativearrivaltime", "2026-03-01T08:15:30Z")
	if err := eventstest.Check(marked); err != nil {
		t.Errorf("what a broker marked does not pass: %v", err)
	}
}
