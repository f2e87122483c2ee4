package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// labelChange is a change of a driver Pod's metadata.
type labelChange struct {
	// patch is a merge patch of the Pod's metadata.
	patch string
	// says is part of the condition's message.
	says string
}

// apacheChanges are those of an application of the Apache operator's kind, named pi, at its first attempt.
var apacheChanges = map[string]labelChange{
	"the role is removed":               {`{"labels":{"spark-role":null}}`, "label spark-role is missing"},
	"the role is another":               {`{"labels":{"spark-role":"quarantined"}}`, `label spark-role is "quarantined" instead of "driver"`},
	"the role is an executor's":         {`{"labels":{"spark-role":"executor"}}`, `label spark-role is "executor" instead of "driver"`},
	"the operator is removed":           {`{"labels":{"spark.operator/name":null}}`, "label spark.operator/name is missing"},
	"the application's id is removed":   {`{"labels":{"spark-app-selector":null}}`, "label spark-app-selector is missing"},
	"the application's name is another": {`{"labels":{"spark.operator/spark-app-name":"po"}}`, `label spark.operator/spark-app-name is "po" instead of "pi"`},
	"the launch is removed":             {`{"labels":{"firesteel.dev/launch-id":null}}`, "label firesteel.dev/launch-id is missing"},
	"the owner is removed":              {`{"ownerReferences":null}`, "the owner reference to SparkApplication pi is missing"},
	"all labels and the owner are removed": {
		`{"labels":null,"ownerReferences":null}`, "label spark-role is missing",
	},
	"the owner, and what names the application, are removed": {
		`{"labels":{"spark.operator/spark-app-name":null},"ownerReferences":null}`, "label spark.operator/spark-app-name is missing",
	},
}

func (s *env) relabel(pod, metadata string) {
	s.Helper()
	_, err := s.Kube.CoreV1().Pods(s.ns).Patch(s.Context(), pod, types.MergePatchType, []byte(`{"metadata":`+metadata+`}`), metav1.PatchOptions{})
	s.must(err)
}

// untilRelabelled waits until the condition reports changed labels of a driver and the remedy.
func (s *env) untilRelabelled(app, pod string, change labelChange) {
	s.Helper()
	message := s.untilCondition(app, dialect.ConditionDriverLabelsChanged, metav1.ConditionTrue, "LabelsChanged").Message
	s.wantRemedy(message, pod, change)
}

func (s *env) wantRemedy(message, pod string, change labelChange) {
	s.Helper()
	remedy := fmt.Sprintf("kubectl --namespace %s label pod %s --overwrite ", s.ns, pod)
	if !contains(message, s.ns+"/"+pod) || !contains(message, change.says) || contains(change.says, "label ") && !contains(message, remedy) {
		s.Errorf("the condition says %q, want that %s of Pod %s", message, change.says, pod)
	}
}

func (s *env) untilLabelsAreBack(app string) {
	s.Helper()
	until(s, s.apps(), app, "have no condition "+dialect.ConditionDriverLabelsChanged, func(app *sparkv1.SparkApplication) bool {
		return meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionDriverLabelsChanged) == nil
	})
}

// onlyPod fails unless a Pod is the only one of the env and is not being deleted.
func (s *env) onlyPod(d *driver) {
	s.Helper()
	pods, err := s.Kube.CoreV1().Pods(s.ns).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	if len(pods.Items) != 1 || pods.Items[0].UID != d.UID || pods.Items[0].DeletionTimestamp != nil {
		s.Errorf("%d Pods, want %s alone:\n%s", len(pods.Items), d.Name, described(pods))
	}
}

// notReleased fails if an application is reported as released.
func (s *env) notReleased(app string) {
	s.Helper()
	if c := s.condition(app, dialect.ConditionResourcesReleased); c == nil || c.Status == metav1.ConditionTrue {
		s.Errorf("while the driver runs its condition is %v", c)
	}
}

