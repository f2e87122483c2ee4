package sparkcluster

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/kube/objectclient"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

func budgetOf(uid types.UID, version, hash string) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{
		Namespace: "spark", Name: "c-worker-pdb", UID: uid, ResourceVersion: version,
		Labels: map[string]string{resources.LabelCluster: "c"}, Annotations: map[string]string{resources.HashAnnotation: hash},
		OwnerReferences: []metav1.OwnerReference{{UID: "uid"}},
	}}
}

// cached puts an object into the cache, as its watch does.
func (w *env) cached(o object) {
	w.Helper()
	if err := w.r.owned.informers[objectclient.KindOf(o)].GetStore().Add(o); err != nil {
		w.Fatal(err)
	}
}

func (w *env) wantBudget(what, hash string) {
	w.Helper()
	got := ""
	if found := w.r.owned.get("uid", objectKeyOf(budgetOf("1", "", ""))); found != nil {
		got = hashOf(found)
	}
	if got != hash {
		w.Errorf("%s: there is %q, want %q", what, got, hash)
	}
	if owned := w.r.owned.ownedBy("uid"); len(owned) > 0 != (hash != "") {
		w.Errorf("%s: the cluster owns %v", what, owned)
	}
	if owned := w.r.owned.ownedBy("another"); len(owned) > 0 {
		w.Errorf("%s: another cluster owns %v", what, owned)
	}
}

func TestOwnWritesAreKnownBeforeTheCacheHasThem(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.wantBudget("at first", "")
	w.r.owned.written(budgetOf("1", "5", "new"))
	w.wantBudget("created", "new")
	w.cached(budgetOf("1", "4", "old"))
	w.wantBudget("an older one is cached", "new")
	w.cached(budgetOf("1", "6", "newer"))
	w.wantBudget("a newer one is cached", "newer")
	w.r.owned.deleted(budgetOf("1", "6", "newer"))
	w.wantBudget("deleted", "")
	w.cached(budgetOf("2", "7", "another"))
	w.wantBudget("created by another writer", "another")
}

// The watch also reports objects that lost their label as deleted.
func TestClusterObjectReportedAsDeletedIsReadOnce(t *testing.T) {
	for name, test := range map[string]struct {
		// ours makes Firesteel itself delete the object.
		ours      bool
		finalizer string
		reported  func(object) any
		live      *policyv1.PodDisruptionBudget
		reads     int
		want      string
	}{
		"deleted by another writer": {reads: 1},
		"deleted by Firesteel":      {ours: true},
		"without its label":         {live: budgetOf("1", "6", "relabelled"), reads: 1, want: "relabelled"},
		"replaced by another":       {live: foreign(budgetOf("2", "6", "another")), reads: 1},
		"not listed any more": {
			ours: false, reads: 1, reported: func(o object) any { return cache.DeletedFinalStateUnknown{Key: "spark/c-worker-pdb", Obj: o} },
		},
		"deleted by Firesteel, and held by a finalizer": {ours: true, finalizer: "example.com/held", reads: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, plainCluster())
			last := budgetOf("1", "5", "last")
			if test.finalizer != "" {
				last.Finalizers = []string{test.finalizer}
			}
			if test.ours {
				w.r.owned.deleted(last)
			}
			if test.reported == nil {
				test.reported = func(o object) any { return o }
			}
			w.r.owned.reportedDeleted(test.reported(last))
			reads := 0
			for range 2 {
				err := w.r.owned.resolve("uid", func(objectKey) (object, error) {
					reads++
					if test.live == nil {
						return nil, nil
					}
					return test.live, nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if test.want != "" {
					break // it is read until the cache has it again
				}
			}
			if reads != test.reads {
				t.Errorf("it was read %d times, want %d", reads, test.reads)
			}
			w.wantBudget("then", test.want)
			if test.want != "" {
				w.cached(budgetOf("1", "7", "labelled"))
				if err := w.r.owned.resolve("uid", nil); err != nil {
					t.Fatal(err)
				}
				w.wantBudget("with its label", "labelled")
			}
		})
	}
}

func foreign(o *policyv1.PodDisruptionBudget) *policyv1.PodDisruptionBudget {
	o.OwnerReferences = nil
	return o
}

func TestOwnWritesExpire(t *testing.T) {
	w := newEnv(t, plainCluster())
	w.r.owned.written(budgetOf("1", "5", "new"))
	w.clock.SetTime(began.Add(base.EventDelay + time.Second))
	w.wantBudget("never seen", "")
	w.cached(budgetOf("1", "4", "old"))
	w.r.owned.deleted(budgetOf("1", "4", "old"))
	w.clock.SetTime(began.Add(2*base.EventDelay + 2*time.Second))
	w.wantBudget("never gone", "old")
}

func TestCachedObjectsHoldOnlyWhatIsRead(t *testing.T) {
	replicas := int32(2)
	kept, err := strip(&appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: "a", Annotations: map[string]string{"much": "text", resources.HashAnnotation: "h"},
			ManagedFields: []metav1.ManagedFieldsEntry{{}},
		},
		Spec:   appsv1.StatefulSetSpec{Replicas: &replicas, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeName: "n"}}},
		Status: appsv1.StatefulSetStatus{Replicas: 1},
	})
	set := kept.(*appsv1.StatefulSet)
	if err != nil || set.ManagedFields != nil || len(set.Annotations) != 1 || set.Spec.Template.Spec.NodeName != "" {
		t.Errorf("%+v is cached: %v", set, err)
	}
	if set.Name != "a" || hashOf(set) != "h" || *set.Spec.Replicas != 2 || set.Status.Replicas != 1 {
		t.Errorf("%+v is cached", set)
	}
	pod, err := strip(&corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"}})
	if got := pod.(*corev1.Pod); err != nil || got.Spec.NodeName != "" || got.Status.PodIP != "" || got.Status.Phase != corev1.PodRunning {
		t.Errorf("%+v is cached: %v", got, err)
	}
}

func TestOnlyTheStatusOfPodsAndStatefulSetsConcernsTheCluster(t *testing.T) {
	before, after := budgetOf("1", "5", "h"), budgetOf("1", "6", "h")
	after.Status.CurrentHealthy = 2
	if concernsCluster(before, after) {
		t.Error("the status of a budget concerns the cluster")
	}
	if !concernsCluster(before, budgetOf("1", "6", "other")) {
		t.Error("a changed budget does not concern the cluster")
	}
	if !concernsCluster(&appsv1.StatefulSet{}, &appsv1.StatefulSet{Status: appsv1.StatefulSetStatus{ReadyReplicas: 1}}) {
		t.Error("the status of a StatefulSet does not concern the cluster")
	}
}
