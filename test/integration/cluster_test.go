package integration

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
)

// clusterObjectKinds are the kinds of objects that Firesteel makes for a cluster.
var clusterObjectKinds = []schema.GroupVersionResource{
	{Version: "v1", Resource: "services"}, {Group: "apps", Version: "v1", Resource: "statefulsets"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
}

// runningCluster has a cluster come to run, whose master stands for two workers.
func runningCluster(t *testing.T, c *standalone) (*env, *master, *sparkv1.SparkCluster) {
	t.Helper()
	s := newEnv(t).sharesController()
	m := s.newMaster()
	m.has(2)
	s.answersFor(m, c.cluster.Name)
	created := s.createCluster(c)
	s.untilClusterState(c.cluster.Name, "RunningHealthy")
	return s, m, created
}

// ofPlain is what belongs to a cluster that no autoscaler scales.
func ofPlain(name string) []string {
	return []string{
		"NetworkPolicy " + name + "-worker", "PodDisruptionBudget " + name + "-worker-pdb",
		"Service " + name + "-master-svc", "Service " + name + "-worker-svc",
		"StatefulSet " + name + "-master", "StatefulSet " + name + "-worker",
	}
}

func TestClusterIsReadyWhenItsWorkersAreRegistered(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	m := s.newMaster()
	s.answersFor(m, "c")
	c := s.createCluster(Cluster("c"))
	s.untilOwned(ofPlain("c")...)
	s.rollOut("c-master")
	s.rollOut("c-worker")
	m.has(1)
	s.untilClusterState("c", "Submitted")
	s.untilClusterCondition("c", "Ready", metav1.ConditionFalse, "Submitted")
	m.has(2)
	ready := s.untilClusterState("c", "RunningHealthy")
	if state := ready.Status.CurrentState; state.Message != "Cluster has reached ready state." {
		t.Errorf("the message is %q", state.Message)
	}
	s.untilClusterCondition("c", "Ready", metav1.ConditionTrue, "RunningHealthy")
	s.untilClusterCondition("c", "UpToDate", metav1.ConditionTrue, "UpToDate")
	until(s, s.clusters(), "c", "count its workers", func(c *sparkv1.SparkCluster) bool {
		w := c.Status.Workers
		return w != nil && w.Replicas == 2 && w.Registered == 2 && w.Selector == "spark-role=worker,spark.operator/spark-cluster-name=c"
	})
	s.untilClusterPublished(c, "Submitted", "RunningHealthy")
	s.must(s.clusters().Delete(t.Context(), "c", metav1.DeleteOptions{}))
	untilGone(s, s.clusters(), "c")
	s.untilOwned()
	published := s.untilClusterPublished(c, "Submitted", "RunningHealthy", "ResourceReleased")
	if last := published[2]; last.Type() != "dev.firesteel.cluster.resource-released.v1" || last.Attributes["sparkfinal"] != "true" || last.Attributes["sparkoutcome"] != "Deleted" {
		t.Errorf("the last event is %s with %v", last.Type(), last.Attributes)
	}
}

func TestClusterWriteBudget(t *testing.T) {
	t.Parallel()
	s, _, c := runningCluster(t, Cluster("c"))
	s.untilClusterPublished(c, "Submitted", "RunningHealthy")
	s.untilKubeEvent("c", corev1.EventTypeNormal, "RunningHealthy")
	requests := slices.DeleteFunc(s.requestsAtRest(), func(r controlplane.Request) bool { return r.Kind() == "get services/proxy" })
	rests := int(time.Since(c.CreationTimestamp.Time) / (30 * time.Second))
	s.wantWithinBudget(budget{
		"patch sparkclusters": 1, "update sparkclusters/status": 2 + rests, "create services": 2, "create statefulsets": 2,
		"create networkpolicies": 1, "create poddisruptionbudgets": 1, "create events": 1,
	}, requests)
}

func TestClusterDegradesAndRecovers(t *testing.T) {
	t.Parallel()
	s, m, c := runningCluster(t, Cluster("c"))
	m.has(1)
	degraded := s.untilClusterCondition("c", "Degraded", metav1.ConditionTrue, "TooFewWorkers")
	if state := degraded.Status.CurrentState.CurrentStateSummary; state != "RunningHealthy" {
		t.Errorf("the Apache operator's clients see %s", state)
	}
	s.untilClusterCondition("c", "Ready", metav1.ConditionFalse, "TooFewWorkers")
	m.has(2)
	s.untilClusterCondition("c", "Degraded", metav1.ConditionFalse, "")
	s.untilClusterCondition("c", "Ready", metav1.ConditionTrue, "RunningHealthy")
	m.answers(http.StatusInternalServerError, 0)
	s.untilClusterCondition("c", "Ready", metav1.ConditionFalse, "MasterNotAnswering")
	s.untilClusterPublished(c, "Submitted", "RunningHealthy", "Degraded", "RunningHealthy", "Degraded")
}

func TestClusterIsScaledByHand(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.createCluster(Cluster("c"))
	s.untilOwned(ofPlain("c")...)
	_, err := s.kubectl("", "scale", "sparkclusters.spark.apache.org/c", "--replicas=5")
	s.must(err)
	s.untilSet("c-worker", "have 5 replicas", func(set *appsv1.StatefulSet) bool { return *set.Spec.Replicas == 5 })
	if master := s.statefulSet("c-master"); master.Generation != 1 {
		t.Errorf("the master was written %d times", master.Generation)
	}
}

func TestClusterWithAutoscalerIsScaledByItOnly(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.createCluster(Cluster("c").Workers(2, 1, 4))
	scaled := slices.Insert(ofPlain("c"), 0, "HorizontalPodAutoscaler c-worker-hpa")
	s.untilOwned(scaled...)
	if _, err := s.kubectl("", "scale", "sparkclusters.spark.apache.org/c", "--replicas=3"); err == nil || !strings.Contains(err.Error(), "an autoscaler decides") {
		t.Errorf("scaling is refused with %v", err)
	}
	_, err := s.kubectl("", "scale", "statefulset/c-worker", "--replicas=4") // as an autoscaler does
	s.must(err)
	s.editCluster("c", func(c *sparkv1.SparkCluster) {
		property(c, "spark.a", "1")
		c.Spec.ClusterTolerations.InstanceConfig.InitWorkers = 1
	})
	edited := s.untilSet("c-worker", "have the edit", func(set *appsv1.StatefulSet) bool { return hasProperty(set, `-Dspark.a="1"`) })
	if *edited.Spec.Replicas != 4 {
		t.Errorf("it has %d replicas", *edited.Spec.Replicas)
	}
	s.editCluster("c", func(c *sparkv1.SparkCluster) { c.Spec.ClusterTolerations.InstanceConfig.MaxWorkers = 6 })
	until(s, s.Kube.AutoscalingV2().HorizontalPodAutoscalers(s.ns), "c-worker-hpa", "have another limit",
		func(scaler *autoscalingv2.HorizontalPodAutoscaler) bool { return scaler.Spec.MaxReplicas == 6 })
	s.editCluster("c", func(c *sparkv1.SparkCluster) {
		c.Spec.ClusterTolerations.InstanceConfig = sparkv1.WorkerInstanceConfig{InitWorkers: 3, MinWorkers: 3, MaxWorkers: 3}
	})
	s.untilOwned(ofPlain("c")...)
	s.untilSet("c-worker", "have 3 replicas", func(set *appsv1.StatefulSet) bool { return *set.Spec.Replicas == 3 })
}

func hasProperty(set *appsv1.StatefulSet, option string) bool {
	for _, variable := range set.Spec.Template.Spec.Containers[0].Env {
		if strings.Contains(variable.Value, option) {
			return true
		}
	}
	return false
}

func TestClusterEditRollsOut(t *testing.T) {
	t.Parallel()
	s, _, _ := runningCluster(t, Cluster("c"))
	s.rollOut("c-master")
	s.rollOut("c-worker")
	s.untilClusterCondition("c", "UpToDate", metav1.ConditionTrue, "UpToDate")
	s.editCluster("c", func(c *sparkv1.SparkCluster) { property(c, "spark.kubernetes.container.image", "mine:1") })
	s.untilSet("c-worker", "have the image", func(set *appsv1.StatefulSet) bool {
		return set.Spec.Template.Spec.Containers[0].Image == "mine:1"
	})
	s.untilClusterCondition("c", "UpToDate", metav1.ConditionFalse, "RollingOut")
	s.rollOut("c-master")
	s.rollOut("c-worker")
	s.untilClusterCondition("c", "UpToDate", metav1.ConditionTrue, "UpToDate")
	service, err := s.Kube.CoreV1().Services(s.ns).Get(t.Context(), "c-master-svc", metav1.GetOptions{})
	s.must(err)
	if len(service.ManagedFields) != 1 {
		t.Errorf("the Service was written too: %v", service.ManagedFields)
	}
}

func TestClusterEditOfAServiceType(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.createCluster(Cluster("c"))
	s.untilOwned(ofPlain("c")...)
	services := s.Kube.CoreV1().Services(s.ns)
	s.editCluster("c", func(c *sparkv1.SparkCluster) {
		c.Spec.MasterSpec = &sparkv1.MasterSpec{ServiceSpec: &corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort}}
	})
	until(s, services, "c-master-svc", "have an address", func(service *corev1.Service) bool {
		return service.Spec.Type == corev1.ServiceTypeNodePort && service.Spec.ClusterIP != corev1.ClusterIPNone
	})
	s.editCluster("c", func(c *sparkv1.SparkCluster) { c.Spec.MasterSpec = nil })
	until(s, services, "c-master-svc", "be headless", func(service *corev1.Service) bool {
		return service.Spec.ClusterIP == corev1.ClusterIPNone
	})
}

func TestClusterEditThatIsRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	s, _, _ := runningCluster(t, Cluster("c"))
	s.editCluster("c", func(c *sparkv1.SparkCluster) {
		c.Spec.WorkerSpec = workerTemplate(corev1.PodSpec{Containers: []corev1.Container{{Name: "worker", ImagePullPolicy: "Perhaps"}}})
	})
	refused := s.untilClusterCondition("c", "UpToDate", metav1.ConditionFalse, "InvalidSpec")
	if message := messageOf(refused, "UpToDate"); !strings.Contains(message, "containers[0].imagePullPolicy") || !strings.Contains(message, "write one of Always, IfNotPresent, Never") {
		t.Errorf("the message is %q", message)
	}
	if state := refused.Status.CurrentState.CurrentStateSummary; state != "RunningHealthy" {
		t.Errorf("it is %s", state)
	}
	s.editCluster("c", func(c *sparkv1.SparkCluster) { c.Spec.WorkerSpec = nil })
	s.untilClusterCondition("c", "Ready", metav1.ConditionTrue, "")
}

// The API server adds defaults to claims, and refuses edits of them.
func TestClusterEditOfVolumeClaimsIsRefused(t *testing.T) {
	t.Parallel()
	claimed := Cluster("c")
	claimed.cluster.Spec.WorkerSpec = &sparkv1.WorkerSpec{StatefulSetSpec: &appsv1.StatefulSetSpec{
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
			ObjectMeta: metav1.ObjectMeta{Name: "work"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}},
	}}
	s, _, _ := runningCluster(t, claimed)
	s.editCluster("c", func(c *sparkv1.SparkCluster) { property(c, "spark.a", "1") })
	s.untilSet("c-worker", "have the edit", func(set *appsv1.StatefulSet) bool { return hasProperty(set, `-Dspark.a="1"`) })
	s.editCluster("c", func(c *sparkv1.SparkCluster) {
		class := "fast"
		c.Spec.WorkerSpec.StatefulSetSpec.VolumeClaimTemplates[0].Spec.StorageClassName = &class
	})
	s.untilClusterCondition("c", "UpToDate", metav1.ConditionFalse, "VolumeClaimTemplatesEdited")
}