func TestChangedDriverLabelsLetTheDriverRunToItsEnd(t *testing.T) {
	t.Parallel()
	for name, change := range apacheChanges {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			s.create(App("pi").Restart(sparkv1.RestartAlways, 1, 0).Executors(1, 1, 1))
			d := s.driver("pi", 0).start().ready()
			s.untilState("pi", "DriverReady")
			s.relabel(d.Name, change.patch)
			s.untilRelabelled("pi", d.Name, change)
			s.notReleased("pi")
			s.onlyPod(d)
			d.executor(1).start().ready()
			s.untilState("pi", "RunningHealthy")
			d.succeed()
			if next := s.driver("pi", 1); next.UID == d.UID {
				t.Error("the next attempt has the same driver")
			}
		})
	}
}

// A label is taken off before the driver has started, when its creation has just been seen.
func TestChangedDriverLabelsRightAfterTheCreate(t *testing.T) {
	t.Parallel()
	for name, change := range apacheChanges {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			app := s.create(App("pi"))
			d := s.driver("pi", 0)
			s.relabel(d.Name, change.patch)
			s.untilRelabelled("pi", d.Name, change)
			d.start()
			s.untilState("pi", "DriverStarted")
			d.ready()
			s.untilState("pi", "RunningHealthy")
			d.succeed()
			s.untilState("pi", "ResourceReleased")
			s.untilPublished(app, plainRun...)
		})
	}
}

func TestChangedDriverLabelsAndARestart(t *testing.T) {
	t.Parallel()
	for name, change := range apacheChanges {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			s.create(App("pi").Restart(sparkv1.RestartOnFailure, 1, 0))
			d := s.run("pi", 0)
			s.kubelet.Pause(s.ns)
			s.relabel(d.Name, change.patch)
			s.untilRelabelled("pi", d.Name, change)
			s.must(s.Kube.CoreV1().Pods(s.ns).Delete(t.Context(), d.Name, metav1.DeleteOptions{}))
			until(s, s.apps(), "pi", "say what it waits for", func(app *sparkv1.SparkApplication) bool {
				return contains(app.Status.Conditions[0].Message, "driver Pod's deletion was accepted")
			})
			s.notReleased("pi")
			if state := stateOf(s.get("pi")); state != "RunningHealthy" {
				t.Errorf("while its driver runs it is %s", state)
			}
			s.deletePodNow(d.Name)
			s.kubelet.Resume(t.Context(), s.ns)
			s.driver("pi", 1).start().ready().succeed()
			s.untilState("pi", "ResourceReleased")
		})
	}
}

func TestChangedDriverLabelsAndADeletion(t *testing.T) {
	t.Parallel()
	for name, change := range apacheChanges {
		for when, act := range map[string]func(*env, *driver){
			"before the deletion": func(s *env, d *driver) {
				s.relabel(d.Name, change.patch)
				s.untilRelabelled("pi", d.Name, change)
				s.delete("pi")
				s.untilTerminating(d.Name)
			},
			"during the deletion": func(s *env, d *driver) {
				s.delete("pi")
				s.untilTerminating(d.Name)
				s.relabel(d.Name, change.patch)
				if contains(change.says, "label ") { // the garbage collector removes owners, too
					s.untilRelabelled("pi", d.Name, change)
				}
			},
		} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				s := newEnv(t).sharesController()
				app := s.create(App("pi"))
				d := s.run("pi", 0)
				s.kubelet.Pause(s.ns)
				act(s, d)
				s.notReleased("pi")
				s.deletePodNow(d.Name)
				untilGone(s, s.apps(), "pi")
				s.untilNothingIsLeft()
				s.untilPublished(app, cutShort.states...)
			})
		}
	}
}

func TestChangedDriverLabelsThatAreRestored(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi"))
	d := s.run("pi", 0)
	for range 2 {
		s.relabel(d.Name, `{"labels":{"spark-role":null,"spark.operator/name":"another"}}`)
		s.untilRelabelled("pi", d.Name, labelChange{says: "label spark-role is missing"})
		message := s.condition("pi", dialect.ConditionDriverLabelsChanged).Message
		_, remedy, _ := strings.Cut(message, "kubectl ")
		_, err := s.kubectl("", strings.Fields(remedy)...)
		s.must(err)
		s.untilLabelsAreBack("pi")
	}
	d.succeed()
	s.untilState("pi", "ResourceReleased")
}

