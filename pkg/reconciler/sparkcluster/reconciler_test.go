package sparkcluster

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"knative.dev/pkg/controller"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/masterui"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/events"
)

type kubeObject = runtime.Object

var created = []string{
	"create services c-master-svc", "create services c-worker-svc", "create networkpolicies c-worker",
	"create statefulsets c-master", "create statefulsets c-worker", "create poddisruptionbudgets c-worker-pdb",
}

func TestClusterRecordIsWrittenBeforeTheObjectsAreCreated(t *testing.T) {
	w := newEnv(t, plainCluster())
	var known bool
	w.kube.PrependReactor("create", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		known = w.now().Status.Firesteel != nil
		return false, nil, nil
	})
	c := w.reconcile()
	if !known || c.Status.CurrentState.CurrentStateSummary != "Submitted" {
		t.Errorf("it was created when the status was %+v", c.Status)
	}
	w.wantWrites("a new cluster", append([]string{"update sparkclusters/status c"}, created...)...)
	if want := (masterui.Master{Namespace: "spark", Service: "c-master-svc", Port: 8080}); w.masters.followed != want || w.masters.every != 2*time.Second {
		t.Errorf("asks %+v every %s", w.masters.followed, w.masters.every)
	}
}

func TestNothingIsWrittenWithoutAChange(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	for range 3 {
		w.reconcile()
	}
	w.wantWrites("a cluster at rest")
	w.reconcile()
	w.clock.SetTime(began.Add(time.Hour))
	w.reconcile()
	w.wantWrites("an hour later")
}

// The caches may not have the new objects yet.
func TestNewObjectsAreNotCreatedAgain(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.reconcile()
	w.forgetWrites()
	w.reconcile()
	w.wantWrites("at once")
}

func TestNothingIsCreatedIfTheRecordIsPruned(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.spark.PrependReactor("update", "sparkclusters", func(action clienttesting.Action) (bool, runtime.Object, error) {
		c := action.(clienttesting.UpdateAction).GetObject().(*sparkv1.SparkCluster).DeepCopy()
		c.Status.Firesteel = nil
		return true, c, nil
	})
	err := w.r.ReconcileKind(w.ctx, w.now())
	if again, after := controller.IsRequeueKey(err); !again || after != time.Minute {
		t.Errorf("it ends with %v", err)
	}
	w.wantWrites("a pruned record", "update sparkclusters/status c")
	if said := <-w.events.Events; !strings.Contains(said, "WrongCustomResourceDefinition") || !strings.Contains(said, "config/300-sparkcluster.yaml") {
		t.Errorf("the Event is %q", said)
	}
	// The write changed the cluster, so it is reconciled again at once.
	w.clock.SetTime(began.Add(10 * time.Second))
	err = w.r.ReconcileKind(w.ctx, w.now())
	if again, after := controller.IsRequeueKey(err); !again || after != 50*time.Second {
		t.Errorf("it ends with %v", err)
	}
	w.wantWrites("within a minute")
	if len(w.events.Events) > 0 {
		t.Errorf("there is another Event: %q", <-w.events.Events)
	}
	// A minute later the CustomResourceDefinition may have been replaced.
	w.clock.SetTime(began.Add(time.Minute))
	_ = w.r.ReconcileKind(w.ctx, w.now())
	w.wantWrites("after a minute", "update sparkclusters/status c")
}

func TestClusterThatIsTooLargeForAStatusIsLeftAloneAndCanBeDeleted(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.spark.PrependReactor("update", "sparkclusters", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewRequestEntityTooLargeError("limit is 3145728")
	})
	err := w.r.ReconcileKind(w.ctx, w.now())
	if again, after := controller.IsRequeueKey(err); !again || after != time.Minute {
		t.Errorf("it ends with %v", err)
	}
	if said := <-w.events.Events; !strings.Contains(said, "TooLargeForStatus") || !strings.Contains(said, "Make its spec smaller.") {
		t.Errorf("the Event is %q", said)
	}
	c := w.now()
	c.DeletionTimestamp = &metav1.Time{Time: began}
	if err := w.r.FinalizeKind(w.ctx, c); err != nil {
		t.Errorf("its deletion hangs: %v", err)
	}
}

func TestClusterDeletionWithAPrunedRecordIsReleased(t *testing.T) {
	w := newEnv(t, plainCluster())
	c := w.runs()
	c.Status.Firesteel, c.DeletionTimestamp = nil, &metav1.Time{Time: began}
	w.r.state.forget(c)
	w.r.state.pruned.Note(c.UID, began)
	if err := w.r.FinalizeKind(w.ctx, c); err != nil {
		t.Errorf("its deletion hangs: %v", err)
	}
	if asked := strings.Join(w.writes(), ", "); !strings.Contains(asked, "delete statefulsets c-worker") || strings.Contains(asked, "sparkclusters") {
		t.Errorf("asked to %s", asked)
	}
}

func TestClusterTemporaryErrorIsRetried(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.refuse("create", "statefulsets", errAway)
	if err := w.r.ReconcileKind(w.ctx, w.now()); !errors.Is(err, errAway) {
		t.Errorf("it ends with %v", err)
	}
	if c := w.now(); c.Status.CurrentState.CurrentStateSummary != "Submitted" {
		t.Errorf("it is %+v", c.Status.CurrentState)
	}
}

func quotaExceeded() error {
	return apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "statefulsets"}, "c-worker", errors.New("exceeded quota: small"))
}