func workerTemplate(pod corev1.PodSpec) *sparkv1.WorkerSpec {
	return &sparkv1.WorkerSpec{StatefulSetSpec: &appsv1.StatefulSetSpec{Template: corev1.PodTemplateSpec{Spec: pod}}}
}

func TestClusterWhosePodsTheAPIServerRefusesCreatesNothing(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	c := Cluster("c")
	c.cluster.Spec.WorkerSpec = workerTemplate(corev1.PodSpec{Containers: []corev1.Container{{Name: "worker", ImagePullPolicy: "Perhaps"}}})
	s.createCluster(c)
	released := s.untilClusterState("c", "ResourceReleased")
	want := `spec.workerSpec.statefulSetSpec.template.spec.containers[0].imagePullPolicy "Perhaps" is no value of the field: write one of Always, IfNotPresent, Never`
	if ready := meta.FindStatusCondition(released.Status.Conditions, "Ready"); ready == nil || ready.Reason != "InvalidSpec" || !strings.Contains(ready.Message, want) {
		t.Errorf("the condition is %+v", ready)
	}
	s.untilOwned()
	s.editCluster("c", func(c *sparkv1.SparkCluster) { c.Spec.WorkerSpec = nil })
	s.untilOwned(ofPlain("c")...)
}

func TestClusterThatIsRefusedIsReleased(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.limitedTo(corev1.ResourceList{"count/statefulsets.apps": resource.MustParse("1")})
	c := s.createCluster(Cluster("c"))
	released := s.untilClusterState("c", "ResourceReleased")
	if message := messageOf(released, "Ready"); !strings.Contains(message, "exceeded quota") || !strings.Contains(message, "raise the quota") {
		t.Errorf("the message is %q", message)
	}
	s.untilOwned()
	s.untilClusterPublished(c, "Submitted", "SchedulingFailure", "ResourceReleased")
	s.unlimited()
	s.editCluster("c", func(c *sparkv1.SparkCluster) { property(c, "spark.a", "1") })
	s.untilOwned(ofPlain("c")...)
	s.untilClusterPublished(c, "Submitted", "SchedulingFailure", "ResourceReleased", "Submitted")
	again := s.untilClusterState("c", "Submitted")
	if again.Status.CurrentAttemptSummary.AttemptInfo.ID != 1 {
		t.Errorf("the attempt is %+v", again.Status.CurrentAttemptSummary.AttemptInfo)
	}
}

