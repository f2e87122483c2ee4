package integration

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// addFinalizer adds a finalizer to a Pod, as another controller may.
func (d *driver) addFinalizer() *driver {
	d.env.Helper()
	d.patch(fmt.Sprintf(`{"metadata":{"finalizers":[%q]}}`, heldBack))
	return d
}

// removeFinalizers removes the finalizers of a Pod.
func (d *driver) removeFinalizers() {
	d.env.Helper()
	d.patch(`{"metadata":{"finalizers":null}}`)
}

func (d *driver) patch(patch string) {
	d.env.Helper()
	_, err := d.env.Kube.CoreV1().Pods(d.env.ns).Patch(d.env.Context(), d.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		d.env.must(err)
	}
}

// deleteByForce deletes a Pod as if its Node was deleted or tainted as out of service.
func (d *driver) deleteByForce() {
	d.env.Helper()
	now := int64(0)
	d.env.must(d.env.Kube.CoreV1().Pods(d.env.ns).Delete(d.env.Context(), d.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(d.UID)),
	}))
}

// deleteOnLostNode deletes a Pod whose node does not respond, with a grace period in seconds.
func (d *driver) deleteOnLostNode(grace int64) {
	d.env.Helper()
	d.env.kubelet.Pause(d.env.ns)
	d.env.must(d.env.Kube.CoreV1().Pods(d.env.ns).Delete(d.env.Context(), d.Name, metav1.DeleteOptions{GracePeriodSeconds: &grace}))
}

// wantNoRequests checks that nothing is asked about the env while other applications run. A cursor may be
// written at rest.
func (s *env) wantNoRequests(most int, others ...string) {
	s.Helper()
	other := newEnv(s.TB).sharesController()
	before := len(withoutEvents(s.requestsAtRest()))
	for _, name := range others {
		other.create(App(name))
		other.run(name, 0).succeed()
		other.untilState(name, "ResourceReleased")
	}
	if asked := withoutEvents(s.requests())[before:]; len(asked) > most {
		s.Errorf("while it waits the controller asks for %v, want at most %d requests", asked, most)
	}
}

// untilWaiting waits until an application of the Kubeflow kind reports why it waits.
func (s *env) untilWaiting(name, reason string, parts ...string) {
	s.Helper()
	until(s, s.kubeflowApps(), name, fmt.Sprintf("wait for %s and name %v", reason, parts), func(app *v1beta2.SparkApplication) bool {
		return waitsFor(app.Status.Conditions, reason, parts...)
	})
}

func waitsFor(conditions []metav1.Condition, reason string, parts ...string) bool {
	c := meta.FindStatusCondition(conditions, dialect.ConditionSucceeded)
	if c == nil || c.Status != metav1.ConditionUnknown || reason != "" && c.Reason != reason || contains(c.Message, "starts at") {
		return false
	}
	for _, part := range parts {
		if !contains(c.Message, part) {
			return false
		}
	}
	return true
}

const retriesOnce = "restartPolicy: {type: OnFailure, onFailureRetries: 1, onFailureRetryInterval: 1}"

func TestRestartWaitsForATerminatingDriver(t *testing.T) {
	t.Parallel()
	t.Run("which a finalizer holds", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t).sharesController()
		s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), retriesOnce))
		d := s.runPi().addFinalizer()
		d.exit(1)
		s.untilWaiting("spark-pi", "DriverPodFinalizers", "spark-pi-driver on node node", heldBack)
		s.wantNoRequests(1, "one", "two", "three")
		d.removeFinalizers()
		s.runPi().succeed()
		s.untilShown("spark-pi", v1beta2.CompletedState)
		if drivers := s.untilHad("spark-pi", 2); len(drivers) != 2 {
			t.Errorf("it had the drivers %v", drivers)
		}
	})
	t.Run("whose node is lost", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t).sharesController()
		s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), retriesOnce))
		d := s.runPi()
		d.deleteOnLostNode(1)
		s.untilWaiting("spark-pi", "", "spark-pi-driver on node node", "node.kubernetes.io/out-of-service", "force-termination-grace")
		s.untilShown("spark-pi", v1beta2.UnknownState)
		s.wantNoRequests(1, "one", "two")
		d.deleteByForce()
		s.kubelet.Resume(t.Context(), s.ns)
		s.runPi().succeed()
		s.untilShown("spark-pi", v1beta2.CompletedState)
	})
}

