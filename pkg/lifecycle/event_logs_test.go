package lifecycle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// heldUpPod is a driver Pod whose sidecar for event logs does not start.
func heldUpPod(at time.Time, before ...corev1.ContainerStatus) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pi-driver", UID: "driver-0"}}
	pod.Status.Phase = corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at)}}
	pod.Status.InitContainerStatuses = slices.Concat(before, []corev1.ContainerStatus{{
		Name: eventlog.Container, Image: "absent", Started: ptr.To(false),
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
	}})
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: mainName, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}},
	}}
	return pod
}

func initEnded(code int32, at time.Time) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "init", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, FinishedAt: metav1.NewTime(at),
	}}}
}

func TestSidecarHoldsUpADriverFromWhenNothingElseDoes(t *testing.T) {
	change := func(change func(*corev1.PodStatus)) *corev1.Pod {
		pod := heldUpPod(start)
		change(&pod.Status)
		return pod
	}
	later := start.Add(time.Minute)
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		want time.Time
	}{
		"from its node on":              {heldUpPod(start), start},
		"from the end of another":       {heldUpPod(start, initEnded(0, later)), later},
		"while another runs":            {heldUpPod(start, corev1.ContainerStatus{Name: "init", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}), time.Time{}},
		"after another that failed":     {heldUpPod(start, initEnded(1, later)), time.Time{}},
		"without a node":                {change(func(s *corev1.PodStatus) { s.Conditions[0].Status = corev1.ConditionFalse }), time.Time{}},
		"once it runs":                  {change(func(s *corev1.PodStatus) { s.InitContainerStatuses[0].Started = ptr.To(true) }), time.Time{}},
		"in a cluster without sidecars": {change(func(s *corev1.PodStatus) { s.InitContainerStatuses[0].Started = nil }), start},
		"of another name":               {change(func(s *corev1.PodStatus) { s.InitContainerStatuses[0].Name = "vault-agent" }), time.Time{}},
		"while volumes are mounted": {change(func(s *corev1.PodStatus) {
			s.Conditions = append(s.Conditions, corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse})
		}), time.Time{}},
		"from when volumes are mounted": {change(func(s *corev1.PodStatus) {
			s.Conditions = append(s.Conditions, corev1.PodCondition{
				Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(later),
			})
		}), later},
		"of a Pod that runs": {change(func(s *corev1.PodStatus) { s.Phase = corev1.PodRunning }), time.Time{}},
	} {
		if got := ObserveDriver(test.pod, mainName).HeldUpSince; !got.Equal(test.want) {
			t.Errorf("%s: held up since %v, want %v", name, got, test.want)
		}
	}
}

func TestADriverIsReadyWithoutItsSidecar(t *testing.T) {
	for _, unready := range []string{eventlog.Container, "vault-agent"} {
		pod := &corev1.Pod{Status: corev1.PodStatus{
			Phase:                 corev1.PodRunning,
			Conditions:            []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ContainersNotReady"}},
			InitContainerStatuses: []corev1.ContainerStatus{{Name: unready}},
			ContainerStatuses:     []corev1.ContainerStatus{{Name: mainName, Ready: true}},
		}}
		if want := unready == eventlog.Container; ObserveDriver(pod, mainName).Ready != want {
			t.Errorf("with %s, the driver is ready: %t", unready, !want)
		}
	}
}

