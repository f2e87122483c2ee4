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

// about returns an object for a type's events.
func about(eventType events.Type) events.Object {
	if eventType.Name == events.NamespaceRequestedType {
		return events.NamespaceObject("team-a", "uid-of-a")
	}
	o := events.Object{
		Group: "spark.apache.org", Resource: eventType.Resource(), Kind: "SparkApplication", Namespace: "team-a", Name: "pi", UID: "uid-of-pi",
	}
	switch {
	case eventType.Cluster:
		o.Kind = events.KindCluster
	case eventType.Name == events.DueType:
		o.Kind = "ScheduledSparkApplication"
	}
	return o
}

var instant = time.Date(2026, 3, 1, 8, 15, 30, 123456789, time.FixedZone("east", 3600))

// fullest returns an event with all attributes and fields that its type allows.
func fullest(t *testing.T, eventType events.Type) cloudevents.Event {
	t.Helper()
	long, code := strings.Repeat("\x01é", 10_000), int32(137)
	transition := v1alpha1.Transition{
		Sequence: 8, Time: metav1.NewMicroTime(instant), Attempt: 2, State: eventType.State, Message: long, Outcome: v1alpha1.OutcomeFailed,
	}
	if eventType.EndsAttempt {
		transition.End = &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed, RestartAllowed: true, Class: long, Reason: long, Message: long}
	}
	if !eventType.Cluster {
		transition.DriverPod, transition.ApplicationID = long, long
		if eventType.EndsAttempt {
			transition.End.ExitCode = &code
		}
	}
	event, err := events.NewTransitionEvent(about(eventType), transition)
	switch eventType.Name {
	case events.DueType:
		event, err = events.NewDueEvent(about(eventType), instant)
	case events.NamespaceRequestedType:
		event, err = events.NewNamespaceRequestedEvent(about(eventType), instant)
	case events.InterruptedType:
		event, err = events.NewInterruptedEvent(about(eventType), instant)
	case events.ExpiredType:
		event, err = events.NewExpiredEvent(about(eventType), instant)
	}
	if err != nil {
		t.Fatal(err)
	}
	return event
}

func TestCheckAcceptsEventsOfAllTypes(t *testing.T) {
	for _, eventType := range events.Types {
		if err := eventstest.Check(fullest(t, eventType)); err != nil {
			t.Errorf("%s: %v", eventType.Name, err)
		}
		if eventType.Clock() {
			continue
		}
		sparse, err := events.NewTransitionEvent(about(eventType), v1alpha1.Transition{
			Sequence: 1, Time: metav1.NewMicroTime(instant), State: eventType.State,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := eventstest.Check(sparse); err != nil {
			t.Errorf("%s, with required fields only: %v", eventType.Name, err)
		}
	}
}

func TestCheckFindsViolations(t *testing.T) {
	failed, _ := events.TypeForState("SparkApplication", "Failed")
	extension := func(name string, value any) func(*cloudevents.Event) {
		return func(e *cloudevents.Event) { e.SetExtension(name, value) }
	}
	data := func(old, new string) func(*cloudevents.Event) {
		return func(e *cloudevents.Event) { e.DataEncoded = []byte(strings.Replace(string(e.Data()), old, new, 1)) }
	}
	for name, change := range map[string]func(*cloudevents.Event){
		"no sequence":                  extension(events.ExtensionSequence, nil),
		"a sequence that is a number":  extension(events.ExtensionSequence, 8),
		"another sequence":             extension(events.ExtensionSequence, "0000000009"),
		"a sequence without its zeros": extension(events.ExtensionSequence, "8"),
		"no state":                     extension(events.ExtensionState, nil),
		"another state":                extension(events.ExtensionState, "Succeeded"),
		"no restartallowed":            extension(events.ExtensionRestartAllowed, nil),
		"another restartallowed":       extension(events.ExtensionRestartAllowed, "false"),
		"an unknown outcome":           extension(events.ExtensionOutcome, "Lost"),
		"no final, unlike the data":    extension(events.ExtensionFinal, nil),
		"another name":                 extension(events.ExtensionName, "po"),
		"an unknown extension":         extension("sparkmood", "good"),
		"another type":                 func(e *cloudevents.Event) { e.SetType("dev.firesteel.application.lost.v1") },
		"another schema":               func(e *cloudevents.Event) { e.SetDataSchema("https://example.com") },
		"another id":                   func(e *cloudevents.Event) { e.SetID("1") },
		"no subject":                   func(e *cloudevents.Event) { e.SetSubject("") },
		"no time":                      func(e *cloudevents.Event) { e.SetTime(time.Time{}) },
		"data without its state":       data(`"state":"Failed",`, ""),
		"data of another state":        data(`"state":"Failed"`, `"state":"Lost"`),
		"data with a number as string": data(`"attempt":2`, `"attempt":"2"`),
		"data with another uid":        data("uid-of-pi", "uid-of-po"),
		"data with an unknown field":   data(`"attempt":2`, `"attempt":2,"mood":"good"`),
		"data with an unknown outcome": data(`"outcome":"Failed"`, `"outcome":"Lost"`),
		"data that is not JSON":        data("{", ""),
		"too much data":                data("Failed", "Failed"+strings.Repeat(" ", 8<<10)),
	} {
		t.Run(name, func(t *testing.T) {
			event := fullest(t, failed)
			change(&event)
			if err := eventstest.Check(event); err == nil {
				t.Errorf("Check accepts %s", event)
			}
		})
	}
	extended := fullest(t, failed)
	extended.SetExtension("knativearrivaltime", "2026-03-01T08:15:30Z")
	if err := eventstest.Check(extended); err != nil {
		t.Errorf("Check refuses a broker's extension: %v", err)
	}
}
