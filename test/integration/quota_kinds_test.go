package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// asking is what asks for room in a quota.
type asking struct {
	resource, name string
	// condition is the type of the condition that says what becomes of it.
	condition string
	// driver is the name of its driver Pod; empty of a cluster.
	driver string
}

const (
	ofApache   = "sparkapplications.spark.apache.org"
	ofKubeflow = "sparkapplications.sparkoperator.k8s.io"
)

// askingKinds create an object of each kind, which asks for a number of Pods.
var askingKinds = map[string]struct {
	pods   int
	create func(s *env) asking
}{
	"Apache": {3, func(s *env) asking {
		s.create(App("pi"))
		return asking{ofApache, "pi", "Succeeded", "pi-0-driver"}
	}},
	"Kubeflow": {3, func(s *env) asking {
		s.submitted(sparkPi("4.1.1"))
		return asking{ofKubeflow, "spark-pi", "Succeeded", "spark-pi-driver"}
	}},
	"run of an Apache schedule": {3, func(s *env) asking {
		run := s.firstRun(variant.Apache)
		return asking{ofApache, run, "Succeeded", run + "-0-driver"}
	}},
	"run of a Kubeflow schedule": {2, func(s *env) asking {
		run := s.firstRun(variant.Kubeflow)
		return asking{ofKubeflow, run, "Succeeded", run + "-driver"}
	}},
	"cluster": {3, func(s *env) asking {
		s.createCluster(Cluster("c"))
		return asking{"sparkclusters.spark.apache.org", "c", "Ready", ""}
	}},
}

// firstRun returns the first run of a new schedule, and suspends the schedule. Later runs do not delete the first.
func (s *env) firstRun(kind *variant.Kind) string {
	s.Helper()
	schedule := s.schedules(kind, "pi", "@every 1s", func(spec map[string]any) {
		spec["concurrencyPolicy"], spec["failedRunHistoryLimit"] = "Forbid", 100
	})
	run := schedule.untilRuns(1)[0].GetName()
	schedule.patch(`{"suspend": true}`)
	return run
}

// untilReason waits for a reason of what becomes of an object, with a part of its message.
func (s *env) untilReason(a asking, reason, part string) {
	s.Helper()
	until(s, s.objects(a.resource), a.name, fmt.Sprintf("say %q with reason %s", part, reason), func(o *unstructured.Unstructured) bool {
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, each := range conditions {
			condition, _ := each.(map[string]any)
			if condition["type"] == a.condition && condition["reason"] == reason && strings.Contains(fmt.Sprint(condition["message"]), part) {
				return true
			}
		}
		return false
	})
}

// untilLaunched waits until an object has its driver Pod, or a cluster its StatefulSets.
func (s *env) untilLaunched(a asking) {
	s.Helper()
	if a.driver != "" {
		until(s, s.Kube.CoreV1().Pods(s.ns), a.driver, "exist", func(*corev1.Pod) bool { return true })
		return
	}
	for _, name := range []string{resources.MasterName(a.name), resources.WorkerName(a.name)} {
		s.untilSet(name, "exist", func(*appsv1.StatefulSet) bool { return true })
	}
}

// wantNothingLaunched checks that there are no StatefulSets, and no Pods but those with the names.
func (s *env) wantNothingLaunched(but ...string) {
	s.Helper()
	pods, err := s.Kube.CoreV1().Pods(s.ns).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	for i := range pods.Items {
		if !slices.Contains(but, pods.Items[i].Name) {
			s.Errorf("there is the Pod %s", pods.Items[i].Name)
		}
	}
	sets, err := s.Kube.AppsV1().StatefulSets(s.ns).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	if len(sets.Items) > 0 {
		s.Errorf("there are %d StatefulSets", len(sets.Items))
	}
}

// limitedToAlmost sets a quota for a number of Pods, of which another Pod uses one.
func (s *env) limitedToAlmost(pods int) (another string) {
	s.Helper()
	s.limitedTo(corev1.ResourceList{"pods": *resource.NewQuantity(int64(pods), resource.DecimalSI)})
	return s.usesRoom()
}