func TestRefusalOfAClusterByARuleSaysWhatToDo(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.refuse("create", "statefulsets", apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "statefulsets"}, "c-worker",
		errors.New("admission webhook \"policy.example.com\" denied the request: the image has no digest")))
	ready := meta.FindStatusCondition(w.reconcile().Status.Conditions, "Ready")
	if ready.Reason != "Forbidden" || !strings.HasSuffix(ready.Message, "the image has no digest; change what the message names, or ask who owns the rule") {
		t.Errorf("Ready is %+v", ready)
	}
}

func TestClusterEndsAfterATerminalRefusal(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.refuse("create", "statefulsets", quotaExceeded())
	c := w.reconcile()
	states := ""
	for _, transition := range c.Status.Firesteel.Transitions {
		states += transition.State + " "
	}
	if states != "Submitted SchedulingFailure ResourceReleased " {
		t.Errorf("it went through %s", states)
	}
	ready := meta.FindStatusCondition(c.Status.Conditions, "Ready")
	if ready.Reason != "QuotaExceeded" || !strings.Contains(ready.Message, "StatefulSet spark/c-master was refused") || !strings.Contains(ready.Message, "raise the quota") {
		t.Errorf("Ready is %+v", ready)
	}
	asked := strings.Join(w.writes(), ", ")
	for _, gone := range []string{"delete services c-master-svc", "delete services c-worker-svc", "delete networkpolicies c-worker"} {
		if !strings.Contains(asked, gone) {
			t.Errorf("asked to %s, not to %s", asked, gone)
		}
	}
}

// A replica that led the cluster before may create an object after its release. The object of a later attempt looks the same while the cache is
// stale.
func TestAnObjectThatIsCreatedLateForAReleasedClusterIsDeleted(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.refuse("create", "statefulsets", quotaExceeded())
	c := w.reconcile()
	objects, err := resources.Build(c, resources.Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	late := objects.MasterService
	if _, err := w.kube.CoreV1().Services("spark").Create(w.ctx, late, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.waitUntil("see the late object", func() bool { return w.r.owned.get(c.UID, objectKeyOf(late)) != nil })
	scale := func(workers int32, version string) {
		w.edit(func(c *sparkv1.SparkCluster) {
			c.Spec.ClusterTolerations.InstanceConfig.InitWorkers, c.ResourceVersion = workers, version
		})
	}
	scale(1, "18")
	w.forgetWrites()
	if err := w.r.ReconcileKind(w.ctx, c); !apierrors.IsConflict(err) {
		t.Errorf("it ends with %v", err)
	}
	w.wantWrites("while the cache is stale")
	scale(2, "19")
	w.forgetWrites()
	w.reconcile()
	if asked := w.writes(); !slices.Contains(asked, "delete services c-master-svc") {
		t.Errorf("asked to %q", asked)
	}
}

// The API server checks quotas before names: if the response of a create was lost, the next create is refused
// although the object exists.
func TestClusterRefusedCreateOfAnExistingObject(t *testing.T) {
	owner := []metav1.OwnerReference{{APIVersion: "spark.apache.org/v1", Kind: "SparkCluster", Name: "c", UID: "uid"}}
	for name, test := range map[string]struct {
		existing metav1.ObjectMeta
		answer   error // to the GET
		again    bool  // the reconcile returns an error
		state    string
		reason   string
	}{
		"is ignored if the cluster owns it":    {existing: metav1.ObjectMeta{OwnerReferences: owner}, state: "Submitted", reason: "Submitted"},
		"waits if the object is being deleted": {existing: metav1.ObjectMeta{OwnerReferences: owner, DeletionTimestamp: &metav1.Time{Time: began}, Finalizers: []string{"f"}}, state: "Submitted", reason: "NameNotFree"},
		"fails if it has another owner":        {state: "ResourceReleased", reason: "NameTaken"},
		"is retried if the GET fails":          {answer: errAway, again: true, state: "Submitted", reason: "Submitted"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, plainCluster())
			w.kube.PrependReactor("create", "statefulsets", func(action clienttesting.Action) (bool, runtime.Object, error) {
				set := action.(clienttesting.CreateAction).GetObject().(*appsv1.StatefulSet).DeepCopy()
				if set.Name != "c-worker" {
					return false, nil, nil
				}
				test.existing.Namespace, test.existing.Name, test.existing.Labels = set.Namespace, set.Name, nil
				test.existing.UID, test.existing.Annotations = "there", set.Annotations
				set.ObjectMeta = test.existing
				if err := w.kube.Tracker().Add(set); err != nil && !apierrors.IsAlreadyExists(err) {
					t.Error(err)
				}
				return true, nil, quotaExceeded()
			})
			w.kube.PrependReactor("get", "statefulsets", func(clienttesting.Action) (bool, runtime.Object, error) {
				return test.answer != nil, nil, test.answer
			})
			if err := w.r.ReconcileKind(w.ctx, w.now()); (err != nil) != test.again {
				t.Errorf("it ends with %v", err)
			}
			c := w.now()
			ready := meta.FindStatusCondition(c.Status.Conditions, "Ready")
			if c.Status.CurrentState.CurrentStateSummary != test.state || ready.Reason != test.reason {
				t.Errorf("it is %s, and Ready is %+v", c.Status.CurrentState.CurrentStateSummary, ready)
			}
		})
	}
}

