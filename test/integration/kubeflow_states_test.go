package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
)

// kubeflowApplication creates an application of the Kubeflow kind. It returns it as it was before any reconcile.
func (s *env) kubeflowApplication(manifest string) *v1beta2.SparkApplication {
	s.Helper()
	text, err := s.submitted(manifest).MarshalJSON()
	s.must(err)
	app := &v1beta2.SparkApplication{}
	s.must(json.Unmarshal(text, app))
	return app
}

// untilKubeflowCondition waits for a condition of an application of the Kubeflow operator's.
func (s *env) untilKubeflowCondition(name, kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	s.Helper()
	var found metav1.Condition
	until(s, s.kubeflowApps(), name, fmt.Sprintf("have the condition %s=%s/%s", kind, status, reason), func(app *v1beta2.SparkApplication) bool {
		c := meta.FindStatusCondition(app.Status.Conditions, kind)
		if c == nil || c.Status != status || c.Reason != reason {
			return false
		}
		found = *c
		return true
	})
	return found
}

func (s *env) suspend(name string, suspend bool) {
	s.Helper()
	patch := `{"spec":{"suspend":false}}`
	if suspend {
		patch = `{"spec":{"suspend":true}}`
	}
	s.patched(kubeflowApplications, name, patch)
}

// runPi has the driver of SparkPi run, and waits until all that follows from it is recorded: RUNNING is shown before the driver is ready.
func (s *env) runPi() *driver {
	s.Helper()
	s.untilShown("spark-pi", v1beta2.SubmittedState)
	d := s.kubeflowDriver("spark-pi").start().ready()
	until(s, s.kubeflowApps(), "spark-pi", "run", func(app *v1beta2.SparkApplication) bool {
		state := lifecycle.CurrentState(app.Status.Firesteel)
		return app.Status.AppState.State == v1beta2.RunningState && state.DriverRuns() && state != lifecycle.DriverStarted
	})
	return d
}

// statesSince are the states that an application showed since it was as it is given, each once where it follows itself.
func (s *env) statesSince(app *v1beta2.SparkApplication, last v1beta2.ApplicationStateType) []v1beta2.ApplicationStateType {
	s.Helper()
	return s.statesIn(s.revisionsSince(app), app, last)
}

// revisionsSince watches an application since it was as it is given. The API server has the revisions of the last minute or so only.
func (s *env) revisionsSince(app *v1beta2.SparkApplication) watch.Interface {
	s.Helper()
	w, err := s.kubeflowApps().Watch(s.Context(), metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", app.Name).String(), ResourceVersion: app.ResourceVersion,
	})
	s.must(err)
	s.Cleanup(w.Stop)
	return w
}

// statesIn are those of statesSince, of the revisions since the application was as it is given.
func (s *env) statesIn(revisions watch.Interface, app *v1beta2.SparkApplication, last v1beta2.ApplicationStateType) []v1beta2.ApplicationStateType {
	s.Helper()
	s.untilShown(app.Name, last)
	end, err := s.kubeflowApps().Get(s.Context(), app.Name, metav1.GetOptions{})
	s.must(err)
	late := time.AfterFunc(timeout, revisions.Stop)
	defer late.Stop()
	states := []v1beta2.ApplicationStateType{app.Status.AppState.State}
	for event := range revisions.ResultChan() {
		shown, ok := event.Object.(*v1beta2.SparkApplication)
		if !ok {
			s.Fatalf("the watch answers %v", event.Object)
		}
		if state := shown.Status.AppState.State; state != states[len(states)-1] {
			states = append(states, state)
		}
		if shown.ResourceVersion == end.ResourceVersion {
			return states
		}
	}
	s.Fatalf("the watch ends after %v", states)
	return nil
}

