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

// life is an application that lives by what lifecycle decides, in a world that does as it is told.
type life struct {
	t      *testing.T
	policy lifecycle.Policy
	record *v1alpha1.Record
	seen   lifecycle.Observation
	now    time.Time
	// refusals is the number of launches that are refused from now on.
	refusals int
	// visibleStates are the states that clients saw, or would have seen of each transition of its own.
	shown []v1beta2.ApplicationStateType
	// statuses are those that were written.
	statuses []v1beta2.SparkApplicationStatus
}

// newborn is an application of that kind that has just been created.
func newborn(t *testing.T) *life {
	t.Helper()
	return &life{t: t, now: beginning, policy: modest()}
}

// modest is the policy of an application that asks for nothing.
func modest() lifecycle.Policy {
	return lifecycle.Policy{
		Interrupts: true, PersistsEachState: true, HasUnknown: true, Spec: runSpec("of the spec"),
		Retain: lifecycle.RetainAlways, RetainFor: -1, TTL: -1, MainContainer: "spark-kubernetes-driver",
	}
}

// Retrying has failures followed by another attempt: so many failures of a driver in a row, or of a submission.
func (l *life) Retrying(failures, submissions int64) *life {
	l.policy.Restart = lifecycle.Restart{
		Policy: lifecycle.RestartOnFailure, MaxAttempts: lifecycle.Unlimited, ResetAfter: -1, CountsApart: true, Linear: true,
		Backoff: 5 * time.Second, OnFailure: lifecycle.Limit{MaxAttempts: &failures},
		OnSchedulingFailure: lifecycle.Limit{MaxAttempts: &submissions},
	}
	return l
}

// Go takes the application as far as it goes by itself. Waits are over at once, and a handler answers at once.
func (l *life) Go() *life {
	l.t.Helper()
	for range 100 {
		before := l.record
		record, decision := lifecycle.Decide(l.record, l.policy, l.seen, l.now)
		if decision.Effect == lifecycle.Launch && record.Launch == nil {
			id := fmt.Sprintf("of-attempt-%d", record.Attempt.ID)
			record.Launch = &v1alpha1.Launch{ID: id, DriverPod: "pi-driver", ApplicationID: "spark-" + id}
		}
		l.record, l.seen = record, decision.Seen
		l.show(before)
		l.now = l.now.Add(time.Second)
		verdict, asked := lifecycle.Judge(l.record, l.policy)
		switch {
		case asked:
			l.record.Verdict = &verdict
		case decision.Effect != lifecycle.NoEffect:
			l.perform(decision.Effect)
		case !decision.RequeueAt.IsZero():
			l.now = decision.RequeueAt
		case !decision.Changed:
			return l
		}
	}
	l.t.Fatal("the application never comes to rest")
	return l
}

func (l *life) perform(effect lifecycle.Effect) {
	switch {
	case effect == lifecycle.Persist:
	case effect != lifecycle.Launch:
		l.seen.DriverGone = true
	case l.refusals > 0:
		l.refusals--
		l.seen = lifecycle.Observation{LaunchRefused: &lifecycle.Cause{
			Class: lifecycle.ClassScheduling, Reason: "Forbidden", Message: "no such service account",
		}}
	default:
		l.seen = lifecycle.Observation{Launched: types.UID("uid-of-" + l.record.Launch.ID)}
	}
}

// show notes what clients see of a write, and of each of the transitions in it.
func (l *life) show(before *v1alpha1.Record) {
	var told int64
	written := v1beta2.SparkApplicationStatus{}
	if n := len(l.statuses); n > 0 {
		told, written = before.Sequence, *l.statuses[n-1].DeepCopy()
	}
	for i, t := range l.record.Transitions {
		if t.Sequence <= told {
			continue
		}
		until := l.record.DeepCopy()
		until.Transitions = until.Transitions[:i+1]
		until.Attempt.ID = t.Attempt
		if until.Launch = nil; t.DriverPod != "" {
			until.Launch = &v1alpha1.Launch{DriverPod: t.DriverPod}
		}
		l.sees(status.State(until))
	}
	status.Project(&written, l.record.DeepCopy(), status.Executors{})
	l.sees(written.AppState.State)
	l.statuses = append(l.statuses, written)
}

func (l *life) sees(state v1beta2.ApplicationStateType) {
	if n := len(l.shown); n == 0 || l.shown[n-1] != state {
		l.shown = append(l.shown, state)
	}
}

func (l *life) Status() v1beta2.SparkApplicationStatus { return l.statuses[len(l.statuses)-1] }

