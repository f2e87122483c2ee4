package events

import (
	"strings"
	"testing"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/google/go-cmp/cmp"
)

func TestIdentifyAcceptsFiresteelsEvents(t *testing.T) {
	transition, err := NewTransitionEvent(pi, failed())
	must(t, err)
	clock, err := NewExpiredEvent(pi, failed().Time.Time)
	must(t, err)
	namespace, err := NewNamespaceRequestedEvent(NamespaceObject("team-a", "uid-of-a"), failed().Time.Time)
	must(t, err)
	if got, err := Identify(namespace); err != nil || got != NamespaceObject("team-a", "uid-of-a") || namespace.Source() != "/api/namespaces/team-a/uid-of-a" {
		t.Errorf("Identify(%s) = %+v, %v", namespace.Source(), got, err)
	}
	for _, event := range []cloudevents.Event{transition, clock} {
		got, err := Identify(event)
		must(t, err)
		if diff := cmp.Diff(pi, got); diff != "" {
			t.Errorf("Identify(%s) (-want +got):\n%s", event.Type(), diff)
		}
	}
}

func TestIdentifyRefusesForgedEvents(t *testing.T) {
	cases := map[string]func(*cloudevents.Event){
		"a source of another system": func(e *cloudevents.Event) { e.SetSource("https://example.com/orders") },
		"a source with a version": func(e *cloudevents.Event) {
			e.SetSource("/apis/spark.apache.org/v1/namespaces/team-a/sparkapplications/pi/uid-of-pi")
		},
		"a source that leaves its namespace": func(e *cloudevents.Event) {
			e.SetSource("/apis/spark.apache.org/namespaces/../sparkapplications/pi/uid-of-pi")
		},
		"a namespace without uid":  func(e *cloudevents.Event) { e.SetSource("/api/namespaces/team-a/") },
		"a namespace that is none": func(e *cloudevents.Event) { e.SetSource("/api/namespaces/../uid-of-pi") },
		"a source without uid": func(e *cloudevents.Event) {
			e.SetSource("/apis/spark.apache.org/namespaces/team-a/sparkapplications/pi/")
		},
		"a source that is too long": func(e *cloudevents.Event) { e.SetSource(pi.Source() + strings.Repeat("/x", 1000)) },
		"an invalid name": func(e *cloudevents.Event) {
			e.SetSource("/apis/spark.apache.org/namespaces/team-a/sparkapplications/%2e%2e/uid-of-pi")
		},
		"a subject that contradicts the source": func(e *cloudevents.Event) { e.SetSubject("team-b/pi") },
		"a namespace that contradicts it":       func(e *cloudevents.Event) { e.SetExtension("sparknamespace", "team-b") },
		"a name that contradicts it":            func(e *cloudevents.Event) { e.SetExtension("sparkname", "tau") },
		"a name that is a number":               func(e *cloudevents.Event) { e.SetExtension("sparkname", 7) },
		"no kind":                               func(e *cloudevents.Event) { e.SetExtension("sparkkind", nil) },
		"an invalid kind":                       func(e *cloudevents.Event) { e.SetExtension("sparkkind", "spark application") },
	}
	for name, forge := range cases {
		t.Run(name, func(t *testing.T) {
			event, err := NewTransitionEvent(pi, failed())
			must(t, err)
			forge(&event)
			if object, err := Identify(event); !IsPermanent(err) {
				t.Errorf("Identify = %v, %v, want a permanent error", object, err)
			}
		})
	}
}

func FuzzParseSource(f *testing.F) {
	f.Add(pi.Source())
	f.Add("/apis/a/namespaces/b/c/d/")
	f.Add("/api/namespaces/a/b")
	f.Fuzz(func(t *testing.T, source string) {
		object, err := ParseSource(source)
		if err == nil && object.Source() != source {
			t.Errorf("ParseSource(%q) = %#v, whose source is %q", source, object, object.Source())
		}
	})
}
