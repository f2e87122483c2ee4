package status_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// ownDriver is the driver of the submission that a status shows.
func ownDriver(app *v1beta2.SparkApplication) *corev1.Pod {
	return driverOf(app, app.Status.SubmissionID)
}

// lostDriver is the driver of a submission whose status was never written.
func lostDriver(app *v1beta2.SparkApplication) *corev1.Pod {
	return driverOf(app, "0c1d2e3f-4a5b-4c6d-8e7f-a0b1c2d3e4f5")
}

func driverOf(app *v1beta2.SparkApplication, submission string) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.UID = app.Namespace, app.Name+"-driver", types.UID("uid-of-"+submission)
	pod.CreationTimestamp = second(10)
	pod.Labels = map[string]string{
		names.LabelApplication: app.Name, names.LabelSubmission: submission, "spark-role": "driver",
		"spark-app-selector": "spark-0d6a7f7c3a1049e2b1c05f3e2d1c0b9a",
	}
	pod.Status.Phase = corev1.PodRunning
	return pod
}

func in(phase corev1.PodPhase, pod *corev1.Pod) *corev1.Pod {
	pod.Status.Phase = phase
	return pod
}

func terminating(pod *corev1.Pod) *corev1.Pod {
	pod.DeletionTimestamp = &metav1.Time{Time: beginning}
	return pod
}

// adopted is the record of an application with the driver that there is, if any.
func adopted(t *testing.T, app *v1beta2.SparkApplication, pod *corev1.Pod) *v1alpha1.Record {
	t.Helper()
	var pods []corev1.Pod
	if pod != nil {
		pods = append(pods, *pod)
	}
	driver, _ := status.PickDriver(app, pods)
	return status.Adopt(app, policyOf(app), inherited(t, app), driver)
}

// next is what the lifecycle does first with an application that was adopted: the state that it comes to by itself, or the
// effect that it has, after the time of the status.
func next(t *testing.T, app *v1beta2.SparkApplication, pod *corev1.Pod) (lifecycle.State, lifecycle.Decision) {
	t.Helper()
	record := adopted(t, app, pod)
	policy, seen := policyOf(app), lifecycle.Observation{}
	if launch := record.Launch; launch != nil && !launch.Released {
		seen.Driver = lifecycle.ObserveDriver(pod, policy.MainContainer)
	}
	record, decision := lifecycle.Decide(record, policy, seen, second(205).Time)
	for decision.Effect == lifecycle.Persist {
		record, decision = lifecycle.Decide(record, policy, decision.Seen, second(205).Time)
	}
	return lifecycle.CurrentState(record), decision
}

