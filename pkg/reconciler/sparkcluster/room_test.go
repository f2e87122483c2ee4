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
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/quotas"
	"github.com/firesteel-dev/firesteel/test/harness/fakeclient"
)

// limited gives the namespace a quota of Pods and the controller a setting of quotas. The cluster asks for three Pods.
func (w *env) limited(settings config.QuotaSettings, pods string) {
	w.Helper()
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: "team"}}
	quota.Spec.Hard = corev1.ResourceList{"pods": resource.MustParse(pods)}
	if _, err := w.kube.CoreV1().ResourceQuotas("spark").Create(w.ctx, quota, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	installation := config.Default()
	installation.Admission = &config.Admission{QuotaSettings: settings}
	w.ctx = config.ToContext(w.ctx, installation)
	w.r.tracker.Configure(settings)
	w.waitUntil("know the quota", func() bool {
		return w.r.tracker.Ready() && w.r.tracker.Limits("spark") && fakeclient.WatchesAll(&w.kube.Fake)
	})
	w.forgetWrites()
}

// raise changes the quota.
func (w *env) raise(pods string) {
	w.Helper()
	client := w.kube.CoreV1().ResourceQuotas("spark")
	quota, err := client.Get(w.ctx, "team", metav1.GetOptions{})
	if err == nil {
		quota.Spec.Hard = corev1.ResourceList{"pods": resource.MustParse(pods)}
		_, err = client.Update(w.ctx, quota, metav1.UpdateOptions{})
	}
	if err != nil {
		w.Fatal(err)
	}
	w.waitUntil("see the new quota", w.fitsAnother)
	w.forgetWrites()
}

// fitsAnother reports whether an urgent application of three Pods may launch in the namespace.
func (w *env) fitsAnother() bool {
	another := quotas.Request{Object: &metav1.ObjectMeta{Namespace: "spark", Name: "another", UID: "another"}, Settings: hold}
	_, held := w.r.tracker.Reserve(another, nil, func() *v1alpha1.QuotaClaim {
		return &v1alpha1.QuotaClaim{Priority: 1, Pods: []v1alpha1.QuotaPods{{Count: 3, Usage: map[string]int64{"pods": 1000}}}}
	})
	return held == nil
}

// comesBack has the watch show the cluster as it is.
func (w *env) comesBack() { w.r.quotas.Set(quotaState(w.now(), true), true) }

func (w *env) wantReady(reason, part string) {
	w.Helper()
	ready := meta.FindStatusCondition(w.now().Status.Conditions, "Ready")
	if ready == nil || ready.Reason != reason || !strings.Contains(ready.Message, part) {
		w.Errorf("it is %+v, want reason %s and %q", ready, reason, part)
	}
}

var hold = config.QuotaSettings{Quota: config.QuotaHold, QuotaOvertake: time.Hour}

func TestQuotaHoldsAClusterUntilThereIsRoom(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.limited(hold, "2")
	w.reconcile()
	w.comesBack()
	w.reconcile()
	w.wantWrites("one that does not fit", "update sparkclusters/status c")
	w.wantReady(diagnosis.ReasonWaitingForQuota, "ResourceQuota spark/team lacks pods (3 requested, 2 available of 2)")

	w.raise("3")
	c := w.reconcile()
	w.wantWrites("it reserves room", "update sparkclusters/status c")
	if c.Status.Firesteel.Quota == nil || c.Status.Firesteel.Quota.Reserved == nil {
		t.Fatalf("its claim is %+v", c.Status.Firesteel.Quota)
	}
	w.reconcile()
	w.wantWrites("the reservation has not come back")
	w.comesBack()
	w.reconcile()
	w.wantWrites("the reservation is confirmed", created...)
}

