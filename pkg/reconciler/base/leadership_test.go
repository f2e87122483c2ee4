package base

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"knative.dev/pkg/reconciler"
)

func TestOwnedIsAnExistingObjectThatIsLed(t *testing.T) {
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi", UID: "first"}}
	key := types.NamespacedName{Namespace: "team-a", Name: "pi"}
	leader := &reconciler.LeaderAwareFuncs{}
	owned := NewOwned(leader, store)
	expect := func(when string, uid types.UID, want bool) {
		t.Helper()
		if got := owned(key, uid); got != want {
			t.Errorf("%s it is owned: %t, want %t", when, got, want)
		}
	}
	put := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put(store.Add(object))
	expect("before the election", "first", false)
	put(leader.Promote(reconciler.UniversalBucket(), nil))
	expect("while it is led", "first", true)
	put(store.Update(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi", UID: "second"}}))
	expect("when another has its name", "first", false)
	expect("as that other", "second", true)
	put(store.Delete(object))
	expect("when it is gone", "second", false)
	put(store.Add(object))
	leader.DemoteFunc = func(reconciler.Bucket) { expect("when the demotion is told", "first", false) }
	leader.Demote(reconciler.UniversalBucket())
	expect("after the demotion", "first", false)
}