// What happens to a driver that no informer shows is found by the next controller, too.
func TestChangedDriverLabelsAfterTheControllerWasDown(t *testing.T) {
	alone(t)
	for name, c := range map[string]struct {
		before, meanwhile func(*crashEnv, *driver)
		after             func(*crashEnv, *driver)
	}{
		"changed before": {
			before: func(m *crashEnv, d *driver) {
				m.relabel(d.Name, `{"labels":{"spark-role":null}}`)
				m.untilRelabelled(m.name, d.Name, labelChange{says: "label spark-role is missing"})
			},
			after: func(m *crashEnv, d *driver) {
				d.succeed()
				m.untilCondition(m.name, "Succeeded", metav1.ConditionTrue, "Succeeded")
			},
		},
		"changed meanwhile": {
			meanwhile: func(m *crashEnv, d *driver) { m.relabel(d.Name, `{"labels":{"spark-role":null}}`) },
			after: func(m *crashEnv, d *driver) {
				m.untilRelabelled(m.name, d.Name, labelChange{says: "label spark-role is missing"})
				m.onlyPod(d)
				d.succeed()
				m.untilCondition(m.name, "Succeeded", metav1.ConditionTrue, "Succeeded")
			},
		},
		"changed meanwhile, and deleted with the application": {
			meanwhile: func(m *crashEnv, d *driver) {
				m.relabel(d.Name, `{"labels":null}`)
				m.delete(m.name)
			},
			after: func(m *crashEnv, d *driver) {
				m.untilTerminating(d.Name)
				m.notReleased(m.name)
				m.deletePodNow(d.Name)
				untilGone(m.env, m.apps(), m.name)
			},
		},
		"changed before, and gone meanwhile": {
			before: func(m *crashEnv, d *driver) {
				m.relabel(d.Name, `{"labels":{"spark.operator/name":null}}`)
				m.untilRelabelled(m.name, d.Name, labelChange{says: "label spark.operator/name is missing"})
			},
			meanwhile: func(m *crashEnv, d *driver) { m.deletePodNow(d.Name) },
			after: func(m *crashEnv, _ *driver) {
				m.untilCondition(m.name, "Succeeded", metav1.ConditionFalse, "DriverLost")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newCrashEnv(t)
			m.create(App(m.name))
			d := m.run(m.name, 0)
			if c.before != nil {
				c.before(m, d)
			}
			m.killController()
			if c.meanwhile != nil {
				c.meanwhile(m, d)
			}
			m.startAgain()
			c.after(m, d)
		})
	}
}

// kubeflowChanges are those of an application of the Kubeflow operator's kind, named spark-pi.
var kubeflowChanges = map[string]labelChange{
	"the role is removed":     {`{"labels":{"spark-role":null}}`, "label spark-role is missing"},
	"the operator is removed": {`{"labels":{"sparkoperator.k8s.io/launched-by-spark-operator":null}}`, "label sparkoperator.k8s.io/launched-by-spark-operator is missing"},
	"the operator is another": {
		`{"labels":{"sparkoperator.k8s.io/launched-by-spark-operator":"false"}}`,
		`label sparkoperator.k8s.io/launched-by-spark-operator is "false" instead of "true"`,
	},
	"the application's id is removed":   {`{"labels":{"spark-app-selector":null}}`, "label spark-app-selector is missing"},
	"the application's name is another": {`{"labels":{"sparkoperator.k8s.io/app-name":"po"}}`, `label sparkoperator.k8s.io/app-name is "po" instead of "spark-pi"`},
	"the owner is removed":              {`{"ownerReferences":null}`, "the owner reference to SparkApplication spark-pi is missing"},
	"all are removed":                   {`{"labels":null,"ownerReferences":null}`, "label spark-role is missing"},
}

