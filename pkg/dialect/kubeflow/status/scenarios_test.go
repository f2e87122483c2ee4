package status_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// scenario is an application that follows the decisions of lifecycle. Each effect succeeds, unless the scenario says otherwise.
type scenario struct {
	t      *testing.T
	policy lifecycle.Policy
	record *v1alpha1.Record
	seen   lifecycle.Observation
	now    time.Time
	// refusals is the number of launches that are refused from now on.
	refusals int
	// shown are the states that clients saw, or would have seen of each transition alone.
	shown []v1beta2.ApplicationStateType
	// statuses are the written ones.
	statuses []v1beta2.SparkApplicationStatus
}

// newScenario begins with an application that was just created.
func newScenario(t *testing.T) *scenario {
	t.Helper()
	return &scenario{t: t, now: beginning, policy: modest()}
}

// modest is the policy of an application without settings of its own.
func modest() lifecycle.Policy {
	return lifecycle.Policy{
		Interrupts: true, PersistsEachState: true, HasUnknown: true, Spec: runSpec("of the spec"),
		Retain: lifecycle.RetainAlways, RetainFor: -1, TTL: -1, MainContainer: "spark-kubernetes-driver",
	}
}

// Retrying has failures followed by another attempt: so many failures of a driver in a row, or of a submission.
func (s *scenario) Retrying(failures, submissions int64) *scenario {
	s.policy.Restart = lifecycle.Restart{
		Policy: lifecycle.RestartOnFailure, MaxAttempts: lifecycle.Unlimited, ResetAfter: -1, CountsApart: true, Linear: true,
		Backoff: 5 * time.Second, OnFailure: lifecycle.Limit{MaxAttempts: &failures},
		OnSchedulingFailure: lifecycle.Limit{MaxAttempts: &submissions},
	}
	return s
}

// Go reconciles until nothing is left to do now. Waits are over at once, and a handler answers at once.
func (s *scenario) Go() *scenario {
	s.t.Helper()
	for range 100 {
		before := s.record
		record, decision := lifecycle.Decide(s.record, s.policy, s.seen, s.now)
		if decision.Effect == lifecycle.Launch && record.Launch == nil {
			id := fmt.Sprintf("of-attempt-%d", record.Attempt.ID)
			record.Launch = &v1alpha1.Launch{ID: id, DriverPod: "pi-driver", ApplicationID: "spark-" + id}
		}
		s.record, s.seen = record, decision.Seen
		s.show(before)
		s.now = s.now.Add(time.Second)
		verdict, asked := lifecycle.Judge(s.record, s.policy)
		switch {
		case asked:
			s.record.Verdict = &verdict
		case decision.Effect != lifecycle.NoEffect:
			s.perform(decision.Effect)
		case !decision.RequeueAt.IsZero():
			s.now = decision.RequeueAt
		case !decision.Changed:
			return s
		}
	}
	s.t.Fatal("the application never comes to rest")
	return s
}

func (s *scenario) perform(effect lifecycle.Effect) {
	switch {
	case effect == lifecycle.Persist:
	case effect != lifecycle.Launch:
		s.seen.DriverGone = true
	case s.refusals > 0:
		s.refusals--
		s.seen = lifecycle.Observation{LaunchRefused: &lifecycle.Cause{
			Class: lifecycle.ClassScheduling, Reason: "Forbidden", Message: "no such service account",
		}}
	default:
		s.seen = lifecycle.Observation{Launched: types.UID("uid-of-" + s.record.Launch.ID)}
	}
}

// show stores what clients see of a write, and of each of the transitions in it.
func (s *scenario) show(before *v1alpha1.Record) {
	var published int64
	written := v1beta2.SparkApplicationStatus{}
	if n := len(s.statuses); n > 0 {
		published, written = before.Sequence, *s.statuses[n-1].DeepCopy()
	}
	for i, t := range s.record.Transitions {
		if t.Sequence <= published {
			continue
		}
		until := s.record.DeepCopy()
		until.Transitions = until.Transitions[:i+1]
		until.Attempt.ID = t.Attempt
		if until.Launch = nil; t.DriverPod != "" {
			until.Launch = &v1alpha1.Launch{DriverPod: t.DriverPod}
		}
		s.sees(status.State(until))
	}
	status.Project(&written, s.record.DeepCopy(), status.Executors{})
	s.sees(written.AppState.State)
	s.statuses = append(s.statuses, written)
}

func (s *scenario) sees(state v1beta2.ApplicationStateType) {
	if n := len(s.shown); n == 0 || s.shown[n-1] != state {
		s.shown = append(s.shown, state)
	}
}

func (s *scenario) Status() v1beta2.SparkApplicationStatus { return s.statuses[len(s.statuses)-1] }

// Driver has the driver's Pod be in a status.
func (s *scenario) Driver(status corev1.PodStatus) *scenario {
	pod := &corev1.Pod{Status: status}
	pod.Name, pod.UID = s.record.Launch.DriverPod, s.record.Launch.DriverUID
	s.seen = lifecycle.Observation{Driver: lifecycle.ObserveDriver(pod, s.policy.MainContainer)}
	return s.Go()
}