// Driver has the driver's Pod be in a status.
func (l *life) Driver(status corev1.PodStatus) *life {
	pod := &corev1.Pod{Status: status}
	pod.Name, pod.UID = l.record.Launch.DriverPod, l.record.Launch.DriverUID
	l.seen = lifecycle.Observation{Driver: lifecycle.ObserveDriver(pod, l.policy.MainContainer)}
	return l.Go()
}

// Container is the driver's.
func container(state corev1.ContainerState) []corev1.ContainerStatus {
	return []corev1.ContainerStatus{{Name: "spark-kubernetes-driver", State: state, Ready: state.Running != nil}}
}

func exited(code int32, reason string) []corev1.ContainerStatus {
	return container(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}})
}

func (l *life) DriverPending() *life { return l.Driver(corev1.PodStatus{Phase: corev1.PodPending}) }

func (l *life) DriverRuns() *life {
	return l.Driver(corev1.PodStatus{
		Phase:             corev1.PodRunning,
		Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: container(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}),
	})
}

func (l *life) DriverSucceeds() *life {
	return l.Driver(corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: exited(0, "Completed")})
}

func (l *life) DriverFails() *life {
	return l.Driver(corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: exited(1, "Error")})
}

func (l *life) DriverUnknown() *life { return l.Driver(corev1.PodStatus{Phase: corev1.PodUnknown}) }

func (l *life) DriverVanishes() *life {
	l.seen = lifecycle.Observation{DriverGone: true}
	return l.Go()
}

// Refused has so many launches refused.
func (l *life) Refused(launches int) *life {
	l.refusals = launches
	return l
}

func (l *life) Suspended(suspend bool) *life {
	l.policy.Suspend = suspend
	return l
}

// Edited is another spec than before.
func (l *life) Edited() *life {
	l.policy.Spec = runSpec(l.policy.Spec.Hash(spec.HashVersion) + ", edited")
	return l
}

func (l *life) Deleted() *life {
	l.seen.Deleted = l.now
	return l.Go()
}

func (l *life) Always() *life {
	l.policy.Restart = lifecycle.Restart{Policy: lifecycle.RestartAlways, MaxAttempts: lifecycle.Unlimited, ResetAfter: -1}
	return l
}