// An application has the Kubeflow operator's states in its order, and the sink acknowledges each transition once.
func TestKubeflowStatesComeInUpstreamsOrder(t *testing.T) {
	t.Parallel()
	for name, story := range map[string]struct {
		spec  string
		goes  func(*env)
		last  v1beta2.ApplicationStateType
		shows string
		// says is the final error message.
		says string
	}{
		"a success": {
			goes: func(s *env) { s.runPi().succeed() },
			last: v1beta2.CompletedState, shows: "New SUBMITTED RUNNING SUCCEEDING COMPLETED",
		},
		"a failure": {
			goes: func(s *env) { s.runPi().exit(3) },
			last: v1beta2.FailedState, shows: "New SUBMITTED RUNNING FAILING FAILED",
			says: "driver container failed with ExitCode: 3, Reason: Error",
		},
		"a failure that is tried again": {
			spec: "restartPolicy: {type: OnFailure, onFailureRetries: 1, onFailureRetryInterval: 1}",
			goes: func(s *env) {
				s.runPi().exit(1)
				s.runPi().exit(1)
			},
			last: v1beta2.FailedState, shows: "New SUBMITTED RUNNING FAILING PENDING_RERUN SUBMITTED RUNNING FAILING FAILED",
			says: "driver container failed with ExitCode: 1, Reason: Error",
		},
		"a submission that fails and is tried again": {
			spec: "restartPolicy: {type: OnFailure, onSubmissionFailureRetries: 1, onSubmissionFailureRetryInterval: 1}",
			goes: func(*env) {},
			last: v1beta2.FailedState, shows: "New SUBMISSION_FAILED FAILED",
			says: "failed to run spark-submit",
		},
		"a success that runs again": {
			spec: "restartPolicy: {type: Always}",
			goes: func(s *env) {
				s.runPi().succeed()
				s.runPi()
				s.patched(kubeflowApplications, "spark-pi", `{"spec":{"suspend":true}}`)
			},
			last:  v1beta2.SuspendedState,
			shows: "New SUBMITTED RUNNING SUCCEEDING PENDING_RERUN SUBMITTED RUNNING SUSPENDING SUSPENDED",
		},
		"a suspension": {
			goes: func(s *env) {
				s.runPi()
				s.suspend("spark-pi", true)
				s.untilShown("spark-pi", v1beta2.SuspendedState)
				s.suspend("spark-pi", false)
				s.runPi().succeed()
			},
			last:  v1beta2.CompletedState,
			shows: "New SUBMITTED RUNNING SUSPENDING SUSPENDED RESUMING SUBMITTED RUNNING SUCCEEDING COMPLETED",
		},
		"one that is suspended from the beginning": {
			spec: "suspend: true",
			goes: func(s *env) {
				s.untilShown("spark-pi", v1beta2.SuspendedState)
				s.suspend("spark-pi", false)
				s.runPi().succeed()
			},
			last: v1beta2.CompletedState, shows: "New SUSPENDING SUSPENDED RESUMING SUBMITTED RUNNING SUCCEEDING COMPLETED",
		},
		"an edit while it runs": {
			goes: func(s *env) {
				s.runPi()
				s.patched(kubeflowApplications, "spark-pi", `{"spec":{"arguments":["7"]}}`)
				s.untilShown("spark-pi", v1beta2.SubmittedState)
				s.runPi().succeed()
			},
			last: v1beta2.CompletedState, shows: "New SUBMITTED RUNNING INVALIDATING PENDING_RERUN SUBMITTED RUNNING SUCCEEDING COMPLETED",
		},
		"an edit after its end": {
			goes: func(s *env) {
				s.runPi().exit(1)
				s.untilShown("spark-pi", v1beta2.FailedState)
				s.patched(kubeflowApplications, "spark-pi", `{"spec":{"arguments":["7"]}}`)
				s.runPi().succeed()
			},
			last:  v1beta2.CompletedState,
			shows: "New SUBMITTED RUNNING FAILING FAILED INVALIDATING PENDING_RERUN SUBMITTED RUNNING SUCCEEDING COMPLETED",
		},
		"a driver that is deleted by hand": {
			goes: func(s *env) {
				d := s.runPi()
				s.must(s.Kube.CoreV1().Pods(s.ns).Delete(s.Context(), d.Name, metav1.DeleteOptions{}))
			},
			last: v1beta2.FailedState, shows: "New SUBMITTED RUNNING FAILING FAILED",
		},
		"a driver that is gone without a word": {
			goes: func(s *env) {
				d := s.runPi()
				s.kubelet.Pause(s.ns)
				now := int64(0)
				s.must(s.Kube.CoreV1().Pods(s.ns).Delete(s.Context(), d.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
			},
			last: v1beta2.FailedState, shows: "New SUBMITTED RUNNING FAILING FAILED",
			says: "driver pod not found",
		},
		"a node that is silent for a while": {
			goes: func(s *env) {
				d := s.runPi()
				d.set(func(status *corev1.PodStatus) { status.Phase = corev1.PodUnknown })
				s.untilShown("spark-pi", v1beta2.UnknownState)
				d.set(func(status *corev1.PodStatus) { status.Phase = corev1.PodRunning })
				s.untilShown("spark-pi", v1beta2.RunningState)
				d.succeed()
			},
			last: v1beta2.CompletedState, shows: "New SUBMITTED RUNNING UNKNOWN RUNNING SUCCEEDING COMPLETED",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			manifest := sparkPi("4.1.1")
			if story.spec != "" {
				manifest = withSpec(s, manifest, story.spec)
			}
			if story.last == v1beta2.FailedState && contains(story.shows, "SUBMISSION_FAILED") {
				s.limit("pods", "0")
			}
			app := s.kubeflowApplication(manifest)
			revisions := s.revisionsSince(app)
			story.goes(s)
			var shown []string
			for _, state := range s.statesIn(revisions, app, story.last) {
				if state == v1beta2.NewState {
					state = "New"
				}
				shown = append(shown, string(state))
			}
			if !slices.Equal(shown, words(story.shows)) {
				t.Errorf("it shows %v,\nand not  %v", shown, words(story.shows))
			}
			end, err := s.kubeflowApps().Get(t.Context(), app.Name, metav1.GetOptions{})
			s.must(err)
			if message := end.Status.AppState.ErrorMessage; !contains(message, story.says) || story.last == v1beta2.CompletedState && message != "" {
				t.Errorf("the error message is %q, and not %q", message, story.says)
			}
			s.untilAllPublished(end)
			s.must(s.kubeflowApps().Delete(t.Context(), app.Name, metav1.DeleteOptions{}))
			untilGone(s, s.kubeflowApps(), app.Name)
			s.untilNothingIsLeft()
		})
	}
}

// untilAllPublished waits until the sink has acknowledged all transitions of an application, in order.
func (s *env) untilAllPublished(app *v1beta2.SparkApplication) {
	s.Helper()
	as := &sparkv1.SparkApplication{ObjectMeta: app.ObjectMeta}
	heard := s.untilDelivered("all transitions", func(heard []eventlog.Entry) bool {
		return int64(len(firstAccepted(heard, as))) >= app.Status.Firesteel.Sequence
	})
	s.check(checkEvents(heard, as))
}

// An application can be deleted in each state, and nothing is left of it.
func TestDeletionOfAKubeflowApplicationInEachState(t *testing.T) {
	t.Parallel()
	for state, at := range map[v1beta2.ApplicationStateType]struct {
		spec string
		goes func(*env)
	}{
		v1beta2.SubmittedState: {"{}", func(*env) {}},
		v1beta2.RunningState:   {"{}", func(s *env) { s.runPi() }},
		v1beta2.CompletedState: {"{}", func(s *env) { s.runPi().succeed() }},
		v1beta2.FailedState:    {"{}", func(s *env) { s.runPi().exit(1) }},
		v1beta2.SuspendedState: {"suspend: true", func(*env) {}},
		v1beta2.FailingState: {
			"restartPolicy: {type: OnFailure, onFailureRetries: 1, onFailureRetryInterval: 3600}", func(s *env) { s.runPi().exit(1) },
		},
		v1beta2.FailedSubmissionState: {
			"restartPolicy: {type: OnFailure, onSubmissionFailureRetries: 1, onSubmissionFailureRetryInterval: 3600}", func(*env) {},
		},
		v1beta2.UnknownState: {"{}", func(s *env) {
			s.runPi().set(func(status *corev1.PodStatus) { status.Phase = corev1.PodUnknown })
		}},
		v1beta2.SuspendingState: {"{}", func(s *env) {
			s.runPi()
			s.kubelet.Pause(s.ns)
			s.suspend("spark-pi", true)
		}},
		v1beta2.InvalidatingState: {"{}", func(s *env) {
			s.runPi()
			s.kubelet.Pause(s.ns)
			s.patched(kubeflowApplications, "spark-pi", `{"spec":{"arguments":["7"]}}`)
		}},
	} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			if state == v1beta2.FailedSubmissionState {
				s.limit("pods", "0")
			}
			app := s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), at.spec))
			at.goes(s)
			s.untilShown(app.Name, state)
			s.must(s.kubeflowApps().Delete(t.Context(), app.Name, metav1.DeleteOptions{}))
			s.kubelet.Resume(t.Context(), s.ns)
			untilGone(s, s.kubeflowApps(), app.Name)
			s.untilNothingIsLeft()
		})
	}
}

// waited returns the time between two attempts.
func waited(app *v1beta2.SparkApplication) time.Duration {
	var ended time.Time
	for _, t := range app.Status.Firesteel.Transitions {
		switch {
		case t.End != nil:
			ended = t.Time.Time
		case t.Attempt > 0 && !ended.IsZero() && t.State == "DriverRequested":
			return t.Time.Sub(ended)
		}
	}
	return 0
}
