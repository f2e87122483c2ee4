package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
)

// plainRun are the states of an application that succeeds at its first attempt.
var plainRun = []string{
	"Submitted", "DriverRequested", "DriverStarted", "DriverReady", "RunningHealthy", "Succeeded", "ResourceReleased",
}

func TestApplicationRunsFromSubmittedToReleased(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	app := s.create(App("pi"))

	d := s.driver("pi", 0)
	requested := s.untilState("pi", "DriverRequested")
	if got := requested.Status.Firesteel.Launch.DriverUID; got != d.UID {
		t.Errorf("the record names driver %s, the Pod's uid is %s", got, d.UID)
	}
	s.untilCondition("pi", "Succeeded", metav1.ConditionUnknown, "DriverRequested")
	if image := d.Spec.Containers[0].Image; image != "apache/spark:4.1.1" {
		t.Errorf("an application that names no image runs %q", image)
	}
	owned := s.ownedBy(d.Pod)
	if diff := cmp.Diff([]string{"ConfigMap pi-0-spark-drv-conf-map", "Service pi-0-driver-svc"}, owned); diff != "" {
		t.Errorf("objects of the driver (-want +got):\n%s", diff)
	}

	d.start()
	s.untilState("pi", "DriverStarted")
	d.ready()
	s.untilState("pi", "RunningHealthy")
	d.succeed()
	released := s.untilState("pi", "ResourceReleased")

	if diff := cmp.Diff(plainRun, history(released)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	for _, entry := range released.ManagedFields {
		if entry.Subresource == "status" && entry.Manager != "controller" || entry.Manager == "Go-http-client" {
			t.Errorf("%q wrote %s%s, and does not say who it is", entry.Manager, entry.FieldsV1, entry.Subresource)
		}
	}
	condition := s.untilCondition("pi", "Succeeded", metav1.ConditionTrue, "Succeeded")
	if condition.ObservedGeneration != released.Generation || condition.Message == "" {
		t.Errorf("condition %+v does not speak of generation %d", condition, released.Generation)
	}
	s.untilPublished(app, plainRun...)
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
	untilGone(s, s.Kube.CoreV1().Services(s.ns), "pi-0-driver-svc")
	untilGone(s, s.Kube.CoreV1().ConfigMaps(s.ns), "pi-0-spark-drv-conf-map")
}

// An application may need all kinds of objects that Firesteel creates.
func TestApplicationGetsObjectsOfAllKinds(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi").Spark("4.2.0").ConfigMap("settings", "key", "value").OnDemandClaim().
		Executor(corev1.PodSpec{PriorityClassName: "low"}))
	d := s.run("pi", 0)
	want := []string{
		"ConfigMap pi-0-driver-podspec-conf-map", "ConfigMap pi-0-spark-drv-conf-map", "NetworkPolicy pi-0-policy",
		"PersistentVolumeClaim pi-0-driver-pvc-0", "Service pi-0-driver-svc",
	}
	if diff := cmp.Diff(want, s.ownedBy(d.Pod)); diff != "" {
		t.Errorf("objects of the driver (-want +got):\n%s", diff)
	}
	settings, err := s.Kube.CoreV1().ConfigMaps(s.ns).Get(t.Context(), "settings", metav1.GetOptions{})
	s.must(err)
	if !metav1.IsControlledBy(settings, s.get("pi")) || settings.Data["key"] != "value" {
		t.Errorf("the application's own config map is %s", described(settings))
	}
	d.succeed()
	s.untilState("pi", "ResourceReleased")
	s.delete("pi")
	s.untilNothingIsLeft()
}

// ownedBy returns the objects of the namespace that a Pod owns.
func (s *env) ownedBy(pod *corev1.Pod) []string {
	s.Helper()
	services, err := s.Kube.CoreV1().Services(s.ns).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	configMaps, err := s.Kube.CoreV1().ConfigMaps(s.ns).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	policies, err := s.Kube.NetworkingV1().NetworkPolicies(s.ns).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	claims, err := s.Kube.CoreV1().PersistentVolumeClaims(s.ns).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	var owned []string
	note := func(kind string, object metav1.Object) {
		if metav1.IsControlledBy(object, pod) {
			owned = append(owned, kind+" "+object.GetName())
		}
	}
	each(services.Items, func(o *corev1.Service) { note("Service", o) })
	each(configMaps.Items, func(o *corev1.ConfigMap) { note("ConfigMap", o) })
	each(claims.Items, func(o *corev1.PersistentVolumeClaim) { note("PersistentVolumeClaim", o) })
	each(policies.Items, func(o *networkingv1.NetworkPolicy) { note("NetworkPolicy", o) })
	slices.Sort(owned)
	return owned
}

func each[T any](items []T, do func(*T)) {
	for i := range items {
		do(&items[i])
	}
}

// Manifests of the Apache operator are created as users create them, with strict validation, in every version of the API.
func TestApplicationsOfTheApacheOperatorRunUnedited(t *testing.T) {
	t.Parallel()
	for name, version := range map[string]string{
		"seed-000-first-example.yaml": "v1alpha1", "apache-pi.yaml": "v1", "apache-pi-v1beta1.yaml": "v1beta1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			text, err := os.ReadFile(filepath.Join("testdata", name))
			s.must(err)
			if !strings.Contains(string(text), "spark.apache.org/"+version+"\n") {
				t.Errorf("the manifest is not of %s", version)
			}
			s.serviceAccount("spark")
			_, err = s.kubectl(string(text), "create", "--validate=strict", "-f", "-")
			s.must(err)
			s.run("pi", 0).succeed()
			_, err = s.kubectl("", "wait", "--for=condition=Succeeded", "--timeout="+timeout.String(), "sparkapp/pi")
			s.must(err)
			s.untilPublished(s.untilState("pi", "ResourceReleased"), plainRun...)
		})
	}
}

func TestApplicationsWithUnusualNamesRun(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	for _, name := range []string{"1st", "team.pi", "x-" + strings.Repeat("1", 61), "long-" + strings.Repeat("name.", 20) + "pi"} {
		app := s.create(App(name))
		record := s.untilState(name, "DriverRequested").Status.Firesteel
		(&driver{Pod: s.pod(record.Launch.DriverPod), env: s}).start().ready().succeed()
		s.untilState(name, "ResourceReleased")
		s.untilDelivered("the end of "+name, func(heard []eventlog.Entry) bool {
			first := firstAccepted(heard, app)
			return len(first) > 0 && first[len(first)-1].State() == "ResourceReleased"
		})
	}
	s.untilNothingIsLeft()
}

func (s *env) pod(name string) *corev1.Pod {
	s.Helper()
	pod, err := s.Kube.CoreV1().Pods(s.ns).Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	return pod
}

func TestDriverThatAnotherClientDeletesHasFailed(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi"))
	d := s.run("pi", 0)
	s.must(s.Kube.CoreV1().Pods(s.ns).Delete(t.Context(), d.Name, metav1.DeleteOptions{}))
	s.untilState("pi", "ResourceReleased")
	s.untilCondition("pi", "Succeeded", metav1.ConditionFalse, "DriverDeleted")
}