// A deletion waits for a terminating driver for a bounded time. Then its Pod is left terminating.
func TestDeletionWaitsForATerminatingDriverForABoundedTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		create func(s *env) *driver
		remove func(s *env) func() // and waits until it is gone
	}{
		"of the Kubeflow kind": {
			func(s *env) *driver {
				s.kubeflowApplication(sparkPi("4.1.1"))
				return s.runPi()
			},
			func(s *env) func() {
				before, err := s.kubeflowApps().Get(s.Context(), "spark-pi", metav1.GetOptions{})
				s.must(err)
				s.must(s.kubeflowApps().Delete(s.Context(), "spark-pi", metav1.DeleteOptions{}))
				untilSince(s, s.kubeflowApps(), before, "say what it waits for", func(app *v1beta2.SparkApplication) bool {
					c := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionSucceeded)
					return app.DeletionTimestamp != nil && contains(c.Message, "spark-pi-driver on node node")
				})
				return func() { untilGone(s, s.kubeflowApps(), "spark-pi") }
			},
		},
		"of the Apache kind": {
			func(s *env) *driver {
				s.create(App("spark-pi").ForceGoneWithin(0))
				return s.run("spark-pi", 0)
			},
			func(s *env) func() {
				before := s.get("spark-pi")
				s.delete("spark-pi")
				untilSince(s, s.apps(), before, "say what it waits for", func(app *sparkv1.SparkApplication) bool {
					c := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionSucceeded)
					return app.DeletionTimestamp != nil && contains(c.Message, "spark-pi-0-driver on node node")
				})
				return func() { untilGone(s, s.apps(), "spark-pi") }
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			d := test.create(s)
			s.kubelet.Pause(s.ns)
			began := time.Now()
			test.remove(s)()
			if waited := time.Since(began); waited < deletionGrace-time.Second { // times of the API are in seconds
				t.Errorf("it went after %s, want at least %s", waited, deletionGrace)
			}
			left, err := s.Kube.CoreV1().Pods(s.ns).Get(t.Context(), d.Name, metav1.GetOptions{})
			if err != nil || left.DeletionTimestamp == nil || *left.DeletionGracePeriodSeconds == 0 {
				t.Errorf("the Pod is not left terminating (%v):\n%s", err, described(left))
			}
			s.untilKubeEvent("spark-pi", corev1.EventTypeWarning, "DriverLeftTerminating")
		})
	}
	t.Run("and its namesake waits for the Pod", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t).sharesController()
		s.kubeflowApplication(sparkPi("4.1.1"))
		d := s.runPi()
		s.kubelet.Pause(s.ns)
		s.must(s.kubeflowApps().Delete(t.Context(), "spark-pi", metav1.DeleteOptions{}))
		untilGone(s, s.kubeflowApps(), "spark-pi")
		s.kubeflowApplication(sparkPi("4.1.1"))
		s.untilWaiting("spark-pi", "DriverPodTerminating", "spark-pi-driver on node node", "node.kubernetes.io/out-of-service")
		s.wantNoRequests(1, "one", "two")
		d.deleteByForce()
		s.kubelet.Resume(t.Context(), s.ns)
		s.runPi().succeed()
		s.untilShown("spark-pi", v1beta2.CompletedState)
	})
}

func TestForcedDeletionOfTheKubeflowKindIsASetting(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-kubeflow", "force-termination-grace", "1s")
	s.ownController(controller{sink: s.sink.URL()})
	s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), retriesOnce+"\ndriver: {terminationGracePeriodSeconds: 4}"))
	d := s.runPi()
	s.kubelet.Pause(s.ns)
	s.must(s.Kube.CoreV1().Pods(s.ns).Delete(t.Context(), d.Name, metav1.DeleteOptions{}))
	going := untilSince(s, s.Kube.CoreV1().Pods(s.ns), d.Pod, "terminate", func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	s.untilKubeEvent("spark-pi", corev1.EventTypeWarning, "DriverDeletedByForce")
	if early := time.Until(going.DeletionTimestamp.Time); early > 0 {
		t.Errorf("it was deleted by force %s before its grace period was over", early)
	}
	until(s, s.Kube.CoreV1().Pods(s.ns), d.Name, "be another", func(pod *corev1.Pod) bool { return pod.UID != d.UID })
	s.kubelet.Resume(t.Context(), s.ns)
	s.runPi().succeed()
	app := s.untilShown("spark-pi", v1beta2.CompletedState)
	for _, transition := range app.Status.Firesteel.Transitions {
		if transition.End != nil && transition.End.Reason == "NodeLost" && !contains(transition.Message, "Behind a network partition") {
			t.Errorf("it does not say that two drivers may live: %s", transition.Message)
		}
	}
}

