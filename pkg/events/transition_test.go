package events

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

func failed() v1alpha1.Transition {
	exitCode := int32(1)
	return v1alpha1.Transition{
		Sequence:      7,
		Time:          microTime("2026-03-01T08:15:30.5Z"),
		Attempt:       2,
		State:         "Failed",
		Message:       "Driver failed.",
		DriverPod:     "pi-2-driver",
		ApplicationID: "spark-1",
		End: &v1alpha1.AttemptEnd{
			Outcome:        v1alpha1.OutcomeFailed,
			RestartAllowed: true,
			Class:          "application",
			ExitCode:       &exitCode,
			Reason:         "Error",
			Message:        "exit code 1",
		},
	}
}

func TestTransitionEventOfAnAttemptsEnd(t *testing.T) {
	event, err := NewTransitionEvent(pi, failed())
	must(t, err)
	want := `{
		"specversion": "1.0",
		"id": "uid-of-pi.0000000007",
		"source": "/apis/spark.apache.org/namespaces/team-a/sparkapplications/pi/uid-of-pi",
		"type": "dev.firesteel.application.failed.v1",
		"subject": "team-a/pi",
		"time": "2026-03-01T08:15:30.5Z",
		"datacontenttype": "application/json",
		"dataschema": "https://firesteel.dev/schemas/events/dev.firesteel.application.failed.v1.schema.json",
		"sequence": "0000000007",
		"sparkkind": "SparkApplication",
		"sparknamespace": "team-a",
		"sparkname": "pi",
		"sparkstate": "Failed",
		"sparkattempt": "2",
		"sparkoutcome": "Failed",
		"sparkrestartallowed": "true",
		"data": {
			"namespace": "team-a",
			"name": "pi",
			"uid": "uid-of-pi",
			"kind": "SparkApplication",
			"attempt": 2,
			"sequence": 7,
			"state": "Failed",
			"message": "Driver failed.",
			"driverPod": "pi-2-driver",
			"applicationID": "spark-1",
			"end": {
				"outcome": "Failed",
				"restartAllowed": true,
				"class": "application",
				"exitCode": 1,
				"reason": "Error",
				"message": "exit code 1",
				"pod": "pi-2-driver",
				"attempt": 2
			}
		}
	}`
	if diff := cmp.Diff(tree(t, want), tree(t, wire(t, event))); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

// Records of earlier versions have no EventMessage. TestTransitionEventOfAnAttemptsEnd tests their events.
func TestTransitionEventHasTheMessageForEvents(t *testing.T) {
	quoting := failed()
	quoting.Message = "Driver failed. java.lang.IllegalStateException: on the card of Mr. Smith"
	quoting.End.Message = quoting.Message + "\nTermination message: Mr. Smith"
	quoting.End.EventMessage = "Driver failed."
	event, err := NewTransitionEvent(pi, quoting)
	must(t, err)
	data, err := DecodeTransition(event)
	must(t, err)
	if data.Message != "Driver failed." || data.End.Message != "Driver failed." {
		t.Errorf("the event has the messages %q and %q", data.Message, data.End.Message)
	}
}

func TestTransitionEventHasTheUsage(t *testing.T) {
	ended := failed()
	ended.Usage = &v1alpha1.Usage{
		Driver: &v1alpha1.PodUsage{Seconds: 60, CoreMilliseconds: 30_000, MebibyteSeconds: 84_480, GPUSeconds: 120}, PeakExecutors: 2, GapSeconds: 3,
	}
	event, err := NewTransitionEvent(pi, ended)
	must(t, err)
	data, err := DecodeTransition(event)
	must(t, err)
	want := &Usage{
		Driver: &PodUsage{Seconds: 60, CoreMilliseconds: 30_000, MebibyteSeconds: 84_480, GPUSeconds: 120}, PeakExecutors: 2, GapSeconds: 3,
	}
	if diff := cmp.Diff(want, data.Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}

func tree(t *testing.T, text string) (parsed any) {
	t.Helper()
	must(t, json.Unmarshal([]byte(text), &parsed))
	return parsed
}

func TestTransitionEventExtensions(t *testing.T) {
	cases := map[string]struct {
		transition v1alpha1.Transition
		want       map[string]any
	}{
		"a transition within an attempt has no outcome": {
			transition: v1alpha1.Transition{Sequence: 1, State: "Submitted"},
			want:       map[string]any{"sequence": "0000000001", "sparkstate": "Submitted", "sparkattempt": "0"},
		},
		"the end of an attempt has its outcome and whether a restart is allowed": {
			transition: v1alpha1.Transition{
				Sequence: 5, State: "Succeeded", Attempt: 1, End: &v1alpha1.AttemptEnd{Outcome: "Succeeded"},
			},
			want: map[string]any{
				"sequence": "0000000005", "sparkstate": "Succeeded", "sparkattempt": "1",
				"sparkoutcome": "Succeeded", "sparkrestartallowed": "false",
			},
		},
		"the last transition is final and has the application's outcome": {
			transition: v1alpha1.Transition{Sequence: 6, State: "ResourceReleased", Attempt: 1, Outcome: "Succeeded"},
			want: map[string]any{
				"sequence": "0000000006", "sparkstate": "ResourceReleased", "sparkattempt": "1",
				"sparkoutcome": "Succeeded", "sparkfinal": "true",
			},
		},
		"an end that is also the last transition has the application's outcome": {
			transition: v1alpha1.Transition{
				Sequence: 6, State: "Failed", End: &v1alpha1.AttemptEnd{Outcome: "Failed"}, Outcome: "Failed",
			},
			want: map[string]any{
				"sequence": "0000000006", "sparkstate": "Failed", "sparkattempt": "0",
				"sparkoutcome": "Failed", "sparkrestartallowed": "false", "sparkfinal": "true",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.transition.Time = microTime("2026-03-01T08:15:30Z")
			event, err := NewTransitionEvent(pi, tc.transition)
			must(t, err)
			tc.want["sparkkind"], tc.want["sparknamespace"], tc.want["sparkname"] = "SparkApplication", "team-a", "pi"
			if diff := cmp.Diff(tc.want, event.Extensions()); diff != "" {
				t.Errorf("extensions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTransitionEventIsTheSameBeforeAndAfterStorage(t *testing.T) {
	fresh := failed()
	fresh.Time = metav1.NewMicroTime(time.Date(2026, 3, 1, 9, 15, 30, 123456789, time.FixedZone("CET", 3600)))
	fresh.DriverStatus = &corev1.PodStatus{Phase: corev1.PodFailed}
	text, err := json.Marshal(fresh)
	must(t, err)
	var stored v1alpha1.Transition
	must(t, json.Unmarshal(text, &stored))
	stored.DriverStatus = nil

	before, err := NewTransitionEvent(pi, fresh)
	must(t, err)
	after, err := NewTransitionEvent(pi, stored)
	must(t, err)
	if diff := cmp.Diff(wire(t, before), wire(t, after)); diff != "" {
		t.Errorf("event (-before +after):\n%s", diff)
	}
}

func TestTransitionEventStaysBelowItsSize(t *testing.T) {
	texts := map[string]string{
		"plain":            strings.Repeat("x", 100_000),
		"escaped":          strings.Repeat("\x01<\"", 100_000),
		"beyond ASCII":     strings.Repeat("é火🔥", 100_000),
		"no UTF-8":         strings.Repeat("\xff\xfe", 100_000),
		"line separators":  strings.Repeat("\u2028\u007f", 100_000),
		"replacement rune": strings.Repeat("\uFFFD", 100_000),
	}
	object := pi
	object.Name, object.Namespace = strings.Repeat("n", 253), strings.Repeat("s", 63)
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			transition := failed()
			transition.Message, transition.DriverPod, transition.ApplicationID, transition.UIAddress = text, text, text, text
			transition.End.Message, transition.End.Class, transition.End.Reason = text, text, text
			event, err := NewTransitionEvent(object, transition)
			must(t, err)
			if size := len(wire(t, event)); size >= 8<<10 {
				t.Errorf("event has %d bytes, want less than 8 KiB", size)
			}
		})
	}
}

func TestTransitionEventRefusesInvalidTransitions(t *testing.T) {
	cases := map[string]func(*Object, *v1alpha1.Transition){
		"a state that is not in the contract": func(_ *Object, t *v1alpha1.Transition) { t.State = "Rebooting" },
		"no state":                            func(_ *Object, t *v1alpha1.Transition) { t.State = "" },
		"no sequence":                         func(_ *Object, t *v1alpha1.Transition) { t.Sequence = 0 },
		"no time":                             func(_ *Object, t *v1alpha1.Transition) { t.Time = metav1.MicroTime{} },
		"an outcome that breaks a header":     func(_ *Object, t *v1alpha1.Transition) { t.Outcome = "Failed\r\nHost: x" },
		"an end without outcome":              func(_ *Object, t *v1alpha1.Transition) { t.End.Outcome = "" },
		"an object without uid":               func(o *Object, _ *v1alpha1.Transition) { o.UID = "" },
		"an object without kind":              func(o *Object, _ *v1alpha1.Transition) { o.Kind = "" },
		"an object with a slash in its name":  func(o *Object, _ *v1alpha1.Transition) { o.Name = "a/b" },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			object, transition := pi, failed()
			spoil(&object, &transition)
			if event, err := NewTransitionEvent(object, transition); err == nil {
				t.Errorf("NewTransitionEvent made %s", wire(t, event))
			}
		})
	}
}

func TestClockEventOfExpiration(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 15, 30, 123456789, time.FixedZone("CET", 3600))
	event, err := NewExpiredEvent(pi, at)
	must(t, err)
	want := `{
		"specversion": "1.0",
		"id": "uid-of-pi.2026-03-01T08:15:30.123456Z",
		"source": "/apis/spark.apache.org/namespaces/team-a/sparkapplications/pi/uid-of-pi",
		"type": "dev.firesteel.application.expired.v1",
		"subject": "team-a/pi",
		"time": "2026-03-01T08:15:30.123456Z",
		"datacontenttype": "application/json",
		"dataschema": "https://firesteel.dev/schemas/events/dev.firesteel.application.expired.v1.schema.json",
		"sparkkind": "SparkApplication",
		"sparknamespace": "team-a",
		"sparkname": "pi",
		"data": {
			"namespace": "team-a",
			"name": "pi",
			"uid": "uid-of-pi",
			"kind": "SparkApplication",
			"due": "2026-03-01T08:15:30.123456Z"
		}
	}`
	if diff := cmp.Diff(tree(t, want), tree(t, wire(t, event))); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if _, err := NewExpiredEvent(pi, time.Time{}); err == nil {
		t.Error("NewExpiredEvent accepted the zero time")
	}
}

func TestTransitionEventOfACluster(t *testing.T) {
	event, err := NewTransitionEvent(testCluster, v1alpha1.Transition{
		Sequence: 3, Time: microTime("2026-03-01T08:15:30.5Z"), State: "Degraded", Message: "The master is gone.",
	})
	must(t, err)
	want := `{
		"specversion": "1.0",
		"id": "uid-of-qa.0000000003",
		"source": "/apis/spark.apache.org/namespaces/team-a/sparkclusters/qa/uid-of-qa",
		"type": "dev.firesteel.cluster.degraded.v1",
		"subject": "team-a/qa",
		"time": "2026-03-01T08:15:30.5Z",
		"datacontenttype": "application/json",
		"dataschema": "https://firesteel.dev/schemas/events/dev.firesteel.cluster.degraded.v1.schema.json",
		"sequence": "0000000003",
		"sparkkind": "SparkCluster",
		"sparknamespace": "team-a",
		"sparkname": "qa",
		"sparkstate": "Degraded",
		"sparkattempt": "0",
		"data": {
			"namespace": "team-a",
			"name": "qa",
			"uid": "uid-of-qa",
			"kind": "SparkCluster",
			"attempt": 0,
			"sequence": 3,
			"state": "Degraded",
			"message": "The master is gone."
		}
	}`
	text, err := json.Marshal(event)
	must(t, err)
	if diff := cmp.Diff(tree(t, want), tree(t, string(text))); diff != "" {
		t.Error(diff)
	}
}