// The driver's end is that of its container, while the sidecar still sends.
func TestASidecarThatRunsOnDoesNotDelayTheEnd(t *testing.T) {
	for code, want := range map[int32]State{0: Succeeded, 1: Failed} {
		pod := &corev1.Pod{Status: corev1.PodStatus{
			Phase:                 corev1.PodRunning,
			InitContainerStatuses: []corev1.ContainerStatus{{Name: eventlog.Container, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
			ContainerStatuses:     []corev1.ContainerStatus{{Name: mainName, State: initEnded(code, start).State}},
		}}
		for _, main := range []string{"", mainName} {
			driver := ObserveDriver(pod, main)
			if driver.End == nil || driver.End.State != want || !driver.Stopped {
				t.Errorf("exit code %d with the main container %q: %+v, stopped %t", code, main, driver.End, driver.Stopped)
			}
		}
	}
}

// requested is an application whose driver was requested.
func requested() *v1alpha1.Record { return submitted().Requested().Obj() }

func TestDriverHeldUpByItsSidecarIsReplacedOnce(t *testing.T) {
	record, policy := requested(), Policy{}
	uid := record.Launch.DriverUID
	observe := func() Observation {
		driver := ObserveDriver(heldUpPod(start), "")
		driver.UID = uid
		return Observation{Driver: driver}
	}
	record, decision := Decide(record, policy, observe(), start.Add(59*time.Second))
	if decision.Changed || !decision.RequeueAt.Equal(start.Add(time.Minute)) {
		t.Fatalf("within its time: %+v", decision)
	}
	record, decision = Decide(record, policy, observe(), start.Add(time.Minute))
	if !decision.Changed || decision.Effect != Release || CurrentState(record) != DriverRequested || !strings.Contains(record.Launch.HeldUp, "absent") {
		t.Fatalf("after its time: %+v, %+v", decision, record.Launch)
	}
	seen := observe()
	seen.ReleaseAccepted = true
	record, decision = Decide(record, policy, seen, start.Add(time.Minute))
	if decision.Changed || decision.Held != HeldDriverTerminating {
		t.Fatalf("while it terminates: %+v", decision)
	}
	record, decision = Decide(record, policy, Observation{DriverGone: true}, start.Add(time.Minute))
	if decision.Effect != Launch || CurrentState(record) != ScheduledToRestart || record.Attempt.ID != 0 || record.Launch != nil ||
		!strings.Contains(record.Attempt.WithoutEventLogs, "1m0s") || Executions(record) != 1 {
		t.Fatalf("once it is gone: %+v, %+v", decision, record.Attempt)
	}
	record.Launch = &v1alpha1.Launch{ID: "again", DriverPod: "pi-driver"}
	record, decision = Decide(record, policy, Observation{Launched: types.UID("driver-1")}, start.Add(time.Minute))
	if CurrentState(record) != DriverRequested || Executions(record) != 1 {
		t.Fatalf("launched again: %+v", decision)
	}
	uid = "driver-1"
	if _, decision = Decide(record, policy, observe(), start.Add(time.Hour)); decision.Changed || decision.Effect != NoEffect {
		t.Errorf("held up again: %+v", decision)
	}
}

func TestDriverThatStartsAfterAllIsNotReplaced(t *testing.T) {
	record := requested()
	record.Launch.HeldUp = "it held up the driver"
	for name, driver := range map[string]*Driver{
		"started": {UID: record.Launch.DriverUID, Started: true},
		"ended":   {UID: record.Launch.DriverUID, End: &End{State: Succeeded}},
	} {
		decided, decision := Decide(record, Policy{}, Observation{Driver: driver}, start)
		if decision.Effect == Release && name == "started" || decided.Launch.HeldUp != "" || CurrentState(decided) == DriverRequested {
			t.Errorf("%s: %+v in %s", name, decision, CurrentState(decided))
		}
	}
	decided, decision := Decide(record, Policy{Stop: StoppedCause("me")}, Observation{}, start)
	if CurrentState(decided) != Failed || decision.Effect != Release {
		t.Errorf("stopped: %+v in %s", decision, CurrentState(decided))
	}
}

func TestDriverRefusedWithItsSidecarIsLaunchedOnceMore(t *testing.T) {
	record := submitted().Fenced().Obj()
	refused := &Cause{Class: ClassScheduling, Reason: "Forbidden", Message: "Pod a/pi-driver was refused: no sidecars here."}
	record, decision := Decide(record, Policy{}, Observation{RefusedWithEventLogs: refused}, start)
	if !decision.Changed || decision.Effect != Launch || CurrentState(record) != Submitted || record.Launch == nil ||
		record.Attempt.WithoutEventLogs != "it was refused with it (Pod a/pi-driver was refused: no sidecars here)" {
		t.Fatalf("%+v, %+v", decision, record.Attempt)
	}
	record, _ = Decide(record, Policy{}, Observation{LaunchRefused: refused}, start)
	if record.Transitions[1].State != string(SchedulingFailure) {
		t.Errorf("refused again, the states are %+v", record.Transitions)
	}
}
