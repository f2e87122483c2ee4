package lifecycle_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

const maxEvidence = 2048

func TestALogIsTheLastOfTheEvidence(t *testing.T) {
	cause := appFailure
	cause.Detail = "Caused by: X"
	cause.AddLog("one\ntwo\n\n")
	want := "It broke.\nCaused by: X\nLast lines of the log: one\ntwo"
	if got := ended(Failed, cause).End; told(got) != want {
		t.Errorf("the end says %q, want %q", told(got), want)
	}
	silent := appFailure
	if silent.AddLog("\n"); silent.Detail != "" {
		t.Errorf("an empty log adds %q", silent.Detail)
	}
}

// told is what a record says of an end.
func told(end *End) string {
	got, _ := Decide(submitted().Running().Obj(), plain(), Observation{Driver: &Driver{End: end, Stopped: true}}, start)
	return outbox.LastEnd(got).End.Message
}

// Whatever a driver leaves, its sentence comes first, and the end of its log is kept.
func TestEvidenceIsBounded(t *testing.T) {
	for name, text := range badTexts {
		t.Run(name, func(t *testing.T) {
			pod := driverPod().Phase(corev1.PodFailed).Container("spark-kubernetes-driver", exited(1, "Error"), saying(text)).
				Exception(text, "\tat A.a", "Caused by: "+text).Obj()
			end := ObserveDriver(pod, "").End
			end.Cause.AddLog(text + "the last line")
			got := told(end)
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

// There may be no room left at all.
func TestALogWithoutRoomIsLeftOut(t *testing.T) {
	cause := Cause{Class: ClassApplication, Message: strings.Repeat("x", 1024), Detail: strings.Repeat("y", 1024)}
	cause.AddLog("a line")
	if strings.Contains(cause.Detail, "log") {
		t.Errorf("the detail is %q", cause.Detail)
	}
}