// The name of an object that a driver owns may not become free. Each driver that is created meanwhile would be useless.
func TestLaunchWaitsForANameThatIsNotFree(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"firesteel.dev/launch-id": "an-earlier-one", "spark.operator/spark-app-name": "pi"}
	for name, test := range map[string]struct {
		occupy func(s *env)
		free   func(s *env) error
		names  string
	}{
		"a volume claim": {
			func(s *env) {
				claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
					Name: "pi-0-driver-pvc-0", Labels: labels, Finalizers: []string{heldBack}}, Spec: claim("1Gi")}
				_, err := s.Kube.CoreV1().PersistentVolumeClaims(s.ns).Create(s.Context(), claim, metav1.CreateOptions{})
				s.must(err)
			},
			func(s *env) error {
				_, err := s.Kube.CoreV1().PersistentVolumeClaims(s.ns).Patch(s.Context(), "pi-0-driver-pvc-0", types.MergePatchType,
					[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
				return err
			},
			"PersistentVolumeClaim",
		},
		"a Service": {
			func(s *env) {
				service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
					Name: "pi-0-driver-svc", Labels: labels, Finalizers: []string{heldBack}},
					Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
				_, err := s.Kube.CoreV1().Services(s.ns).Create(s.Context(), service, metav1.CreateOptions{})
				s.must(err)
			},
			func(s *env) error {
				_, err := s.Kube.CoreV1().Services(s.ns).Patch(s.Context(), "pi-0-driver-svc", types.MergePatchType,
					[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
				return err
			},
			"Service",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			test.occupy(s)
			s.create(App("pi").OnDemandClaim())
			until(s, s.apps(), "pi", "say what it waits for", func(app *sparkv1.SparkApplication) bool {
				return waitsFor(app.Status.Conditions, "NameNotFree", test.names+" "+s.ns, heldBack)
			})
			s.wantNoRequests(4, "one", "two", "three")
			if drivers := s.untilHad("pi", 1); len(drivers) != 1 {
				t.Errorf("drivers were made and abandoned: %v", drivers)
			}
			s.must(test.free(s))
			s.run("pi", 0).succeed()
			s.untilState("pi", "ResourceReleased")
		})
	}
}

// A terminating Pod of a cluster holds the deletion of the cluster as long as a driver holds that of an application.
func TestClusterDeletionWaitsForATerminatingPodForABoundedTime(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.createCluster(Cluster("c"))
	s.untilOwned(ofPlain("c")...)
	set := s.statefulSet("c-worker")
	pod, err := s.Kube.CoreV1().Pods(s.ns).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "c-worker-0", Labels: set.Spec.Template.Labels, Finalizers: []string{heldBack},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "worker", Image: "none"}}},
	}, metav1.CreateOptions{})
	s.must(err)
	before, err := s.clusters().Get(t.Context(), "c", metav1.GetOptions{})
	s.must(err)
	began := time.Now()
	s.must(s.clusters().Delete(t.Context(), "c", metav1.DeleteOptions{}))
	untilSince(s, s.clusters(), before, "name what is left", func(c *sparkv1.SparkCluster) bool {
		return contains(messageOf(c, "Ready"), "Pod c-worker-0")
	})
	untilGone(s, s.clusters(), "c")
	if waited := time.Since(began); waited < deletionGrace-time.Second {
		t.Errorf("it went after %s, want at least %s", waited, deletionGrace)
	}
	left := &driver{Pod: s.untilTerminating("c-worker-0"), env: s}
	if left.UID != pod.UID {
		t.Errorf("another Pod is left:\n%s", described(left.Pod))
	}
	left.removeFinalizers()
}