// usesRoom creates a Pod that uses the quota, as soon as that no longer counts the Pods that have ended.
func (s *env) usesRoom() (another string) {
	s.Helper()
	pods := s.Kube.CoreV1().Pods(s.ns)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "another"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "another", Image: "none"}}},
	}
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		_, err := pods.Create(ctx, pod, metav1.CreateOptions{})
		if apierrors.IsForbidden(err) {
			return false, nil
		}
		return err == nil, err
	}))
	return pod.Name
}

// ofEachAskingKind runs a test with an object of each kind, each in a namespace of its own.
func ofEachAskingKind(t *testing.T, setting string, test func(s *env, pods int, create func(s *env) asking)) {
	t.Helper()
	t.Run(setting, func(t *testing.T) {
		for name, kind := range askingKinds {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(newEnv(t), kind.pods, kind.create)
			})
		}
	})
}

func TestQuotaSettingsApplyToEachKind(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-admission", "quota", "hold")
	s.sharesController()
	ofEachAskingKind(t, "hold", func(s *env, pods int, create func(s *env) asking) {
		another := s.limitedToAlmost(pods)
		asked := create(s)
		s.untilReason(asked, diagnosis.ReasonWaitingForQuota,
			fmt.Sprintf("ResourceQuota %s/team lacks pods (%d requested, %d available of %d). Place 1 of 1 in the queue.", s.ns, pods, pods-1, pods))
		s.wantNothingLaunched(another)
		none := int64(0)
		s.must(s.Kube.CoreV1().Pods(s.ns).Delete(s.Context(), another, metav1.DeleteOptions{GracePeriodSeconds: &none}))
		s.untilLaunched(asked)
	})
	const patience = "2s"
	s.configured("config-admission", "quota-hold-timeout", patience)
	s.untilSettingsAreRead(s.shared)
	ofEachAskingKind(t, "quota-hold-timeout", func(s *env, pods int, create func(s *env) asking) {
		another := s.limitedToAlmost(pods)
		s.untilReason(create(s), diagnosis.ReasonQuotaHoldTimedOut, "It has waited for the "+patience+" of quota-hold-timeout.")
		s.wantNothingLaunched(another)
	})
	s.configured("config-admission", "quota", "fail")
	s.untilSettingsAreRead(s.shared)
	ofEachAskingKind(t, "fail", func(s *env, pods int, create func(s *env) asking) {
		another := s.limitedToAlmost(pods)
		s.untilReason(create(s), diagnosis.ReasonQuotaWouldBeExceeded, fmt.Sprintf("failed to validate resource quota %q: ", s.ns+"/team"))
		s.wantNothingLaunched(another)
	})
}

// A cluster has the room of its Pods from the moment at which it is created, and none when they exist.
func TestQuotaCountsAClusterBeforeItsPodsExist(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-admission", "quota", "hold")
	s.sharesController()
	s.limitedTo(corev1.ResourceList{"pods": resource.MustParse("5")})
	master := s.newMaster() // which takes the room of a Pod
	s.createCluster(Cluster("c"))
	s.untilLaunched(asking{name: "c"})
	s.create(App("pi"))
	s.untilSays("pi", diagnosis.ReasonWaitingForQuota, "lacks pods (3 requested, 1 available of 5)")
	for _, name := range []string{"c-master", "c-worker"} {
		s.createPodsOf(name)
	}
	s.answersFor(master, "c")
	master.has(2)
	s.untilClusterState("c", "RunningHealthy")
	for _, name := range []string{"c-master", "c-worker"} {
		s.rollOut(name)
	}
	until(s, s.clusters(), "c", "reserve nothing", func(c *sparkv1.SparkCluster) bool { return c.Status.Firesteel.Quota == nil })
	s.podsLimitedTo("7")
	s.untilState("pi", "DriverRequested")
}

// createPodsOf creates the Pods of a StatefulSet, as its controller does, which does not run here.
func (s *env) createPodsOf(name string) {
	s.Helper()
	set := s.statefulSet(name)
	for i := range *set.Spec.Replicas {
		pod := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: set.Spec.Template.Spec}
		pod.Name = fmt.Sprintf("%s-%d", name, i)
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
		_, err := s.Kube.CoreV1().Pods(s.ns).Create(s.Context(), pod, metav1.CreateOptions{})
		s.must(err)
	}
}
