package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
)

// byUser returns the manifest of an application whose driver the user starts. Its image is no reason to refuse it.
func byUser(name, field string) string {
	manifest := strings.Replace(earlyPi(name), "  mode: cluster\n", "", 1)
	return strings.ReplaceAll(strings.Replace(manifest, "spec:\n", "spec:\n  "+field+"\n", 1), "docker.io/library/spark:4.1.1", "kubespark/spark:v2.2.0")
}

// awaitingUser waits until an application waits for the driver of its user.
func (s *env) awaitingUser(name string) *v1alpha1.SparkApplication {
	s.Helper()
	return until(s, s.earlyApps(), name, "wait for its user", func(app *v1alpha1.SparkApplication) bool {
		succeeded := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionSucceeded)
		return app.Status.AppState.State == v1alpha1.NewState && succeeded != nil && succeeded.Reason == "AwaitsUserDriver"
	})
}

// startAsUser starts a driver with a name for an application, as spark-submit does.
func (s *env) startAsUser(app *v1alpha1.SparkApplication, name string, change ...func(*corev1.Pod)) *driver {
	s.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			"spark-role": "driver", submission.LabelApplicationID: "spark-" + name, early.LabelAppID: app.Status.AppID,
		}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "spark-kubernetes-driver", Image: "spark"}}},
	}
	for _, change := range change {
		change(pod)
	}
	_, err := s.Kube.CoreV1().Pods(s.ns).Create(s.Context(), pod, metav1.CreateOptions{})
	s.must(err)
	return s.kubeflowDriver(strings.TrimSuffix(name, "-driver"))
}

func (d *driver) runAt(ip string) *driver {
	d.env.Helper()
	return d.set(func(status *corev1.PodStatus) {
		status.HostIP, status.HostIPs = ip, []corev1.HostIP{{IP: ip}}
		kubelet.Started(status)
	})
}

func (s *env) wantPod(d *driver) {
	s.Helper()
	if pod, err := s.Kube.CoreV1().Pods(s.ns).Get(s.Context(), d.Name, metav1.GetOptions{}); err != nil || pod.UID != d.UID || pod.DeletionTimestamp != nil {
		s.Errorf("the Pod %s is not left as it is: %v", d.Name, err)
	}
}

