package status_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func endOfFailure() v1alpha1.AttemptEnd {
	return v1alpha1.AttemptEnd{Class: "application", ExitCode: new(int32(1)), Reason: "Error"}
}

// What the Kubeflow operator's tests and clients look for, letter by letter.
func TestErrorMessagesAreUpstreams(t *testing.T) {
	for name, tt := range map[string]struct {
		run  func(*scenario)
		want string
	}{
		"a driver that exits with 1": {
			func(s *scenario) { s.Go().DriverRuns().DriverFails() }, "driver container failed with ExitCode: 1, Reason: Error",
		},
		"a driver that runs out of memory beside a sidecar": {
			func(s *scenario) {
				s.Go().Driver(corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: exited(137, "OOMKilled")})
			}, "driver container failed with ExitCode: 137, Reason: OOMKilled",
		},
		"a Pod that failed before its containers began": {
			func(s *scenario) { s.Go().Driver(corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}) }, "driver container status missing",
		},
		"a Pod whose init container failed": {
			func(s *scenario) {
				s.Go().Driver(corev1.PodStatus{
					Phase: corev1.PodFailed, ContainerStatuses: container(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}),
					InitContainerStatuses: []corev1.ContainerStatus{{Name: "fetch", State: corev1.ContainerState{
						Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error"},
					}}},
				})
			}, "driver container status missing",
		},
		"a Pod whose status is too long to keep": {
			func(s *scenario) {
				s.Go().Driver(corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: exited(3, "Error"), Message: strings.Repeat("x", 20000)})
			}, "driver container failed with ExitCode: 3, Reason: Error",
		},
		"a driver that vanishes": {func(s *scenario) { s.Go().DriverRuns().DriverVanishes() }, "driver pod not found"},
		"a submission that fails": {
			func(s *scenario) { s.Refused(1).Go() }, "failed to submit spark application: failed to run spark-submit: no such service account",
		},
		"a spec that can never run": {
			func(s *scenario) { s.policy.Refused = &lifecycle.Cause{Message: "its name is no label"}; s.Go() },
			"failed to submit spark application: failed to run spark-submit: its name is no label",
		},
		"a failure that is retried": {
			func(s *scenario) { s.Retrying(1, 0).Go().DriverRuns().DriverFails() }, "",
		},
		"a run that succeeds": {func(s *scenario) { s.Go().DriverRuns().DriverSucceeds() }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t)
			tt.run(s)
			if got := s.Status().AppState.ErrorMessage; got != tt.want {
				t.Errorf("message %q, want %q", got, tt.want)
			}
		})
	}
}

// While a retry waits, the status tells of the run before.
func TestTheMessageStaysUntilTheRetryIsDue(t *testing.T) {
	s := newScenario(t)
	s.Retrying(1, 0).Go().DriverRuns().DriverFails()
	waited := false
	for _, status := range s.statuses {
		if status.Firesteel.Launch == nil && status.AppState.State == "FAILING" {
			waited = true
			if status.AppState.ErrorMessage != "driver container failed with ExitCode: 1, Reason: Error" ||
				status.TerminationTime.IsZero() || status.DriverInfo.PodName != "pi-driver" {
				t.Errorf("while it waits: %+v", status)
			}
		}
	}
	if !waited {
		t.Error("it never waited")
	}
}