func TestClusterEditThatIsRefusedIsTriedAgainAfterAWhile(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	w.refuse("update", "statefulsets", apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, "c-worker", nil))
	w.edit(func(c *sparkv1.SparkCluster) { c.Spec.SparkConf = map[string]string{"spark.a": "1"} })
	c := w.reconcile()
	condition := meta.FindStatusCondition(c.Status.Conditions, "UpToDate")
	if condition.Reason != "Invalid" || c.Status.CurrentState.CurrentStateSummary != "RunningHealthy" {
		t.Errorf("UpToDate is %+v", condition)
	}
	w.forgetWrites()
	w.reconcile()
	w.wantWrites("a moment later")
	w.clock.SetTime(began.Add(time.Minute))
	w.reconcile()
	w.wantWrites("a minute later", "update statefulsets c-master", "update statefulsets c-worker")
}

func TestClusterEditUpdatesOnlyTheObjectsThatItChanges(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	w.edit(func(c *sparkv1.SparkCluster) { c.Spec.ClusterTolerations.InstanceConfig.InitWorkers = 3 })
	w.reconcile()
	w.wantWrites("scaled", "update sparkclusters c", "update sparkclusters/status c", "update sparkclusters/status c", "update statefulsets c-worker")
	if got := *w.set("c-worker").Spec.Replicas; got != 3 {
		t.Errorf("it has %d workers", got)
	}
}

// A client that waits for UpToDate with the generation of an edit must not see the state before the edit.
func TestClusterEditIsNotUpToDateBeforeItIsWritten(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	away := true
	w.kube.PrependReactor("update", "statefulsets", func(clienttesting.Action) (bool, runtime.Object, error) { return away, nil, errAway })
	w.edit(func(c *sparkv1.SparkCluster) { c.Spec.ClusterTolerations.InstanceConfig.InitWorkers = 3 })
	for range 2 {
		if err := w.r.ReconcileKind(w.ctx, w.now()); !errors.Is(err, errAway) {
			t.Errorf("it ends with %v", err)
		}
		if upToDate := meta.FindStatusCondition(w.now().Status.Conditions, "UpToDate"); upToDate.Reason != "RollingOut" || upToDate.ObservedGeneration != 2 {
			t.Errorf("UpToDate is %+v", upToDate)
		}
	}
	away = false
	if condition := meta.FindStatusCondition(w.reconcile().Status.Conditions, "UpToDate"); condition.Status != metav1.ConditionTrue {
		t.Errorf("after the write UpToDate is %+v", condition)
	}
}

// A change of a Service between headless and not headless cannot be updated.
func TestClusterServiceThatGetsAClusterIPIsReplaced(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	w.edit(func(c *sparkv1.SparkCluster) {
		c.Spec.MasterSpec = &sparkv1.MasterSpec{ServiceSpec: &corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Name: "web", Port: 80}},
		}}
	})
	w.reconcile()
	w.wantWrites("another type", "update sparkclusters c", "update sparkclusters/status c", "update sparkclusters/status c",
		"delete services c-master-svc", "create services c-master-svc")
	w.waitForCaches()
	w.reconcile()
	if w.masters.followed.Port != 80 {
		t.Errorf("asks %+v", w.masters.followed)
	}
	w.refuse("delete", "services", errAway)
	w.edit(func(c *sparkv1.SparkCluster) { c.Spec.MasterSpec = nil })
	if err := w.r.ReconcileKind(w.ctx, w.now()); !errors.Is(err, errAway) || w.masters.followed.Port != 80 {
		t.Errorf("%v; asks %+v, which is still the one with an address", err, w.masters.followed)
	}
}