func TestQuotaCountsAClusterUntilItsPodsExist(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.limited(hold, "5")
	w.reconcile()
	w.comesBack()
	w.reconcile()
	if w.comesBack(); w.fitsAnother() {
		t.Error("another fits beside one whose Pods do not exist yet")
	}
	w.masters.seen = &cluster.Master{Alive: true, Workers: 2}
	if c := w.reconcile(); c.Status.Firesteel.Quota == nil {
		t.Error("it does not count any more, and its Pods do not exist yet")
	}
	for _, name := range []string{"c-master", "c-worker"} {
		set := w.set(name)
		set.Generation = 1
		set.Status = appsv1.StatefulSetStatus{ObservedGeneration: 1, Replicas: *set.Spec.Replicas}
		if _, err := w.kube.AppsV1().StatefulSets("spark").Update(w.ctx, set, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w.waitUntil("see that all Pods exist", func() bool { return w.r.hasAllPods(w.now()) })
	if c := w.reconcile(); c.Status.Firesteel.Quota != nil {
		t.Errorf("its Pods exist, and it reserves %+v", c.Status.Firesteel.Quota)
	}
	if w.comesBack(); !w.fitsAnother() {
		t.Error("another does not fit into an unused quota")
	}
}

func TestScalingAClusterIsNotHeld(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.limited(hold, "3")
	w.reconcile()
	w.comesBack()
	w.runs()
	w.edit(func(c *sparkv1.SparkCluster) {
		instances := &c.Spec.ClusterTolerations.InstanceConfig
		instances.InitWorkers, instances.MinWorkers, instances.MaxWorkers = 9, 9, 9
	})
	if c := w.reconcile(); *w.set("c-worker").Spec.Replicas != 9 || c.Status.Firesteel.Quota != nil {
		t.Errorf("it has %d workers, and reserves %+v", *w.set("c-worker").Spec.Replicas, c.Status.Firesteel.Quota)
	}
}

func TestQuotaFailsACluster(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.limited(config.QuotaSettings{Quota: config.QuotaFail}, "2")
	w.reconcile()
	w.wantReady(diagnosis.ReasonQuotaWouldBeExceeded,
		`failed to validate resource quota "spark/team": SparkCluster spark/c requests too much of pods (3 requested, 2 available).`)
	w.wantWrites("one that does not fit", "update sparkclusters/status c")
}

func TestQuotaHoldTimeoutEndsTheWaitOfACluster(t *testing.T) {
	w := newEnv(t, plainCluster())
	bounded := hold
	bounded.QuotaHoldTimeout = time.Minute
	w.limited(bounded, "2")
	w.reconcile()
	w.comesBack()
	if !slices.Contains(w.requeues, time.Minute) {
		t.Errorf("it is requeued after %v", w.requeues)
	}
	w.clock.SetTime(began.Add(time.Minute))
	w.reconcile()
	w.wantReady(diagnosis.ReasonQuotaHoldTimedOut, "It has waited for the 1m0s of quota-hold-timeout.")
}

func TestASuspendedClusterWaitsForNoRoom(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.limited(hold, "2")
	w.reconcile()
	w.edit(func(c *sparkv1.SparkCluster) { c.Spec.Suspend = true })
	if c := w.reconcile(); c.Status.Firesteel.Quota != nil {
		t.Errorf("it asks for %+v", c.Status.Firesteel.Quota)
	}
}

func TestAnObjectThatAQuotaRefusesMakesAClusterWait(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.limited(hold, "9")
	refuses := true
	w.kube.PrependReactor("create", "services", func(clienttesting.Action) (bool, kubeObject, error) {
		if !refuses {
			return false, nil, nil
		}
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "c-master-svc", errors.New("exceeded quota: team"))
	})
	w.reconcile()
	w.comesBack()
	w.reconcile()
	w.wantReady(diagnosis.ReasonWaitingForQuota, "refused")
	if state := w.now().Status.CurrentState.CurrentStateSummary; state != "Submitted" {
		t.Fatalf("it is %s", state)
	}
	refuses = false
	w.clock.SetTime(began.Add(time.Minute))
	w.comesBack()
	w.reconcile()
	w.comesBack()
	w.reconcile()
	if w.set("c-master") == nil {
		t.Error("it is not created")
	}
}

func TestWithoutTheSettingARefusalForAQuotaEndsTheAttemptOfACluster(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.refuse("create", "services", apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "c-master-svc", errors.New("exceeded quota: team")))
	w.reconcile()
	w.wantReady(apierror.QuotaExceeded, "raise the quota")
}

func TestPodsOfAClusterThatHaveEndedDoNotCount(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.runs()
	for name, role := range map[string]string{"c-master-0": resources.Master, "c-worker-0": resources.Worker, "c-worker-1": resources.Worker} {
		set := w.set("c-" + role)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "spark", Name: name, UID: types.UID(name), Labels: resources.Selector("c", role),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
		}}
		if name == "c-worker-1" {
			pod.Status.Phase = corev1.PodFailed
		}
		w.createPod(pod)
	}
	w.waitUntil("see all Pods", func() bool { return len(w.r.owned.podsOf("spark", "c")) == 3 })
	if live := w.r.livePods(w.now()); !live.Driver || live.Executors != 1 {
		t.Errorf("these exist: %+v", live)
	}
}

func TestOutsideTheScopeAClusterNeitherWaitsNorHoldsRoom(t *testing.T) {
	now := metav1.Now()
	for name, test := range map[string]struct {
		state         cluster.State
		inScope       bool
		change        func(*sparkv1.SparkCluster)
		waits, active bool
	}{
		"it waits":                  {cluster.Submitted, true, func(*sparkv1.SparkCluster) {}, true, true},
		"it left the scope":         {cluster.Submitted, false, func(*sparkv1.SparkCluster) {}, false, false},
		"it is suspended":           {cluster.Submitted, true, func(c *sparkv1.SparkCluster) { c.Spec.Suspend = true }, false, true},
		"it is deleted":             {cluster.Submitted, true, func(c *sparkv1.SparkCluster) { c.DeletionTimestamp = &now }, false, false},
		"it cannot be decoded":      {cluster.Submitted, true, func(c *sparkv1.SparkCluster) { c.Undecodable = "spec" }, false, true},
		"it runs":                   {cluster.RunningHealthy, true, func(*sparkv1.SparkCluster) {}, false, true},
		"it has ended":              {cluster.Failed, true, func(*sparkv1.SparkCluster) {}, false, false},
		"no controller has seen it": {"", true, func(c *sparkv1.SparkCluster) { c.Status.Firesteel = nil }, false, false},
	} {
		c := plainCluster()
		c.Status.Firesteel = &v1alpha1.Record{Sequence: 1, Transitions: []v1alpha1.Transition{{Sequence: 1, State: string(test.state)}}}
		test.change(c)
		if state := quotaState(c, test.inScope); state.Waits != test.waits || state.Active != test.active {
			t.Errorf("%s: it waits: %t, is active: %t", name, state.Waits, state.Active)
		}
	}
}