// Container is the driver's.
func container(state corev1.ContainerState) []corev1.ContainerStatus {
	return []corev1.ContainerStatus{{Name: "spark-kubernetes-driver", State: state, Ready: state.Running != nil}}
}

func exited(code int32, reason string) []corev1.ContainerStatus {
	return container(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}})
}

func (s *scenario) DriverPending() *scenario {
	return s.Driver(corev1.PodStatus{Phase: corev1.PodPending})
}

func (s *scenario) DriverRuns() *scenario {
	return s.Driver(corev1.PodStatus{
		Phase:             corev1.PodRunning,
		Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: container(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}),
	})
}

func (s *scenario) DriverSucceeds() *scenario {
	return s.Driver(corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: exited(0, "Completed")})
}

func (s *scenario) DriverFails() *scenario {
	return s.Driver(corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: exited(1, "Error")})
}

func (s *scenario) DriverUnknown() *scenario {
	return s.Driver(corev1.PodStatus{Phase: corev1.PodUnknown})
}

func (s *scenario) DriverVanishes() *scenario {
	s.seen = lifecycle.Observation{DriverGone: true}
	return s.Go()
}

// Refused has so many launches refused.
func (s *scenario) Refused(launches int) *scenario {
	s.refusals = launches
	return s
}

func (s *scenario) Suspended(suspend bool) *scenario {
	s.policy.Suspend = suspend
	return s
}

// Edited is another spec than before.
func (s *scenario) Edited() *scenario {
	s.policy.Spec = runSpec(s.policy.Spec.Hash(spec.HashVersion) + ", edited")
	return s
}

func (s *scenario) Deleted() *scenario {
	s.seen.Deleted = s.now
	return s.Go()
}

func (s *scenario) Always() *scenario {
	s.policy.Restart = lifecycle.Restart{Policy: lifecycle.RestartAlways, MaxAttempts: lifecycle.Unlimited, ResetAfter: -1}
	return s
}

