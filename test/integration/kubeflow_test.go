package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	sparkoperatorclient "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/sparkoperator/v1beta2"
)

// sparkPi is a manifest as the users of the Kubeflow operator write it, for a version of Spark.
func sparkPi(version string) string {
	return fmt.Sprintf(`
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata:
  name: spark-pi
spec:
  type: Scala
  mode: cluster
  image: docker.io/library/spark:%[1]s
  imagePullPolicy: IfNotPresent
  mainClass: org.apache.spark.examples.SparkPi
  mainApplicationFile: local:///opt/spark/examples/jars/spark-examples.jar
  arguments: ["5000"]
  sparkVersion: %[1]s
  driver:
    labels:
      version: %[1]s
    cores: 1
    memory: 512m
    serviceAccount: default
  executor:
    labels:
      version: %[1]s
    instances: 2
    cores: 1
    memory: 512m
`, version)
}

func (s *env) kubeflowApps() sparkoperatorclient.SparkApplicationInterface {
	return s.Spark.SparkoperatorV1beta2().SparkApplications(s.ns)
}

// untilShown waits for a state of an application, and returns the application in it.
func (s *env) untilShown(name string, state v1beta2.ApplicationStateType) *v1beta2.SparkApplication {
	s.Helper()
	return until(s, s.kubeflowApps(), name, "be "+string(state), func(app *v1beta2.SparkApplication) bool {
		return app.Status.AppState.State == state && app.Status.Firesteel != nil
	})
}

// kubeflowDriver waits for the driver Pod of an application to be on a node.
func (s *env) kubeflowDriver(app string) *driver {
	s.Helper()
	pod := until(s, s.Kube.CoreV1().Pods(s.ns), app+"-driver", "be bound", func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil
	})
	return &driver{Pod: pod, env: s}
}

// kubeflowExecutor makes an executor of a driver, as the driver would.
func (d *driver) kubeflowExecutor(number int) *driver {
	d.env.Helper()
	made, err := d.env.Kube.CoreV1().Pods(d.env.ns).Create(d.env.Context(), d.kubeflowExecutorPod(number), metav1.CreateOptions{})
	d.env.must(err)
	return &driver{Pod: made, env: d.env}
}

func TestWriteBudgetOfAKubeflowApplication(t *testing.T) {
	t.Parallel()
	for version, policies := range map[string]int{"4.0.1": 0, "4.2.0": 1} {
		t.Run("on Spark "+version, func(t *testing.T) {
			t.Parallel()
			newEnv(t).sharesController().storesKubeflowRecords()
			s := newEnv(t).sharesController()
			untilServed(t)
			s.submitted(sparkPi(version))
			began := time.Now()
			s.untilShown("spark-pi", v1beta2.SubmittedState)
			d := s.kubeflowDriver("spark-pi")
			d.start().ready()
			s.untilShown("spark-pi", v1beta2.RunningState)
			change := time.Now()
			executors := []*driver{d.kubeflowExecutor(1), d.kubeflowExecutor(2)}
			for _, executor := range executors {
				executor.start().ready()
			}
			running := until(s, s.kubeflowApps(), "spark-pi", "show its executors", func(app *v1beta2.SparkApplication) bool {
				states := app.Status.ExecutorState
				return states[executors[0].Name] == v1beta2.ExecutorRunningState && states[executors[1].Name] == v1beta2.ExecutorRunningState
			})
			changing := time.Since(change)
			wantRunning(s, running, d)
			d.succeed()
			completed := s.untilShown("spark-pi", v1beta2.CompletedState)
			if completed.Status.TerminationTime.IsZero() || completed.Status.AppState.ErrorMessage != "" ||
				completed.Status.ExecutorState[executors[0].Name] != v1beta2.ExecutorCompletedState {
				t.Errorf("completed:\n%s", described(completed))
			}
			if _, err := s.kubectl("", "wait", "--for=condition=Succeeded", "sparkapplications.sparkoperator.k8s.io/spark-pi", "--timeout="+timeout.String()); err != nil {
				t.Error(err)
			}
			for _, reason := range []string{"SparkApplicationSubmitted", "SparkApplicationCompleted"} {
				s.untilKubeEvent("spark-pi", corev1.EventTypeNormal, reason)
			}
			if _, err := s.Kube.CoreV1().Pods(s.ns).Get(t.Context(), d.Name, metav1.GetOptions{}); err != nil {
				t.Errorf("the driver Pod is kept for its log: %v", err)
			}
			s.untilReleased("spark-pi")
			life := s.requestsAtRest()
			s.must(s.kubeflowApps().Delete(t.Context(), "spark-pi", metav1.DeleteOptions{}))
			untilGone(s, s.kubeflowApps(), "spark-pi")
			s.wantNoRequestsSince(life)
			allowed := kubeflowBudget()
			if policies > 0 {
				allowed["create networkpolicies"] = policies
			}
			// On a slow machine, executors and the cursor may be written more than once.
			allowed["update sparkapplications/status"] += int(changing/time.Second) + int(time.Since(began)/(30*time.Second))
			s.wantWithinBudget(allowed, s.requestsAtRest())
		})
	}
}