func TestAdoptContinuesEachState(t *testing.T) {
	type outcome struct {
		state  lifecycle.State
		effect lifecycle.Effect
		awaits lifecycle.Awaited
	}
	const (
		gone     = lifecycle.Failed
		retained = lifecycle.TerminatedWithoutReleaseResources
	)
	for name, tt := range map[string]struct{ alone, withDriver, withLost outcome }{
		"new": {
			alone: outcome{state: lifecycle.Submitted, effect: lifecycle.Launch}, // and its driver is none of another submission
		},
		"submitted":         {outcome{state: retained}, outcome{state: lifecycle.DriverRequested}, outcome{state: lifecycle.DriverRequested}},
		"pending":           {outcome{state: retained}, outcome{state: lifecycle.DriverRequested}, outcome{state: lifecycle.DriverRequested}},
		"running":           {outcome{state: retained}, outcome{state: lifecycle.RunningHealthy}, outcome{state: lifecycle.RunningHealthy}},
		"running-again":     {outcome{gone, "", "restart"}, outcome{state: lifecycle.RunningHealthy}, outcome{state: lifecycle.RunningHealthy}},
		"unknown":           {outcome{state: retained}, outcome{state: lifecycle.DriverRequested}, outcome{state: lifecycle.DriverRequested}},
		"succeeding":        {outcome{state: retained}, outcome{state: retained}, outcome{state: retained}},
		"succeeding-always": {outcome{lifecycle.Succeeded, "", "restart"}, outcome{lifecycle.Succeeded, "", "restart"}, outcome{lifecycle.Succeeded, "", "restart"}},
		"completed":         {outcome{state: retained}, outcome{state: retained}, outcome{state: retained}},
		"completed-ttl":     {outcome{state: retained}, outcome{state: retained}, outcome{state: retained}},
		"failing":           {outcome{lifecycle.Failed, "", "restart"}, outcome{lifecycle.Failed, "", "restart"}, outcome{lifecycle.Failed, "", "restart"}},
		"failing-last":      {outcome{state: retained}, outcome{state: retained}, outcome{state: retained}},
		"failed":            {outcome{state: retained}, outcome{state: retained}, outcome{state: retained}},
		"failed-ttl":        {outcome{state: retained}, outcome{state: retained}, outcome{state: retained}},
		"failed-submission": {outcome{state: retained}, outcome{state: retained}, outcome{state: retained}},
		"submission-failed": {
			outcome{lifecycle.SchedulingFailure, "", "restart"}, outcome{state: lifecycle.DriverRequested}, outcome{state: lifecycle.DriverRequested},
		},
		"submission-failed-again": {
			outcome{lifecycle.SchedulingFailure, "", "restart"}, outcome{state: lifecycle.DriverRequested}, outcome{state: lifecycle.DriverRequested},
		},
		"pending-rerun": {
			outcome{lifecycle.ScheduledToRestart, lifecycle.Launch, ""}, outcome{lifecycle.ScheduledToRestart, lifecycle.Launch, ""},
			outcome{state: lifecycle.DriverRequested},
		},
		"pending-rerun-edited": {
			outcome{lifecycle.ScheduledToRestart, lifecycle.Launch, ""}, outcome{lifecycle.ScheduledToRestart, lifecycle.Launch, ""},
			outcome{state: lifecycle.DriverRequested},
		},
		"invalidating": {
			outcome{lifecycle.ScheduledToRestart, lifecycle.Launch, ""}, outcome{lifecycle.Invalidating, lifecycle.Release, ""},
			outcome{lifecycle.Invalidating, lifecycle.Release, ""},
		},
		"invalidating-completed": {
			outcome{lifecycle.ScheduledToRestart, lifecycle.Launch, ""}, outcome{lifecycle.Invalidating, lifecycle.Release, ""},
			outcome{lifecycle.Invalidating, lifecycle.Release, ""},
		},
		"suspending": {
			outcome{state: lifecycle.Suspended}, outcome{lifecycle.Suspending, lifecycle.Release, ""},
			outcome{lifecycle.Suspending, lifecycle.Release, ""},
		},
		"suspending-new": {alone: outcome{state: lifecycle.Suspended}},
		"suspended":      {outcome{state: lifecycle.Suspended}, outcome{state: lifecycle.Suspended}, outcome{state: lifecycle.Suspended}},
		"suspended-new":  {alone: outcome{state: lifecycle.Suspended}},
		"resuming": {
			outcome{lifecycle.Resuming, lifecycle.Launch, ""}, outcome{lifecycle.Resuming, lifecycle.Launch, ""},
			outcome{state: lifecycle.DriverRequested},
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := leftIn(t, name)
			for pod, want := range map[*corev1.Pod]outcome{nil: tt.alone, ownDriver(app): tt.withDriver, lostDriver(app): tt.withLost} {
				state, decision := next(t, app, pod)
				if got := (outcome{state, decision.Effect, decision.Awaits}); want != (outcome{}) && got != want {
					t.Errorf("with driver %v: %+v, want %+v", pod != nil && pod.UID != "", got, want)
				}
			}
		})
	}
}