// The states come in the order that the Kubeflow operator's controllers go through.
func TestStatesComeInUpstreamsOrder(t *testing.T) {
	type states = []v1beta2.ApplicationStateType
	for name, tt := range map[string]struct {
		live func(*life)
		want states
	}{
		"a run that succeeds": {
			func(l *life) { l.Go().DriverPending().DriverRuns().DriverSucceeds() },
			states{"", "SUBMITTED", "RUNNING", "SUCCEEDING", "COMPLETED"},
		},
		"a run that fails, and no retries": {
			func(l *life) { l.Go().DriverRuns().DriverFails() },
			states{"", "SUBMITTED", "RUNNING", "FAILING", "FAILED"},
		},
		"a driver that fails before it runs": {
			func(l *life) { l.Go().DriverPending().DriverFails() },
			states{"", "SUBMITTED", "FAILING", "FAILED"},
		},
		"a run that fails, and one that succeeds": {
			func(l *life) { l.Retrying(3, 0).Go().DriverRuns().DriverFails().DriverRuns().DriverSucceeds() },
			states{"", "SUBMITTED", "RUNNING", "FAILING", "PENDING_RERUN", "SUBMITTED", "RUNNING", "SUCCEEDING", "COMPLETED"},
		},
		"more failures than retries": {
			func(l *life) { l.Retrying(1, 0).Go().DriverRuns().DriverFails().DriverRuns().DriverFails() },
			states{"", "SUBMITTED", "RUNNING", "FAILING", "PENDING_RERUN", "SUBMITTED", "RUNNING", "FAILING", "FAILED"},
		},
		"a submission that fails, and no retries": {
			func(l *life) { l.Refused(1).Go() },
			states{"", "SUBMISSION_FAILED", "FAILED"},
		},
		"submissions that fail until one succeeds": {
			func(l *life) { l.Retrying(0, 3).Refused(2).Go().DriverRuns().DriverSucceeds() },
			states{"", "SUBMISSION_FAILED", "SUBMITTED", "RUNNING", "SUCCEEDING", "COMPLETED"},
		},
		"more submissions that fail than retries": {
			func(l *life) { l.Retrying(0, 3).Refused(4).Go() },
			states{"", "SUBMISSION_FAILED", "FAILED"},
		},
		"a failure and then a submission that fails": {
			func(l *life) {
				l.Retrying(3, 1).Go().DriverRuns().Refused(1).DriverFails().DriverRuns().DriverSucceeds()
			},
			states{"", "SUBMITTED", "RUNNING", "FAILING", "PENDING_RERUN", "SUBMISSION_FAILED", "SUBMITTED", "RUNNING", "SUCCEEDING",
				"COMPLETED"},
		},
		"a run that is to run for ever": {
			func(l *life) { l.Always().Go().DriverRuns().DriverSucceeds().DriverRuns() },
			states{"", "SUBMITTED", "RUNNING", "SUCCEEDING", "PENDING_RERUN", "SUBMITTED", "RUNNING"},
		},
		"an application that is created suspended": {
			func(l *life) { l.Suspended(true).Go().Suspended(false).Go().DriverRuns() },
			states{"", "SUSPENDING", "SUSPENDED", "RESUMING", "SUBMITTED", "RUNNING"},
		},
		"a suspension of a run": {
			func(l *life) {
				l.Go().DriverRuns().Suspended(true).Go().Suspended(false).Go().DriverRuns().DriverSucceeds()
			},
			states{"", "SUBMITTED", "RUNNING", "SUSPENDING", "SUSPENDED", "RESUMING", "SUBMITTED", "RUNNING", "SUCCEEDING", "COMPLETED"},
		},
		"a suspension after the end": {
			func(l *life) { l.Go().DriverRuns().DriverSucceeds().Suspended(true).Go() },
			states{"", "SUBMITTED", "RUNNING", "SUCCEEDING", "COMPLETED"},
		},
		"an edit of what runs": {
			func(l *life) { l.Go().DriverRuns().Edited().Go().DriverRuns() },
			states{"", "SUBMITTED", "RUNNING", "INVALIDATING", "PENDING_RERUN", "SUBMITTED", "RUNNING"},
		},
		"an edit of what has succeeded": {
			func(l *life) { l.Go().DriverRuns().DriverSucceeds().Edited().Go().DriverRuns().DriverSucceeds() },
			states{"", "SUBMITTED", "RUNNING", "SUCCEEDING", "COMPLETED", "INVALIDATING", "PENDING_RERUN", "SUBMITTED", "RUNNING",
				"SUCCEEDING", "COMPLETED"},
		},
		"an edit of what has failed": {
			func(l *life) { l.Refused(1).Go().Edited().Go().DriverRuns() },
			states{"", "SUBMISSION_FAILED", "FAILED", "INVALIDATING", "PENDING_RERUN", "SUBMITTED", "RUNNING"},
		},
		"a driver that vanishes": {
			func(l *life) { l.Go().DriverRuns().DriverVanishes() },
			states{"", "SUBMITTED", "RUNNING", "FAILING", "FAILED"},
		},
		"a driver of which nothing is known for a while": {
			func(l *life) { l.Go().DriverRuns().DriverUnknown().DriverRuns().DriverUnknown().DriverVanishes() },
			states{"", "SUBMITTED", "RUNNING", "UNKNOWN", "RUNNING", "UNKNOWN", "FAILING", "FAILED"},
		},
		"a deletion of what runs": {
			func(l *life) { l.Go().DriverRuns().Deleted() },
			states{"", "SUBMITTED", "RUNNING"},
		},
		"a deletion of what has ended": {
			func(l *life) { l.Go().DriverRuns().DriverSucceeds().Deleted() },
			states{"", "SUBMITTED", "RUNNING", "SUCCEEDING", "COMPLETED"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newborn(t)
			tt.live(l)
			if diff := cmp.Diff(tt.want, l.shown); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if last := l.Status().AppState.State; last != tt.want[len(tt.want)-1] {
				t.Errorf("the status says %q", last)
			}
		})
	}
}

func TestAttemptsAreCountedAsUpstreamDocumentsIt(t *testing.T) {
	for name, tt := range map[string]struct {
		live                    func(*life)
		executions, submissions []int32
	}{
		"failures": {
			func(l *life) { l.Retrying(3, 0).Go(); retry(l, 4) }, []int32{0, 1, 2, 3, 4}, []int32{1},
		},
		"failures of submissions": {
			func(l *life) { l.Retrying(0, 3).Refused(4).Go() }, []int32{0}, []int32{1, 2, 3, 4},
		},
		"an edit begins anew": {
			func(l *life) { l.Retrying(3, 0).Go(); retry(l, 2); l.Edited().Go() }, []int32{0, 1, 2, 3, 0, 1}, []int32{1},
		},
		"a suspension is another execution": {
			func(l *life) { l.Go().DriverRuns().Suspended(true).Go().Suspended(false).Go() }, []int32{0, 1, 2}, []int32{1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newborn(t)
			tt.live(l)
			var executions, submissions []int32
			for _, status := range l.statuses {
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

func retry(l *life, failures int) {
	for range failures {
		l.DriverRuns().DriverFails()
	}
}

// runSpec is a spec with a hash.
func runSpec(hash string) spec.Spec { return spec.Spec{Hash: func(int64) string { return hash }} }