func TestClusterObjectThatIsDeletedIsCreatedAgain(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	if err := w.kube.CoreV1().Services("spark").Delete(w.ctx, "c-master-svc", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.waitUntil("see that it is gone, or its label", func() bool { return len(w.r.owned.uncertainKeys("uid")) > 0 })
	w.forgetWrites()
	w.reconcile()
	w.wantWrites("without its Service", "create services c-master-svc")
}

func TestClusterLabelThatIsChangedIsRestored(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	set := w.set("c-worker")
	set.Labels[resources.LabelCluster] = "other"
	if _, err := w.kube.AppsV1().StatefulSets("spark").Update(w.ctx, set, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.waitUntil("see the label", func() bool { return w.r.owned.cached(objectKeyOf(set)).GetLabels()[resources.LabelCluster] == "other" })
	w.forgetWrites()
	w.reconcile()
	w.wantWrites("with another label", "update statefulsets c-worker")
	w.reconcile()
	w.wantWrites("with its own")
	if label := w.set("c-worker").Labels[resources.LabelCluster]; label != "c" {
		t.Errorf("its label is %q", label)
	}
}

// A webhook may insist on another label.
func TestClusterLabelThatAWebhookChangesIsWrittenOnlyOnce(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.kube.PrependReactor("create", "services", func(action clienttesting.Action) (bool, runtime.Object, error) {
		made := action.(clienttesting.CreateAction).GetObject().(*corev1.Service)
		made.Labels[resources.LabelCluster] = "theirs"
		return false, nil, nil
	})
	w.reconcile()
	ready := meta.FindStatusCondition(w.now().Status.Conditions, "Ready")
	if ready == nil || !strings.Contains(ready.Message, `its label spark.operator/spark-cluster-name was changed by an admission webhook or policy, to "theirs"`) {
		t.Errorf("Ready is %+v", ready)
	}
}

func TestClusterReplicasOfTheAutoscalerStay(t *testing.T) {
	c := plainCluster()
	c.Spec.ClusterTolerations.InstanceConfig.MaxWorkers = 5
	w := newEnv(t, c)
	w.runs()
	set := w.set("c-worker")
	four := int32(4)
	set.Spec.Replicas = &four
	if _, err := w.kube.AppsV1().StatefulSets("spark").Update(w.ctx, set, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.edit(func(c *sparkv1.SparkCluster) { c.Spec.SparkConf = map[string]string{"spark.a": "1"} })
	w.reconcile()
	if got := *w.set("c-worker").Spec.Replicas; got != 4 {
		t.Errorf("it has %d workers", got)
	}
	w.waitForCaches()
	w.edit(func(c *sparkv1.SparkCluster) { c.Spec.ClusterTolerations.InstanceConfig.MaxWorkers = 2 })
	w.reconcile()
	w.wantWrites("without an autoscaler", "update sparkclusters c", "update sparkclusters/status c", "update sparkclusters/status c",
		"delete horizontalpodautoscalers c-worker-hpa", "update statefulsets c-worker")
	if got := *w.set("c-worker").Spec.Replicas; got != 2 {
		t.Errorf("it has %d workers", got)
	}
}

func TestClusterReplicasAreThoseOfTheSpecWithoutAnAutoscaler(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	set := w.set("c-worker")
	set.Spec.Replicas = new(int32)
	if _, err := w.kube.AppsV1().StatefulSets("spark").Update(w.ctx, set, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.waitUntil("see it", func() bool { return *w.r.statefulSet(w.now(), "c-worker").Spec.Replicas == 0 })
	w.forgetWrites()
	w.reconcile()
	w.wantWrites("scaled past the spec", "update statefulsets c-worker")
	if got := *w.set("c-worker").Spec.Replicas; got != 2 {
		t.Errorf("it has %d workers", got)
	}
}

// Objects of another operator run on unchanged, and do not count as up to date.
func TestClusterStatefulSetThatIsAdoptedIsNotUpToDateBeforeAnEdit(t *testing.T) {
	w := newEnv(t, plainCluster())
	owner := metav1.OwnerReference{APIVersion: "spark.apache.org/v1", Kind: "SparkCluster", Name: "c", UID: "uid"}
	four := int32(4)
	err := w.kube.Tracker().Add(&appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "spark", Name: "c-worker", OwnerReferences: []metav1.OwnerReference{owner},
			Labels: map[string]string{"spark.operator/spark-cluster-name": "c"},
		},
		Spec: appsv1.StatefulSetSpec{Replicas: &four},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.runs()
	c := w.reconcile()
	if condition := meta.FindStatusCondition(c.Status.Conditions, "UpToDate"); condition.Reason != "TakenOver" || *w.set("c-worker").Spec.Replicas != 4 {
		t.Errorf("UpToDate is %+v", condition)
	}
	w.edit(func(c *sparkv1.SparkCluster) { c.Spec.SparkConf = map[string]string{"spark.a": "1"} })
	w.reconcile()
	w.waitForCaches()
	if c := w.reconcile(); !meta.IsStatusConditionTrue(c.Status.Conditions, "UpToDate") || *w.set("c-worker").Spec.Replicas != 2 {
		t.Errorf("after an edit UpToDate is %+v", meta.FindStatusCondition(c.Status.Conditions, "UpToDate"))
	}
}

// An autoscaler never scales a StatefulSet with zero Pods.
func TestClusterWithAnAutoscalerThatHadNoWorkersGetsSome(t *testing.T) {
	c := plainCluster()
	c.Spec.ClusterTolerations.InstanceConfig.InitWorkers = 0
	w := newEnv(t, c)
	w.runs()
	if got := *w.set("c-worker").Spec.Replicas; got != 0 {
		t.Fatalf("it has %d workers", got)
	}
	w.edit(func(c *sparkv1.SparkCluster) { c.Spec.ClusterTolerations.InstanceConfig.MaxWorkers = 5 })
	w.reconcile()
	w.wantWrites("a range", "update sparkclusters c", "update sparkclusters/status c", "update sparkclusters/status c",
		"update statefulsets c-worker", "create horizontalpodautoscalers c-worker-hpa")
	if got := *w.set("c-worker").Spec.Replicas; got != 2 {
		t.Errorf("it has %d workers", got)
	}
}

func TestNumbersOfWorkersAreWrittenAtMostEveryTenSeconds(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	w.masters.seen = &cluster.Master{Alive: true, Workers: 7}
	w.reconcile()
	if len(w.requeues) == 0 || w.requeues[len(w.requeues)-1] != 10*time.Second {
		t.Errorf("requeued after %v", w.requeues)
	}
	w.wantWrites("at once")
	w.clock.SetTime(began.Add(10 * time.Second))
	if c := w.reconcile(); c.Status.Workers.Registered != 7 {
		t.Errorf("workers are %+v", c.Status.Workers)
	}
	w.wantWrites("after ten seconds", "update sparkclusters/status c")
}

func TestClusterMasterThatFailsShortlyLeavesTheNumberOfWorkers(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	w.clock.SetTime(began.Add(workersAfter))
	w.reconcile()
	w.clock.SetTime(began.Add(time.Minute))
	silence := &cluster.Master{FailingSince: w.clock.Now(), Problem: "there is no answer in time"}
	w.masters.seen = silence
	c := w.reconcile()
	if !meta.IsStatusConditionTrue(c.Status.Conditions, "Ready") || c.Status.Workers.Registered != 2 {
		t.Errorf("workers are %+v", c.Status.Workers)
	}
	w.clock.SetTime(began.Add(2 * time.Minute))
	if c = w.reconcile(); meta.IsStatusConditionTrue(c.Status.Conditions, "Ready") || c.Status.Workers.Registered != 0 {
		t.Errorf("after a long failure of the master workers are %+v", c.Status.Workers)
	}
}

func TestClusterCursorIsWrittenAtRest(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	w.relay.progress.Acknowledged = 2
	w.reconcile()
	if w.requeues[len(w.requeues)-1] != 30*time.Second {
		t.Errorf("requeued after %v", w.requeues)
	}
	w.wantWrites("at once")
	w.clock.SetTime(began.Add(30 * time.Second))
	if c := w.reconcile(); c.Status.Firesteel.Acknowledged != 2 || !meta.IsStatusConditionTrue(c.Status.Conditions, "EventsDelivered") {
		t.Errorf("the record is %+v", c.Status.Firesteel)
	}
	w.wantWrites("at rest", "update sparkclusters/status c")
	w.relay.progress.Acknowledged = 3 // the cache is stale
	w.reconcile()
	if slices.Contains(w.requeues, 0) {
		t.Errorf("for a cursor beyond the record it is requeued after %v", w.requeues)
	}
}

// A sink that takes nothing is reported once, and stays reported until it takes something.
func TestClusterSinkThatTakesNothingIsReported(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	expect := func(when string, progress events.Progress, reason string, writes ...string) {
		t.Helper()
		w.relay.progress = progress
		c := meta.FindStatusCondition(w.reconcile().Status.Conditions, "EventsDelivered")
		if c.Reason != reason {
			t.Errorf("%s the condition is %+v", when, c)
		}
		w.wantWrites(when, writes...)
	}
	const write = "update sparkclusters/status c"
	w.wantWrites("at first")
	expect("while it takes nothing", events.Progress{Pending: 2, SinkFailure: "it is down"}, "SinkUnavailable", write)
	expect("with another reason", events.Progress{Pending: 2, SinkFailure: "it is away"}, "SinkUnavailable")
	expect("after a restart", events.Progress{Pending: 2}, "SinkUnavailable")
	expect("when it takes one", events.Progress{Pending: 1, Acknowledged: 1}, "Pending", write)
}

func TestClusterDeletionReleasesTheCluster(t *testing.T) {
	w := newEnv(t, plainCluster())
	c := w.runs()
	c.DeletionTimestamp = &metav1.Time{Time: began}
	if again, _ := controller.IsRequeueKey(w.r.FinalizeKind(w.ctx, c)); !again {
		t.Error("its finalizer is removed before its events are delivered")
	}
	asked := w.writes()
	if len(asked) != 7 || asked[0] != "update sparkclusters/status c" {
		t.Errorf("asked to %q", asked)
	}
	if state := cluster.Current(c.Status.Firesteel); state != cluster.ResourceReleased {
		t.Errorf("it is %s", state)
	}
	w.relay.progress.Acknowledged = c.Status.Firesteel.Sequence
	if err := w.r.FinalizeKind(w.ctx, c); err != nil || w.relay.gone == 0 || w.masters.gone == 0 {
		t.Errorf("%v: forgotten %d and %d times", err, w.relay.gone, w.masters.gone)
	}
	condition := len(w.relay.published)
	if again, _ := controller.IsRequeueKey(w.r.FinalizeKind(w.ctx, c)); !again || len(w.relay.published) > condition {
		t.Error("it is published again because the cache is stale")
	}
}

// A write of another writer, such as the garbage collector that removes its own finalizer, makes the removal of
// Firesteel's finalizer conflict.
func TestClusterFinalizerRemovalThatConflictsIsRetriedAtOnce(t *testing.T) {
	const finalizer = "sparkclusters.spark.apache.org/finalizer"
	for name, test := range map[string]struct {
		version   string
		finalizer string
		waits     bool
	}{
		"as it was":                           {"7", finalizer, true},
		"without Firesteel's finalizer":       {"8", metav1.FinalizerDeleteDependents, true},
		"changed, with Firesteel's finalizer": {"8", finalizer, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, plainCluster())
			c := w.runs()
			c.DeletionTimestamp, c.ResourceVersion = &metav1.Time{Time: began}, "7"
			c.Finalizers = []string{finalizer, metav1.FinalizerOrphanDependents}
			w.relay.progress.Acknowledged = 3
			if err := w.r.FinalizeKind(w.ctx, c); err != nil {
				t.Fatal(err)
			}
			c.ResourceVersion, c.Finalizers = test.version, []string{test.finalizer}
			if waits, _ := controller.IsRequeueKey(w.r.FinalizeKind(w.ctx, c)); waits != test.waits {
				t.Errorf("it waits: %t", waits)
			}
		})
	}
}

func TestClusterDeletionThatWaitsIsReportedWithOneWrite(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.reconcile()
	w.createPod(&corev1.Pod{ObjectMeta: podOf("c-worker", "")})
	c := w.runs()
	c.DeletionTimestamp = &metav1.Time{Time: began}
	for range 3 {
		if again, _ := controller.IsRequeueKey(w.r.FinalizeKind(w.ctx, c)); !again {
			t.Fatal("its finalizer is removed while a Pod is left")
		}
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
	}
	ready := meta.FindStatusCondition(w.now().Status.Conditions, "Ready")
	if ready.Status != metav1.ConditionFalse || ready.Reason != "Deleting" || !strings.Contains(ready.Message, "Pod c-worker-0") {
		t.Errorf("Ready is %+v", ready)
	}
	var writes []string
	for _, asked := range w.writes() {
		if strings.Contains(asked, "sparkclusters") {
			writes = append(writes, asked)
		}
	}
	if len(writes) != 1 {
		t.Errorf("asked to %q", writes)
	}
}

func TestOrphanedObjectsStay(t *testing.T) {
	w := newEnv(t, plainCluster())
	c := w.runs()
	c.DeletionTimestamp, c.Finalizers = &metav1.Time{Time: began}, []string{metav1.FinalizerOrphanDependents}
	w.relay.progress.Acknowledged = 3
	if err := w.r.FinalizeKind(w.ctx, c); err != nil {
		t.Error(err)
	}
	w.wantWrites("orphaned", "update sparkclusters/status c")
}

func TestObjectsOfOtherOwnersAreLeftAlone(t *testing.T) {
	for name, test := range map[string]struct {
		metadata metav1.ObjectMeta
		want     string // part of the message; empty if the cluster goes on
	}{
		"no owner": {want: "belongs to another creator: it has no owner reference"},
		"a Deployment's": {
			metadata: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: "Deployment", Name: "d", UID: "other"}}},
			want:     "belongs to Deployment d",
		},
		"an orphan of this cluster's": {
			metadata: metav1.ObjectMeta{Labels: map[string]string{"spark.operator/name": "op", "spark.operator/spark-cluster-name": "c"}},
		},
		"the Apache operator's": {
			metadata: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: "spark.apache.org/v1", Kind: "SparkCluster", Name: "c", UID: "uid"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, plainCluster())
			test.metadata.Namespace, test.metadata.Name = "spark", "c-worker-svc"
			if err := w.kube.Tracker().Add(&corev1.Service{ObjectMeta: test.metadata}); err != nil {
				t.Fatal(err)
			}
			c := w.reconcile()
			message := meta.FindStatusCondition(c.Status.Conditions, "Ready").Message
			if over := c.Status.CurrentState.CurrentStateSummary == "ResourceReleased"; over != (test.want != "") || !strings.Contains(message, test.want) {
				t.Errorf("it is %s: %s", c.Status.CurrentState.CurrentStateSummary, message)
			}
			service, err := w.kube.CoreV1().Services("spark").Get(w.ctx, "c-worker-svc", metav1.GetOptions{})
			if err != nil || metav1.IsControlledBy(service, c) != (test.want == "") {
				t.Errorf("the Service is %+v: %v", service, err)
			}
		})
	}
}