func TestAdoptPicksTheDriverAndDeletesTheOthers(t *testing.T) {
	for name, tt := range map[string]struct {
		app    string
		pods   func(*v1beta2.SparkApplication) []*corev1.Pod
		picked int // -1 for none
	}{
		"the one of the status's submission": {"running", func(a *v1beta2.SparkApplication) []*corev1.Pod {
			return []*corev1.Pod{renamed(lostDriver(a), "other"), ownDriver(a)}
		}, 1},
		"that, even where it is going": {"running", func(a *v1beta2.SparkApplication) []*corev1.Pod {
			return []*corev1.Pod{terminating(ownDriver(a))}
		}, 0},
		"the one that the operator looks at": {"running", func(a *v1beta2.SparkApplication) []*corev1.Pod {
			return []*corev1.Pod{lostDriver(a)}
		}, 0},
		"none of another name and submission": {"running", func(a *v1beta2.SparkApplication) []*corev1.Pod {
			return []*corev1.Pod{renamed(lostDriver(a), "other")}
		}, -1},
		"the one that was made before any status": {"new", func(a *v1beta2.SparkApplication) []*corev1.Pod {
			return []*corev1.Pod{lostDriver(a)}
		}, 0},
		"none that is going, before any status": {"new", func(a *v1beta2.SparkApplication) []*corev1.Pod {
			return []*corev1.Pod{terminating(lostDriver(a))}
		}, -1},
		"not the one of the run before": {"pending-rerun", func(a *v1beta2.SparkApplication) []*corev1.Pod {
			return []*corev1.Pod{ownDriver(a)}
		}, -1},
		"the one of the rerun": {"pending-rerun", func(a *v1beta2.SparkApplication) []*corev1.Pod {
			return []*corev1.Pod{ownDriver(a), lostDriver(a)}
		}, 1},
		"not one that cannot start, of a submission that failed": {"submission-failed", func(a *v1beta2.SparkApplication) []*corev1.Pod {
			return []*corev1.Pod{in(corev1.PodPending, ownDriver(a))}
		}, -1},
		"the one that made the submission fail": {"submission-failed", func(a *v1beta2.SparkApplication) []*corev1.Pod {
			return []*corev1.Pod{in(corev1.PodPending, lostDriver(a))}
		}, 0},
		"one that lives rather than one that has ended": {"submission-failed", func(a *v1beta2.SparkApplication) []*corev1.Pod {
			return []*corev1.Pod{in(corev1.PodFailed, lostDriver(a)), lostDriver(a)}
		}, 1},
		"none of what is suspended": {"suspended", func(a *v1beta2.SparkApplication) []*corev1.Pod {
			return []*corev1.Pod{ownDriver(a), lostDriver(a)}
		}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			app := leftIn(t, tt.app)
			var pods []corev1.Pod
			for i, pod := range tt.pods(app) {
				pod.UID = types.UID(string(rune('0' + i)))
				pods = append(pods, *pod)
			}
			driver, others := status.PickDriver(app, pods)
			got := -1
			if driver != nil {
				got = int(driver.UID[0] - '0')
			}
			if got != tt.picked || len(others) != len(pods)-min(tt.picked+1, 1) {
				t.Errorf("picked %d, and %d go; want %d", got, len(others), tt.picked)
			}
		})
	}
}

func renamed(pod *corev1.Pod, name string) *corev1.Pod {
	pod.Name = name
	return pod
}

func TestAdoptedLaunchHasTheExistingNames(t *testing.T) {
	app := leftIn(t, "running")
	launch := adopted(t, app, ownDriver(app)).Launch
	if launch.DriverUID != ownDriver(app).UID || launch.DriverPod != "running-driver" ||
		launch.ApplicationID != app.Status.SparkApplicationID || launch.Released {
		t.Errorf("with a driver: %+v", launch)
	}
	launch = adopted(t, app, nil).Launch
	if launch.DriverUID != "" || launch.DriverPod != "running-driver" || !launch.Released {
		t.Errorf("without: %+v", launch)
	}
	for _, name := range []string{"new", "pending-rerun", "resuming", "suspended", "submission-failed"} {
		if launch := adopted(t, leftIn(t, name), nil).Launch; launch != nil {
			t.Errorf("%s without a driver has a launch: %+v", name, launch)
		}
	}
}

// The submission that made a driver is counted and published, although the status does not have it.
func TestAdoptReportsADriverThatTheStatusLacks(t *testing.T) {
	for name, executions := range map[string]int32{"new": 1, "pending-rerun": 3, "resuming": 2, "submission-failed": 1} {
		app := leftIn(t, name)
		record := adopted(t, app, lostDriver(app))
		status.Project(&app.Status, record, status.Executors{})
		if got := app.Status; got.AppState.State != v1beta2.SubmittedState || got.ExecutionAttempts != executions ||
			got.AppState.ErrorMessage != "" || got.DriverInfo.PodName != name+"-driver" {
			t.Errorf("%s: %+v", name, got)
		}
		if record.Acknowledged >= record.Sequence {
			t.Errorf("%s: %d of %d are told", name, record.Acknowledged, record.Sequence)
		}
	}
}