func followEarly(s *env) {
	other := s.untilEarly("life", v1alpha1.CompletedState) // the garbage collector deletes what belongs to none
	before := len(s.requestsAtRest())
	began := time.Now()
	s.applyEarly(byUser("by-user", "submissionByUser: true"))
	app := s.awaitingUser("by-user")
	if message := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionSucceeded).Message; app.Status.AppID != early.AppID(app) ||
		!strings.Contains(message, "spark.kubernetes.driver.label."+early.LabelAppID+"="+app.Status.AppID) {
		s.Errorf("it waits as %q: %s", app.Status.AppID, message)
	}
	service, err := s.Kube.CoreV1().Services(s.ns).Get(s.Context(), early.UIServiceName(app), metav1.GetOptions{})
	s.must(err)
	if !metav1.IsControlledBy(service, app) || service.Spec.Ports[0].NodePort != nodePort {
		s.Errorf("the Service of the UI is %+v %+v", service.ObjectMeta, service.Spec)
	}
	for name, change := range map[string]func(*corev1.Pod){ // none is the driver of its user
		"forged-driver": func(pod *corev1.Pod) { pod.Labels[dialect.LabelLaunch] = "0123456789abcdef0123456789abcdef" },
		"of-other-driver": func(pod *corev1.Pod) {
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "SparkApplication", Name: other.Name, UID: other.UID}}
		},
		"elsewhere-driver": func(pod *corev1.Pod) { pod.Labels[early.LabelAppID] += "0" },
	} {
		s.startAsUser(app, name, change)
	}

	d := s.startAsUser(app, "mine-driver")
	if !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(d.Labels)) {
		s.Errorf("the Service of the UI does not select %v", d.Labels)
	}
	s.untilEarly("by-user", v1alpha1.SubmittedState)
	d.runAt(host)
	running := until(s, s.earlyApps(), "by-user", "show its UI", func(app *v1alpha1.SparkApplication) bool {
		return app.Status.DriverInfo.WebUIURL == fmt.Sprintf("%s:%d", host, nodePort)
	})
	if running.Status.AppState.State != v1alpha1.RunningState || running.Status.DriverInfo.PodName != d.Name || running.Status.Firesteel.Launch.DriverUID != d.UID {
		s.Errorf("running it shows %+v", running.Status)
	}
	if condition := meta.FindStatusCondition(running.Status.Conditions, "Warning"); condition != nil {
		s.Errorf("it has a warning: %s", condition.Message)
	}
	change := time.Now()
	d.earlyExecutor("by-user-exec-1").start()
	until(s, s.earlyApps(), "by-user", "show its executor", func(app *v1alpha1.SparkApplication) bool {
		return app.Status.ExecutorState["by-user-exec-1"] == v1alpha1.ExecutorRunningState
	})
	changing := time.Since(change)
	second := s.startAsUser(app, "second-driver")
	warned := until(s, s.earlyApps(), "by-user", "have a warning", func(app *v1alpha1.SparkApplication) bool {
		return meta.IsStatusConditionTrue(app.Status.Conditions, "Warning")
	})
	if message := meta.FindStatusCondition(warned.Status.Conditions, "Warning").Message; !strings.Contains(message, "beside mine-driver") || !strings.Contains(message, "second-driver") {
		s.Errorf("the warning is %q", message)
	}
	s.applyEarly(strings.Replace(byUser("by-user", "submissionByUser: true"), "mainClass: ", "mainClass: other.", 1)) // it concerns no driver that runs
	d.succeed()
	s.untilEarly("by-user", v1alpha1.CompletedState)
	untilGone(s, s.Kube.CoreV1().Services(s.ns), service.Name)
	second.exit(1)
	requests := s.requestsSince(before, "by-user")
	s.wantPod(d)
	s.wantPod(second)
	completed := s.untilEarly("by-user", v1alpha1.CompletedState)
	var states []string
	for _, transition := range completed.Status.Firesteel.Transitions {
		states = append(states, transition.State)
	}
	want := []string{"Submitted", "DriverRequested", "DriverStarted", "Succeeded", "TerminatedWithoutReleaseResources"}
	if !slices.Equal(states, want) {
		s.Errorf("its transitions are %q, want %q", states, want)
	}
	s.untilPublished(completed, want...)
	s.untilUIAddress("by-user", true)
	for _, reason := range []string{"SparkApplicationSubmitted", "SparkApplicationCompleted"} {
		s.untilKubeEvent("by-user", corev1.EventTypeNormal, reason)
	}
	s.wantWithinBudget(map[string]int{
		"create services": 1, "delete services": 1, "patch sparkapplications": 1, "create events": 2,
		"update sparkapplications/status": 10 + int(changing/time.Second) + int(time.Since(began)/(30*time.Second)),
	}, requests)

	s.must(s.earlyApps().Delete(s.Context(), "by-user", metav1.DeleteOptions{}))
	untilGone(s, s.earlyApps(), "by-user")
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
	s.wantPod(second)
}

// followInCluster follows the Pod that an application names, and no other.
func followInCluster(s *env) {
	s.applyEarly(strings.Replace(byUser("inside", "mode: in-cluster-client"), "  driver:\n", "  driver:\n    podName: named-driver\n", 1))
	app := s.awaitingUser("inside")
	other := s.startAsUser(app, "unnamed-driver")
	named := s.startAsUser(app, "named-driver", func(pod *corev1.Pod) {
		delete(pod.Labels, submission.LabelApplicationID)
		pod.Spec.Containers[0].Name = "notebook"
	}).runAt(host)
	s.untilEarly("inside", v1alpha1.RunningState)
	s.must(s.Kube.CoreV1().Pods(s.ns).Delete(s.Context(), named.Name, metav1.DeleteOptions{}))
	failed := s.untilEarly("inside", v1alpha1.FailedState)
	if !strings.Contains(failed.Status.AppState.ErrorMessage, "143") {
		s.Errorf("it failed by %q", failed.Status.AppState.ErrorMessage)
	}
	until(s, s.earlyApps(), "inside", "hold no finalizer", func(app *v1alpha1.SparkApplication) bool { return len(app.Finalizers) == 0 })
	s.wantPod(other)
}

// editFollowed lets Firesteel run an application whose user started a driver: that driver ends first.
func editFollowed(s *env) {
	s.applyEarly(byUser("switched", "submissionByUser: true"))
	first := s.startAsUser(s.awaitingUser("switched"), "own-driver").runAt(host)
	s.untilEarly("switched", v1alpha1.RunningState)
	s.applyEarly(earlyPi("switched"))
	until(s, s.earlyApps(), "switched", "observe the edit", func(app *v1alpha1.SparkApplication) bool {
		return app.Status.ObservedGeneration == app.Generation && app.Status.AppState.State == v1alpha1.RunningState
	})
	first.exit(3)
	s.runEarly("switched").succeed()
	s.untilEarly("switched", v1alpha1.CompletedState)
	s.wantPod(first)
	s.applyEarly(byUser("switched", "submissionByUser: true"))
	again := s.awaitingUser("switched") // not for the driver of an earlier run
	last := s.startAsUser(again, "again-driver").runAt(host)
	s.untilEarly("switched", v1alpha1.RunningState)
	last.succeed()
	s.untilEarly("switched", v1alpha1.CompletedState)
	s.wantPod(first)
}