func (s *env) untilKubeflowRelabelled(pod string, change labelChange) {
	s.Helper()
	app := until(s, s.kubeflowApps(), "spark-pi", "say that its driver's labels were changed", func(app *v1beta2.SparkApplication) bool {
		return meta.IsStatusConditionTrue(app.Status.Conditions, dialect.ConditionDriverLabelsChanged)
	})
	s.wantRemedy(meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionDriverLabelsChanged).Message, pod, change)
}

func TestChangedDriverLabelsOfTheKubeflowKind(t *testing.T) {
	t.Parallel()
	for name, change := range kubeflowChanges {
		for end, act := range map[string]func(*env, *driver){
			"to its end": func(s *env, d *driver) {
				d.succeed()
				s.untilShown("spark-pi", v1beta2.CompletedState)
			},
			"to its application's": func(s *env, d *driver) {
				s.must(s.kubeflowApps().Delete(s.Context(), "spark-pi", metav1.DeleteOptions{}))
				s.untilTerminating(d.Name)
				if app, err := s.kubeflowApps().Get(s.Context(), "spark-pi", metav1.GetOptions{}); err != nil || len(app.Finalizers) == 0 {
					s.Errorf("it goes before its driver: %v", err)
				}
				s.deletePodNow(d.Name)
				untilGone(s, s.kubeflowApps(), "spark-pi")
				s.untilNothingIsLeft()
			},
			"to its restart": func(s *env, d *driver) {
				s.must(s.Kube.CoreV1().Pods(s.ns).Delete(s.Context(), d.Name, metav1.DeleteOptions{}))
				until(s, s.kubeflowApps(), "spark-pi", "wait for its driver", func(app *v1beta2.SparkApplication) bool {
					c := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionSucceeded)
					return c != nil && contains(c.Message, "driver Pod's deletion was accepted")
				})
				s.deletePodNow(d.Name)
				s.kubelet.Resume(s.Context(), s.ns)
				until(s, s.Kube.CoreV1().Pods(s.ns), d.Name, "be another", func(pod *corev1.Pod) bool { return pod.UID != d.UID })
			},
		} {
			t.Run(name+", "+end, func(t *testing.T) {
				t.Parallel()
				s := newEnv(t).sharesController()
				s.submitted(sparkPi("4.1.0") + "  restartPolicy: {type: OnFailure, onFailureRetries: 1, onFailureRetryInterval: 1}\n")
				d := s.kubeflowDriver("spark-pi")
				d.start().ready()
				s.untilShown("spark-pi", v1beta2.RunningState)
				s.kubelet.Pause(s.ns)
				s.relabel(d.Name, change.patch)
				s.untilKubeflowRelabelled(d.Name, change)
				s.onlyPod(d)
				executor := d.kubeflowExecutor(1).start().ready()
				until(s, s.kubeflowApps(), "spark-pi", "show its executor", func(app *v1beta2.SparkApplication) bool {
					return app.Status.ExecutorState[executor.Name] == v1beta2.ExecutorRunningState
				})
				act(s, d)
			})
		}
	}
}

// The deletion event of a Pod proves that the Pod is gone, without a read.
func TestDeletionOfManyDriversCostsNoReads(t *testing.T) {
	alone(t)
	const many = 32
	s := newEnv(t)
	s.untilReady(s.ownController(controller{sink: s.sink.URL()}))
	for i := range many {
		s.create(App(fmt.Sprintf("pi-%d", i)))
	}
	for i := range many {
		s.driver(fmt.Sprintf("pi-%d", i), 0)
		s.untilState(fmt.Sprintf("pi-%d", i), "DriverRequested")
	}
	s.must(s.Kube.CoreV1().Pods(s.ns).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	for i := range many {
		s.untilState(fmt.Sprintf("pi-%d", i), "ResourceReleased")
	}
	readOfGone := 0
	for _, request := range s.requestsAtRest() {
		switch {
		case request.Kind() == "get pods" && request.Code == http.StatusNotFound:
			readOfGone++
		case request.Resource == "pods" && request.Verb != "create":
			t.Errorf("asked to %s", request)
		}
	}
	if readOfGone > many/4 { // a reconcile may come between a Pod's removal from the cache and its event
		t.Errorf("of %d drivers that were gone, %d were read", many, readOfGone)
	}
}