// The caches of a cluster and of its objects are not in step: objects may seem orphaned, or not orphaned yet, when
// the opposite is true.
func TestObjectsOrphanedByADeletionAreNotAdopted(t *testing.T) {
	w := newEnv(t, plainCluster())
	before := w.runs()
	service, err := w.kube.CoreV1().Services("spark").Get(w.ctx, "c-worker-svc", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	service.OwnerReferences = nil
	if _, err := w.kube.CoreV1().Services("spark").Update(w.ctx, service, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.waitUntil("see it orphaned", func() bool { return !owns("uid", w.r.owned.get("uid", objectKeyOf(service))) })
	deleted := w.now()
	deleted.DeletionTimestamp = &metav1.Time{Time: began}
	if _, err := w.spark.SparkV1().SparkClusters("spark").Update(w.ctx, deleted, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.forgetWrites()
	if err := w.r.ReconcileKind(w.ctx, before); !apierrors.IsConflict(err) {
		t.Errorf("it ends with %v", err)
	}
	w.wantWrites("of an orphan")
}

func TestDeletionsHavePreconditions(t *testing.T) {
	w := newEnv(t, plainCluster())
	c := w.runs()
	set := w.set("c-worker")
	set.ResourceVersion = "7"
	w.cached(set)
	w.r.owned.written(set)
	stale := apierrors.NewConflict(schema.GroupResource{Group: "apps", Resource: "statefulsets"}, "c-worker", errors.New("it was changed"))
	w.kube.PrependReactor("delete", "statefulsets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		asked := action.(clienttesting.DeleteActionImpl)
		if asked.Name != "c-worker" {
			return false, nil, nil
		}
		if only := asked.DeleteOptions.Preconditions; only == nil || only.ResourceVersion == nil || *only.ResourceVersion != "7" {
			t.Errorf("it is deleted if %+v", only)
		}
		return true, nil, stale
	})
	c.DeletionTimestamp = &metav1.Time{Time: began}
	if err := w.r.FinalizeKind(w.ctx, c); !apierrors.IsConflict(err) {
		t.Errorf("it ends with %v", err)
	}
	if w.r.statefulSet(c, "c-worker") == nil {
		t.Error("it counts as deleted")
	}
}

// The garbage collector is about to delete the objects of an earlier cluster of the same name.
func TestClusterObjectOfANamesakeIsWaitedFor(t *testing.T) {
	w := newEnv(t, plainCluster())
	owner := metav1.OwnerReference{APIVersion: "spark.apache.org/v1beta1", Kind: "SparkCluster", Name: "c", UID: "earlier"}
	err := w.kube.Tracker().Add(&corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Namespace: "spark", Name: "c-master-svc", OwnerReferences: []metav1.OwnerReference{owner},
	}})
	if err != nil {
		t.Fatal(err)
	}
	at := objectKey{kind: "Service", namespace: "spark", name: "c-master-svc"}
	w.waitUntil("see that it is there", func() bool { return w.r.owned.get("uid", at) != nil })
	if c := w.reconcile(); c.Status.CurrentState.CurrentStateSummary != "Submitted" {
		t.Errorf("it is %+v", c.Status.CurrentState)
	}
	if len(w.requeues) != 1 || w.requeues[0] != time.Second {
		t.Errorf("requeued after %v", w.requeues)
	}
	ready := meta.FindStatusCondition(w.now().Status.Conditions, "Ready")
	if ready.Reason != "NameNotFree" || !strings.Contains(ready.Message, "Service spark/c-master-svc is not created yet") {
		t.Errorf("Ready is %+v", ready)
	}
	w.forgetWrites()
	w.reconcile()
	w.clock.SetTime(began.Add(time.Second))
	w.reconcile()
	w.wantWrites("while it is there")
	w.clock.SetTime(began.Add(2 * time.Second))
	if err := w.kube.CoreV1().Services("spark").Delete(w.ctx, "c-master-svc", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.waitUntil("see that it is gone", func() bool { return w.r.owned.cached(at) == nil })
	w.forgetWrites()
	c := w.reconcile()
	w.wantWrites("once it is gone", append([]string{"update sparkclusters/status c"}, created...)...)
	if ready := meta.FindStatusCondition(c.Status.Conditions, "Ready"); ready.Reason != "Submitted" {
		t.Errorf("then Ready is %+v", ready)
	}
}

func TestObstaclesOfPodsAreReported(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.reconcile()
	waiting := corev1.ContainerStatus{
		Name: "master", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}},
	}
	w.createPod(&corev1.Pod{ObjectMeta: podOf("c-master", ""), Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting}}})
	ready := meta.FindStatusCondition(w.reconcile().Status.Conditions, "Ready")
	if ready.Reason != "CrashLoopBackOff" || !strings.Contains(ready.Message, "master restarts again and again, last with exit code 1") {
		t.Errorf("Ready is %+v", ready)
	}
}