func TestClusterFailsIfAnotherOwnerHasAnObjectsName(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	_, err := s.Kube.CoreV1().Services(s.ns).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "c-worker-svc"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{})
	s.must(err)
	s.createCluster(Cluster("c"))
	released := s.untilClusterState("c", "ResourceReleased")
	if message := messageOf(released, "Ready"); !strings.Contains(message, "Service "+s.ns+"/c-worker-svc was refused: it exists already and belongs to another creator") {
		t.Errorf("the message is %q", message)
	}
	s.untilOwned()
	if _, err := s.Kube.CoreV1().Services(s.ns).Get(t.Context(), "c-worker-svc", metav1.GetOptions{}); err != nil {
		t.Errorf("the other's Service: %v", err)
	}
}

func TestClusterMinimumAboveTheMaximumIsReported(t *testing.T) {
	t.Parallel()
	s, _, _ := runningCluster(t, Cluster("c").Workers(2, 5, 1))
	warned := s.untilClusterCondition("c", "Warning", metav1.ConditionTrue, "")
	if message := messageOf(warned, "Warning"); !strings.Contains(message, "minWorkers 5 is above maxWorkers 1") {
		t.Errorf("the message is %q", message)
	}
	s.untilOwned(ofPlain("c")...)
}

func TestClusterSuspendHoldsItsCreation(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.createCluster(Cluster("c").Suspended())
	s.untilClusterCondition("c", "Ready", metav1.ConditionFalse, "Suspended")
	if owned := s.owned(); len(owned) > 0 {
		t.Errorf("there is %q", owned)
	}
	s.editCluster("c", func(c *sparkv1.SparkCluster) { c.Spec.Suspend = false })
	s.untilOwned(ofPlain("c")...)
	s.editCluster("c", func(c *sparkv1.SparkCluster) { c.Spec.Suspend = true })
	warned := s.untilClusterCondition("c", "Warning", metav1.ConditionTrue, "")
	if message := messageOf(warned, "Warning"); !strings.Contains(message, "spec.suspend does nothing to a cluster that exists") {
		t.Errorf("the message is %q", message)
	}
	s.untilOwned(ofPlain("c")...)
}