// leaveToUser lets the user start the driver of an application that Firesteel runs: its own driver is stopped first.
func leaveToUser(s *env) {
	s.applyEarly(earlyPi("left-to-user"))
	own := s.runEarly("left-to-user")
	s.applyEarly(byUser("left-to-user", "submissionByUser: true"))
	waiting := s.awaitingUser("left-to-user")
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), own.Name)
	d := s.startAsUser(waiting, "taken-over-driver").runAt(host)
	s.untilEarly("left-to-user", v1alpha1.RunningState)
	d.succeed()
	s.untilEarly("left-to-user", v1alpha1.CompletedState)
	if drivers := s.untilHad("left-to-user", 1); len(drivers) != 1 {
		s.Errorf("Firesteel created %d drivers", len(drivers))
	}
}

// relabelFollowed takes the label from a driver that is followed. The application follows it on, and says how to restore the label.
func relabelFollowed(s *env) {
	s.applyEarly(byUser("relabelled", "submissionByUser: true"))
	app := s.awaitingUser("relabelled")
	d := s.startAsUser(app, "relabelled-driver").runAt(host)
	s.untilEarly("relabelled", v1alpha1.RunningState)
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, early.LabelAppID)
	_, err := s.Kube.CoreV1().Pods(s.ns).Patch(s.Context(), d.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	s.must(err)
	until(s, s.earlyApps(), "relabelled", "name the label", func(app *v1alpha1.SparkApplication) bool {
		return slices.ContainsFunc(app.Status.Conditions, func(c metav1.Condition) bool {
			return strings.Contains(c.Message, "label "+early.LabelAppID+" is missing")
		})
	})
	second := s.startAsUser(app, "relabelled-2-driver").runAt(host) // it has the label now, and is not followed
	d.exit(3)
	failed := s.untilEarly("relabelled", v1alpha1.FailedState)
	if failed.Status.DriverInfo.PodName != d.Name || !strings.Contains(failed.Status.AppState.ErrorMessage, "3") {
		s.Errorf("it shows %+v", failed.Status)
	}
	s.must(s.earlyApps().Delete(s.Context(), "relabelled", metav1.DeleteOptions{}))
	untilGone(s, s.earlyApps(), "relabelled")
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
	s.wantPod(second)
}

// deleteFollowed deletes an application while its user's driver runs, and one whose user never started any.
func deleteFollowed(s *env) {
	s.applyEarly(byUser("stopped", "submissionByUser: true"))
	d := s.startAsUser(s.awaitingUser("stopped"), "stopped-driver").runAt(host)
	s.untilEarly("stopped", v1alpha1.RunningState)
	s.must(s.earlyApps().Delete(s.Context(), "stopped", metav1.DeleteOptions{}))
	untilGone(s, s.earlyApps(), "stopped")
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)

	s.applyEarly(byUser("never", "submissionByUser: true"))
	never := s.awaitingUser("never")
	s.must(s.earlyApps().Delete(s.Context(), "never", metav1.DeleteOptions{}))
	untilGone(s, s.earlyApps(), "never")
	untilGone(s, s.Kube.CoreV1().Services(s.ns), early.UIServiceName(never))
}

// crashFollowed kills the controller around the writes about a driver that a user starts: that driver is followed, and no other.
func crashFollowed(m *crashEnv, t *testing.T) {
	for _, at := range []trap{{at: 1, answered: true}, {at: 3}, {at: 4}, {at: 4, answered: true}} {
		m.use(t)
		at.spring = m.restartController
		m.apiServer.setTrap(m.name, at)
		m.applyEarly(byUser(m.name, "submissionByUser: true"))
		app := m.awaitingUser(m.name)
		d := m.startAsUser(app, m.name+"-driver").runAt(host)
		m.untilEarly(m.name, v1alpha1.RunningState)
		if !m.untilDead() {
			t.Error("the controller was not killed")
		}
		other := m.startAsUser(app, m.name+"-2-driver")
		d.succeed()
		completed := m.untilEarly(m.name, v1alpha1.CompletedState)
		if uid := completed.Status.Firesteel.Launch.DriverUID; uid != d.UID {
			t.Errorf("killed around write %d, it followed %s instead of %s", at.at, uid, d.UID)
		}
		m.wantPod(other)
	}
}