// untilReleased waits until an application holds no finalizer any more.
func (s *env) untilReleased(name string) {
	s.Helper()
	until(s, s.kubeflowApps(), name, "hold no finalizer", func(app *v1beta2.SparkApplication) bool { return len(app.Finalizers) == 0 })
}

func TestDeletionOfAFinishedKubeflowApplicationFreesItsNameAtOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.submitted(sparkPi("4.1.0"))
	first := s.kubeflowDriver("spark-pi")
	first.start().ready()
	first.succeed()
	s.untilShown("spark-pi", v1beta2.CompletedState)
	s.untilReleased("spark-pi")
	s.must(s.kubeflowApps().Delete(t.Context(), "spark-pi", metav1.DeleteOptions{}))
	s.submitted(sparkPi("4.1.0"))
	s.untilShown("spark-pi", v1beta2.SubmittedState) // a driver that was made before all else could be goes again
	second := until(s, s.Kube.CoreV1().Pods(s.ns), "spark-pi-driver", "be another", func(pod *corev1.Pod) bool {
		return pod.UID != first.UID && pod.Spec.NodeName != ""
	})
	d := &driver{Pod: second, env: s}
	d.start().ready()
	s.untilShown("spark-pi", v1beta2.RunningState)

	t.Run("and has its finalizer again where an edit has it run anew", func(*testing.T) {
		d.succeed()
		s.untilShown("spark-pi", v1beta2.CompletedState)
		s.untilReleased("spark-pi")
		_, err := s.kubectl("", "patch", "sparkapplications.sparkoperator.k8s.io/spark-pi", "--type=merge", `--patch={"spec":{"arguments":["7"]}}`)
		s.must(err)
		until(s, s.kubeflowApps(), "spark-pi", "run anew", func(app *v1beta2.SparkApplication) bool {
			return app.Status.AppState.State == v1beta2.SubmittedState && len(app.Finalizers) == 1
		})
	})
}

// untilServed waits until the controller takes up what is new: what there was before, it looks into.
func untilServed(t *testing.T) {
	t.Helper()
	s := newEnv(t)
	s.submitted(sparkPi("4.0.1") + "  suspend: true\n")
	s.untilShown("spark-pi", v1beta2.SuspendedState)
}

// wantRunning checks what clients read of an application that runs.
func wantRunning(s *env, app *v1beta2.SparkApplication, d *driver) {
	s.Helper()
	service, err := s.Kube.CoreV1().Services(s.ns).Get(s.Context(), "spark-pi-ui-svc", metav1.GetOptions{})
	s.must(err)
	want := v1beta2.SparkApplicationStatus{
		SparkApplicationID:        d.Labels["spark-app-selector"],
		SubmissionID:              d.Labels["sparkoperator.k8s.io/submission-id"],
		LastSubmissionAttemptTime: app.Status.LastSubmissionAttemptTime,
		DriverInfo: v1beta2.DriverInfo{
			PodName: "spark-pi-driver", WebUIServiceName: "spark-pi-ui-svc", WebUIPort: 4040, WebUIAddress: service.Spec.ClusterIP + ":4040",
		},
		AppState:          v1beta2.ApplicationState{State: v1beta2.RunningState},
		ExecutorState:     app.Status.ExecutorState,
		ExecutionAttempts: 1, SubmissionAttempts: 1,
	}
	got := *app.Status.DeepCopy()
	got.Conditions, got.ObservedGeneration, got.Firesteel = nil, 0, nil
	if diff := cmp.Diff(want, got); diff != "" || got.LastSubmissionAttemptTime.IsZero() || got.SubmissionID == "" || got.SparkApplicationID == "" {
		s.Errorf("status (-want +got):\n%s", diff)
	}
	if len(app.Status.ExecutorState) != 2 {
		s.Errorf("executors %v", app.Status.ExecutorState)
	}
	if !slices.ContainsFunc(app.Finalizers, func(name string) bool { return strings.HasPrefix(name, "firesteel.dev/") }) {
		s.Errorf("finalizers %v", app.Finalizers)
	}
}