func TestClusterDeletionWithOrphanKeepsItsObjects(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.createCluster(Cluster("c"))
	s.untilOwned(ofPlain("c")...)
	before := s.statefulSet("c-worker")
	orphan := metav1.DeletePropagationOrphan
	s.must(s.clusters().Delete(t.Context(), "c", metav1.DeleteOptions{PropagationPolicy: &orphan}))
	untilGone(s, s.clusters(), "c")
	s.untilOwned(ofPlain("c")...)
	again := s.createCluster(Cluster("c"))
	adopted := s.untilSet("c-worker", "be taken over", func(set *appsv1.StatefulSet) bool {
		return metav1.IsControlledBy(set, again)
	})
	if adopted.UID != before.UID || adopted.Generation != before.Generation {
		t.Errorf("it was %s of generation %d, and is %s of %d", before.UID, before.Generation, adopted.UID, adopted.Generation)
	}
	until(s, s.Kube.PolicyV1().PodDisruptionBudgets(s.ns), "c-worker-pdb", "be taken over, the last", func(budget *policyv1.PodDisruptionBudget) bool {
		return metav1.IsControlledBy(budget, again)
	})
	foreground := metav1.DeletePropagationForeground
	s.must(s.clusters().Delete(t.Context(), "c", metav1.DeleteOptions{PropagationPolicy: &foreground}))
	untilGone(s, s.clusters(), "c")
	s.untilOwned()
}

// While no controller runs, the garbage collector orphans all objects, including Pods.
func TestClusterDeletionWithOrphanWhileTheControllerIsDown(t *testing.T) {
	alone(t)
	s := newEnv(t)
	away := s.ownController(controller{sink: s.sink.URL()})
	s.createCluster(Cluster("c"))
	s.untilOwned(ofPlain("c")...)
	set := s.statefulSet("c-worker")
	_, err := s.Kube.CoreV1().Pods(s.ns).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "c-worker-0", Labels: set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "worker", Image: "none"}}},
	}, metav1.CreateOptions{})
	s.must(err)
	away.Kill()
	orphan := metav1.DeletePropagationOrphan
	s.must(s.clusters().Delete(t.Context(), "c", metav1.DeleteOptions{PropagationPolicy: &orphan}))
	until(s, s.clusters(), "c", "be left to its controller", func(c *sparkv1.SparkCluster) bool {
		return slices.Equal(c.Finalizers, []string{"sparkclusters.spark.apache.org/finalizer"})
	})
	s.ownController(controller{sink: s.sink.URL()})
	untilGone(s, s.clusters(), "c")
	s.untilOwned(ofPlain("c")...)
	if _, err := s.Kube.CoreV1().Pods(s.ns).Get(t.Context(), "c-worker-0", metav1.GetOptions{}); err != nil {
		t.Errorf("its Pod: %v", err)
	}
}

// A cluster of the Apache operator continues without a restart: its StatefulSets keep their immutable fields and their Pods.
func TestAdoptionOfAClusterOfTheApacheOperator(t *testing.T) {
	alone(t)
	s := newEnv(t)
	c := Cluster("c").Obj()
	c.Finalizers = []string{"sparkclusters.spark.apache.org/finalizer"}
	c, err := s.clusters().Create(t.Context(), c, metav1.CreateOptions{})
	s.must(err)
	s.leaveApaches(c)
	s.ownController(controller{sink: s.sink.URL()})
	m := s.newMaster()
	m.has(2)
	s.answersFor(m, "c")
	s.untilOwned(ofPlain("c")...)
	adopted := s.untilSet("c-worker", "be signed", func(set *appsv1.StatefulSet) bool {
		return set.Annotations["firesteel.dev/spec-hash"] != ""
	})
	if adopted.Generation != 1 || !maps.Equal(adopted.Spec.Selector.MatchLabels, map[string]string{"spark-role": "worker"}) {
		t.Errorf("it was changed: %+v", adopted.Spec)
	}
	s.untilClusterCondition("c", "UpToDate", metav1.ConditionFalse, "TakenOver")
	s.editCluster("c", func(c *sparkv1.SparkCluster) { property(c, "spark.a", "1") })
	edited := s.untilSet("c-worker", "have the edit", func(set *appsv1.StatefulSet) bool { return hasProperty(set, `-Dspark.a="1"`) })
	if !maps.Equal(edited.Spec.Selector.MatchLabels, map[string]string{"spark-role": "worker"}) || edited.UID != adopted.UID {
		t.Errorf("it selects %v", edited.Spec.Selector.MatchLabels)
	}
	until(s, s.clusters(), "c", "have a record", func(c *sparkv1.SparkCluster) bool { return c.Status.Firesteel != nil })
	s.untilClusterCondition("c", "Ready", metav1.ConditionTrue, "")
	s.must(s.clusters().Delete(t.Context(), "c", metav1.DeleteOptions{}))
	untilGone(s, s.clusters(), "c")
	s.untilOwned()
}