// podOf is the metadata of a Pod with the cluster's label. A StatefulSet owns it, if it has a name.
func podOf(set string, uid types.UID) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{
		Namespace: "spark", Name: set + "-0", Labels: map[string]string{"spark.operator/spark-cluster-name": "c"},
	}
	if set != "" {
		owner := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: set, UID: uid}}
		meta.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	}
	return meta
}

// Drivers have the label of the cluster that they use, and an orphaned StatefulSet keeps its Pods.
func TestOnlyThePodsOfItsStatefulSetsAreTheClusters(t *testing.T) {
	w := newEnv(t, plainCluster())
	c := w.reconcile()
	w.waitForCaches() // a late event would replace what is added to the cache
	orphaned := &appsv1.StatefulSet{ObjectMeta: podOf("", "")}
	orphaned.Name, orphaned.UID = "c-worker", "orphaned"
	w.cached(orphaned)
	for name, test := range map[string]struct {
		pod  metav1.ObjectMeta
		want int
	}{
		"of its StatefulSet":              {podOf("c-master", ""), 1},
		"of one that is gone":             {podOf("c-worker", "gone"), 1},
		"of one that was orphaned":        {podOf("c-worker", "orphaned"), 0},
		"of another's":                    {podOf("another", ""), 0},
		"without an owner, like a driver": {podOf("", ""), 0},
	} {
		store := w.r.owned.pods.GetStore()
		if err := store.Replace([]any{&corev1.Pod{ObjectMeta: test.pod}}, ""); err != nil {
			t.Fatal(err)
		}
		if got := len(w.r.podsOf(c)); got != test.want {
			t.Errorf("%s: %d are the cluster's, want %d", name, got, test.want)
		}
	}
}