// The states come in the order that the Kubeflow operator's controllers go through.
func TestStatesComeInUpstreamsOrder(t *testing.T) {
	type states = []v1beta2.ApplicationStateType
	for name, tt := range map[string]struct {
		run  func(*scenario)
		want states
	}{
		"a run that succeeds": {
			func(s *scenario) { s.Go().DriverPending().DriverRuns().DriverSucceeds() },
			states{"", "SUBMITTED", "RUNNING", "SUCCEEDING", "COMPLETED"},
		},
		"a run that fails, and no retries": {
			func(s *scenario) { s.Go().DriverRuns().DriverFails() },
			states{"", "SUBMITTED", "RUNNING", "FAILING", "FAILED"},
		},
		"a driver that fails before it runs": {
			func(s *scenario) { s.Go().DriverPending().DriverFails() },
			states{"", "SUBMITTED", "FAILING", "FAILED"},
		},
		"a run that fails, and one that succeeds": {
			func(s *scenario) { s.Retrying(3, 0).Go().DriverRuns().DriverFails().DriverRuns().DriverSucceeds() },
			states{"", "SUBMITTED", "RUNNING", "FAILING", "PENDING_RERUN", "SUBMITTED", "RUNNING", "SUCCEEDING", "COMPLETED"},
		},
		"more failures than retries": {
			func(s *scenario) { s.Retrying(1, 0).Go().DriverRuns().DriverFails().DriverRuns().DriverFails() },
			states{"", "SUBMITTED", "RUNNING", "FAILING", "PENDING_RERUN", "SUBMITTED", "RUNNING", "FAILING", "FAILED"},
		},
		"a submission that fails, and no retries": {
			func(s *scenario) { s.Refused(1).Go() },
			states{"", "SUBMISSION_FAILED", "FAILED"},
		},
		"submissions that fail until one succeeds": {
			func(s *scenario) { s.Retrying(0, 3).Refused(2).Go().DriverRuns().DriverSucceeds() },
			states{"", "SUBMISSION_FAILED", "SUBMITTED", "RUNNING", "SUCCEEDING", "COMPLETED"},
		},
		"more submissions that fail than retries": {
			func(s *scenario) { s.Retrying(0, 3).Refused(4).Go() },
			states{"", "SUBMISSION_FAILED", "FAILED"},
		},
		"a failure and then a submission that fails": {
			func(s *scenario) {
				s.Retrying(3, 1).Go().DriverRuns().Refused(1).DriverFails().DriverRuns().DriverSucceeds()
			},
			states{"", "SUBMITTED", "RUNNING", "FAILING", "PENDING_RERUN", "SUBMISSION_FAILED", "SUBMITTED", "RUNNING", "SUCCEEDING",
				"COMPLETED"},
		},
		"a run that is to run for ever": {
			func(s *scenario) { s.Always().Go().DriverRuns().DriverSucceeds().DriverRuns() },
			states{"", "SUBMITTED", "RUNNING", "SUCCEEDING", "PENDING_RERUN", "SUBMITTED", "RUNNING"},
		},
		"an application that is created suspended": {
			func(s *scenario) { s.Suspended(true).Go().Suspended(false).Go().DriverRuns() },
			states{"", "SUSPENDING", "SUSPENDED", "RESUMING", "SUBMITTED", "RUNNING"},
		},
		"a suspension of a run": {
			func(s *scenario) {
				s.Go().DriverRuns().Suspended(true).Go().Suspended(false).Go().DriverRuns().DriverSucceeds()
			},
			states{"", "SUBMITTED", "RUNNING", "SUSPENDING", "SUSPENDED", "RESUMING", "SUBMITTED", "RUNNING", "SUCCEEDING", "COMPLETED"},
		},
		"a suspension after the end": {
			func(s *scenario) { s.Go().DriverRuns().DriverSucceeds().Suspended(true).Go() },
			states{"", "SUBMITTED", "RUNNING", "SUCCEEDING", "COMPLETED"},
		},
		"an edit of what runs": {
			func(s *scenario) { s.Go().DriverRuns().Edited().Go().DriverRuns() },
			states{"", "SUBMITTED", "RUNNING", "INVALIDATING", "PENDING_RERUN", "SUBMITTED", "RUNNING"},
		},
		"an edit of what has succeeded": {
			func(s *scenario) { s.Go().DriverRuns().DriverSucceeds().Edited().Go().DriverRuns().DriverSucceeds() },
			states{"", "SUBMITTED", "RUNNING", "SUCCEEDING", "COMPLETED", "INVALIDATING", "PENDING_RERUN", "SUBMITTED", "RUNNING",
				"SUCCEEDING", "COMPLETED"},
		},
		"an edit of what has failed": {
			func(s *scenario) { s.Refused(1).Go().Edited().Go().DriverRuns() },
			states{"", "SUBMISSION_FAILED", "FAILED", "INVALIDATING", "PENDING_RERUN", "SUBMITTED", "RUNNING"},
		},
		"a driver that vanishes": {
			func(s *scenario) { s.Go().DriverRuns().DriverVanishes() },
			states{"", "SUBMITTED", "RUNNING", "FAILING", "FAILED"},
		},
		"a driver of which nothing is known for a while": {
			func(s *scenario) { s.Go().DriverRuns().DriverUnknown().DriverRuns().DriverUnknown().DriverVanishes() },
			states{"", "SUBMITTED", "RUNNING", "UNKNOWN", "RUNNING", "UNKNOWN", "FAILING", "FAILED"},
		},
		"a deletion of what runs": {
			func(s *scenario) { s.Go().DriverRuns().Deleted() },
			states{"", "SUBMITTED", "RUNNING"},
		},
		"a deletion of what has ended": {
			func(s *scenario) { s.Go().DriverRuns().DriverSucceeds().Deleted() },
			states{"", "SUBMITTED", "RUNNING", "SUCCEEDING", "COMPLETED"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t)
			tt.run(s)
			if diff := cmp.Diff(tt.want, s.shown); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if last := s.Status().AppState.State; last != tt.want[len(tt.want)-1] {
				t.Errorf("the status says %q", last)
			}
		})
	}
}

func TestAttemptsAreCountedAsUpstreamDocumentsIt(t *testing.T) {
	for name, tt := range map[string]struct {
		run                     func(*scenario)
		executions, submissions []int32
	}{
		"failures": {
			func(s *scenario) { s.Retrying(3, 0).Go(); retry(s, 4) }, []int32{0, 1, 2, 3, 4}, []int32{1},
		},
		"failures of submissions": {
			func(s *scenario) { s.Retrying(0, 3).Refused(4).Go() }, []int32{0}, []int32{1, 2, 3, 4},
		},
		"an edit begins anew": {
			func(s *scenario) { s.Retrying(3, 0).Go(); retry(s, 2); s.Edited().Go() }, []int32{0, 1, 2, 3, 0, 1}, []int32{1},
		},
		"a suspension is another execution": {
			func(s *scenario) { s.Go().DriverRuns().Suspended(true).Go().Suspended(false).Go() }, []int32{0, 1, 2}, []int32{1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t)
			tt.run(s)
			var executions, submissions []int32
			for _, status := range s.statuses {
				executions, submissions = append(executions, status.ExecutionAttempts), append(submissions, status.SubmissionAttempts)
			}
			if got := slices.Compact(executions); !slices.Equal(got, tt.executions) {
				t.Errorf("executions: %v, want %v", got, tt.executions)
			}
			if got := slices.Compact(submissions); !slices.Equal(got, tt.submissions) {
				t.Errorf("submissions: %v, want %v", got, tt.submissions)
			}
		})
	}
}

func retry(s *scenario, failures int) {
	for range failures {
		s.DriverRuns().DriverFails()
	}
}

// runSpec is a spec with a hash.
func runSpec(hash string) spec.Spec { return spec.Spec{Hash: func(int64) string { return hash }} }
