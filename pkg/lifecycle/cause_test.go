package lifecycle_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

const maxEvidence = 2048

func TestFailureCauseUsesTheLogLast(t *testing.T) {
	cause := appFailure
	cause.Detail = "Caused by: X"
	cause.AddLog("one\ntwo\n\n")
	want := "It broke.\nCaused by: X\nLast lines of the log: one\ntwo"
	if got := ended(Failed, cause).End; endMessage(got) != want {
		t.Errorf("the end says %q, want %q", endMessage(got), want)
	}
	silent := appFailure
	if silent.AddLog("\n"); silent.Log != "" {
		t.Errorf("an empty log adds %q", silent.Log)
	}
}

func TestFailureCauseInEventsHasNoOutputOfTheDriver(t *testing.T) {
	const sentence = "Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 1 (Error)."
	left := driverPod().Phase(corev1.PodFailed).Container("spark-kubernetes-driver", exited(1, "Error"), saying("terminated")).
		Exception("thrown", "\tat A.a", "Caused by: root")
	silent := driverPod().Phase(corev1.PodFailed).Container("spark-kubernetes-driver", exited(1, "Error"))
	for name, test := range map[string]struct {
		pod                 *corev1.Pod
		mayQuote            bool
		log, status, events string
	}{
		"an exception and a termination message": {
			pod: left.Obj(), status: sentence + " thrown\nCaused by: root\nTermination message: terminated", events: sentence,
		},
		"a log beside them": {
			pod: left.Obj(), log: "one\ntwo",
			status: sentence + " thrown\nCaused by: root\nTermination message: terminated\nLast lines of the log: one\ntwo",
			events: sentence + "\nLast lines of the log: one\ntwo",
		},
		"events that may quote": {
			pod: left.Obj(), mayQuote: true, status: sentence + " thrown\nCaused by: root\nTermination message: terminated",
		},
		"a driver that left nothing": {pod: silent.Obj(), status: sentence},
	} {
		t.Run(name, func(t *testing.T) {
			end := ObserveDriver(test.pod, "spark-kubernetes-driver").End
			if test.mayQuote {
				end.Cause.Unquoted = ""
			}
			end.Cause.AddLog(test.log)
			got := endOf(end)
			if got.Message != test.status || got.EventMessage != test.events {
				t.Errorf("the status says %q, want %q; events say %q, want %q", got.Message, test.status, got.EventMessage, test.events)
			}
		})
	}
}

// endMessage is the record's message of an end.
func endMessage(end *End) string { return endOf(end).Message }

// endOf returns an end as it is recorded.
func endOf(end *End) *v1alpha1.AttemptEnd {
	got, _ := Decide(submitted().Running().Obj(), plain(), Observation{Driver: &Driver{End: end, Stopped: true}}, start)
	return outbox.LastEnd(got).End
}

// Whatever a driver leaves, its sentence is first, and the end of its log is included.
func TestFailureCauseIsBounded(t *testing.T) {
	for name, text := range badTexts {
		t.Run(name, func(t *testing.T) {
			pod := driverPod().Phase(corev1.PodFailed).Container("spark-kubernetes-driver", exited(1, "Error"), saying(text)).
				Exception(text, "\tat A.a", "Caused by: "+text).Obj()
			end := ObserveDriver(pod, "").End
			end.Cause.AddLog(text + "the last line")
			got := endMessage(end)
			if size := size(t, got); size > maxEvidence {
				t.Errorf("the end takes %d bytes, want at most %d", size, maxEvidence)
			}
			if !strings.HasPrefix(got, "Driver has one or more failed critical container(s): ") {
				t.Errorf("the end begins with %.80q", got)
			}
			for _, part := range []string{"\nCaused by: ", "\nTermination message: ", "\nLast lines of the log: "} {
				if !strings.Contains(got, part) {
					t.Errorf("%q is missing in %q", part, got)
				}
			}
			if !strings.HasSuffix(got, "the last line") {
				t.Errorf("the end ends with %q", got[len(got)-80:])
			}
		})
	}
}

// There may be no room at all.
func TestFailureCauseOmitsALogThatDoesNotFit(t *testing.T) {
	cause := Cause{Class: ClassApplication, Message: strings.Repeat("x", 1024), Detail: strings.Repeat("y", 1024)}
	cause.AddLog("a line")
	if cause.Log != "" {
		t.Errorf("it adds %q", cause.Log)
	}
}