func TestClusterPodsThatAreMissingAreReportedWithTheReason(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.reconcile()
	const message = `create Pod c-worker-0 in StatefulSet c-worker failed error: pods "c-worker-0" is forbidden: exceeded quota: small`
	w.lacks("c-worker", message)
	w.forgetWrites()
	w.reconcile()
	if asked := len(w.kube.Actions()); asked > 0 {
		t.Errorf("%d requests of a cluster that has just begun", asked)
	}
	w.clock.SetTime(began.Add(explainAfter))
	ready := meta.FindStatusCondition(w.reconcile().Status.Conditions, "Ready")
	if ready.Reason != "QuotaExceeded" || !strings.Contains(ready.Message, message+"; raise the quota") {
		t.Errorf("Ready is %+v", ready)
	}
}

// lacks makes a StatefulSet observed by its controller, with one Pod missing.
func (w *env) lacks(name string, why string) {
	w.Helper()
	set := w.set(name)
	set.ResourceVersion, set.Generation = "7", 1
	set.Status = appsv1.StatefulSetStatus{ObservedGeneration: 1, Replicas: *set.Spec.Replicas - 1}
	if _, err := w.kube.AppsV1().StatefulSets("spark").Update(w.ctx, set, metav1.UpdateOptions{}); err != nil {
		w.Fatal(err)
	}
	w.waitUntil("see it", func() bool { return lacksPods(w.r.statefulSet(w.now(), name)) })
	_, err := w.kube.CoreV1().Events("spark").Create(w.ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e"}, Reason: "FailedCreate", Message: why,
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
}

// A healthy cluster may still lack Pods that its spec asks for.
func TestClusterPodsThatAreMissingWhileItRunsAreReportedWithTheReason(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	w.edit(func(c *sparkv1.SparkCluster) { c.Spec.ClusterTolerations.InstanceConfig.InitWorkers = 3 })
	w.reconcile()
	w.waitForCaches()
	w.lacks("c-worker", "exceeded quota: small")
	w.forgetWrites()
	w.reconcile()
	w.clock.SetTime(began.Add(workersAfter))
	w.reconcile() // numbers of workers are written
	if last := w.requeues[len(w.requeues)-1]; last != explainAfter-workersAfter {
		t.Errorf("requeued after %v", w.requeues)
	}
	w.clock.SetTime(began.Add(explainAfter))
	c := w.reconcile()
	condition := meta.FindStatusCondition(c.Status.Conditions, "UpToDate")
	if condition.Reason != "QuotaExceeded" || !strings.Contains(condition.Message, "exceeded quota: small; raise the quota") ||
		!meta.IsStatusConditionTrue(c.Status.Conditions, "Ready") {
		t.Errorf("UpToDate is %+v", condition)
	}
	w.forgetWrites()
	w.clock.SetTime(began.Add(time.Hour))
	w.reconcile()
	if asked := len(w.kube.Actions()); asked > 0 || len(w.requeues) > 0 {
		t.Errorf("%d requests later, requeued after %v", asked, w.requeues)
	}
	w.masters.seen = &cluster.Master{Alive: true, Workers: 1}
	for _, kind := range []string{"Ready", "Degraded"} {
		condition := meta.FindStatusCondition(w.reconcile().Status.Conditions, kind)
		if condition.Reason != "TooFewWorkers" || !strings.Contains(condition.Message, "needed are 2. A Pod was refused: exceeded quota") {
			t.Errorf("%s is %+v", kind, condition)
		}
	}
}

func TestClusterEventsThatCannotBeListedAreListedAfterAWhile(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	w.refuse("list", "events", errAway)
	w.lacks("c-worker", "exceeded quota: small")
	w.reconcile()
	w.clock.SetTime(began.Add(explainAfter))
	w.reconcile()
	w.forgetWrites()
	w.reconcile()
	if asked := len(w.kube.Actions()); asked > 0 || len(w.requeues) != 1 || w.requeues[0] != explainAfter {
		t.Errorf("%d requests at once, requeued after %v", asked, w.requeues)
	}
}

// An image with a typing error in an edit keeps a worker from starting.
func TestObstaclesOfPodsOfARunningClusterAreReported(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}
	w.createPod(&corev1.Pod{ObjectMeta: podOf("c-worker", ""), Status: corev1.PodStatus{
		ContainerStatuses: []corev1.ContainerStatus{{Name: "worker", Image: "mistyped", State: waiting}},
	}})
	condition := meta.FindStatusCondition(w.reconcile().Status.Conditions, "UpToDate")
	if condition.Reason != "ImagePullFailed" || !strings.Contains(condition.Message, `Image "mistyped"`) {
		t.Errorf("UpToDate is %+v", condition)
	}
}