// leaveApaches makes what the Apache operator makes of a cluster.
func (s *env) leaveApaches(c *sparkv1.SparkCluster) {
	s.Helper()
	for _, role := range []string{"master", "worker"} {
		set := &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{
				Name:            "c-" + role,
				Labels:          map[string]string{"spark.operator/name": "spark-kubernetes-operator", "spark.operator/spark-cluster-name": "c"},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "spark.apache.org/v1", Kind: "SparkCluster", Name: "c", UID: c.UID}},
			},
			Spec: appsv1.StatefulSetSpec{
				PodManagementPolicy: "Parallel",
				Selector:            &metav1.LabelSelector{MatchLabels: map[string]string{"spark-role": role}},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"spark-role": role, "spark.operator/spark-cluster-name": "c"}},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: role, Image: "apache/spark:4.1.1"}}},
				},
			},
		}
		_, err := s.Kube.AppsV1().StatefulSets(s.ns).Create(s.Context(), set, metav1.CreateOptions{FieldManager: "fabric8"})
		s.must(err)
	}
	const status = `{"status": {"currentState": {"currentStateSummary": "RunningHealthy", "lastTransitionTime": "2026-01-02T03:04:06.5Z",
		"message": "Cluster has reached ready state."}, "stateTransitionHistory": {
		"0": {"currentStateSummary": "Submitted", "lastTransitionTime": "2026-01-02T03:04:05Z"},
		"1": {"currentStateSummary": "RunningHealthy", "lastTransitionTime": "2026-01-02T03:04:06.5Z"}},
		"currentAttemptSummary": {"attemptInfo": {"id": 0, "restartCounter": 0}}}}`
	_, err := s.clusters().Patch(s.Context(), "c", types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status")
	s.must(err)
}

func TestClusterFailsIfItsMasterNeverAnswers(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.must(s.Configure(t.Context(), "config-clusters", map[string]string{"master-start-timeout": "3s"}))
	t.Cleanup(func() {
		s.must(s.Configure(context.Background(), "config-clusters", map[string]string{"master-start-timeout": ""}))
	})
	s.ownController(controller{sink: s.sink.URL()})
	c := s.createCluster(Cluster("c"))
	released := s.untilClusterState("c", "ResourceReleased")
	if message := messageOf(released, "Ready"); !strings.Contains(message, "The master has not answered within 3s") {
		t.Errorf("the message is %q", message)
	}
	s.untilOwned()
	s.untilClusterPublished(c, "Submitted", "Failed", "ResourceReleased")
}

func TestUndecodableClusterIsReported(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	const manifest = `{"apiVersion": "spark.apache.org/v1", "kind": "SparkCluster", "metadata": {"name": "odd"}, "spec": {
		"runtimeVersions": {"sparkVersion": "4.1.1"}, "clusterTolerations": {"instanceConfig": {"initWorkers": 1, "minWorkers": 1, "maxWorkers": 1}},
		"masterSpec": {"statefulSetSpec": {"template": {"spec": {"containers": 5}}}}}}`
	s.submitted(manifest)
	s.createCluster(Cluster("c"))
	s.untilOwned(ofPlain("c")...)
	s.untilKubeEvent("odd", corev1.EventTypeWarning, "Undecodable")
	_, err := s.kubectl("", "delete", "sparkclusters.spark.apache.org", "odd", "--timeout="+timeout.String())
	s.must(err)
}

func TestManyClustersBecomeReady(t *testing.T) {
	alone(t)
	const many = 40
	s := newEnv(t)
	s.ownController(controller{sink: s.sink.URL()})
	m := s.newMaster()
	m.has(2)
	for i := range many {
		s.answersFor(m, fmt.Sprintf("c%d", i))
	}
	began := time.Now()
	for i := range many {
		s.createCluster(Cluster(fmt.Sprintf("c%d", i)))
	}
	for i := range many {
		s.untilClusterState(fmt.Sprintf("c%d", i), "RunningHealthy")
	}
	t.Logf("%d clusters are ready after %s", many, time.Since(began))
}