func TestClusterRolloutIsReported(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	set := w.set("c-worker")
	set.Status = appsv1.StatefulSetStatus{Replicas: 2, CurrentRevision: "1", UpdateRevision: "2"}
	if _, err := w.kube.AppsV1().StatefulSets("spark").UpdateStatus(w.ctx, set, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.waitUntil("see the rollout", func() bool { return w.r.statefulSet(w.now(), "c-worker").Status.Replicas == 2 })
	if condition := meta.FindStatusCondition(w.reconcile().Status.Conditions, "UpToDate"); condition.Reason != "RollingOut" {
		t.Errorf("UpToDate is %+v", condition)
	}
}

func TestClusterThatIsBlockedIsReportedUntilTheReportArrives(t *testing.T) {
	w := newEnv(t, plainCluster())
	odd := &sparkv1.SparkCluster{ObjectMeta: w.now().ObjectMeta, Undecodable: "containers is no list"}
	away := true
	w.spark.PrependReactor("patch", "sparkclusters", func(clienttesting.Action) (bool, runtime.Object, error) {
		return away, nil, errAway
	})
	if err := w.r.ReconcileKind(w.ctx, odd.DeepCopy()); !errors.Is(err, errAway) {
		t.Fatalf("it ends with %v", err)
	}
	away = false
	if err := w.r.ReconcileKind(w.ctx, odd.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	c := w.now()
	if ready := meta.FindStatusCondition(c.Status.Conditions, "Ready"); ready == nil || ready.Reason != "Undecodable" || c.Status.ObservedGeneration != 1 {
		t.Errorf("the status is %+v", c.Status)
	}
}

func TestClusterThatCannotBeDecodedIsBlocked(t *testing.T) {
	w := newEnv(t, plainCluster())
	odd := &sparkv1.SparkCluster{ObjectMeta: w.now().ObjectMeta, Undecodable: "containers is no list in https://user:hunter2@example.org"}
	for range 2 {
		if err := w.r.ReconcileKind(w.ctx, odd.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	}
	w.wantWrites("set aside", "patch sparkclusters/status c")
	if said := <-w.events.Events; !strings.Contains(said, "Undecodable") || !strings.Contains(said, "containers is no list") {
		t.Errorf("it is said %q", said)
	}
	if ready := meta.FindStatusCondition(w.now().Status.Conditions, "Ready"); ready == nil || strings.Contains(ready.Message, "hunter2") {
		t.Errorf("the condition is %+v", ready)
	}
	odd.DeletionTimestamp = &metav1.Time{Time: began}
	if err := w.r.FinalizeKind(w.ctx, odd); err != nil {
		t.Errorf("its deletion hangs: %v", err)
	}
}
