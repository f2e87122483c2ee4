package base

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func namespaceWith(name string, its labels.Set) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: its, Annotations: map[string]string{"example.org/owner": "somebody"}, Finalizers: []string{"kubernetes"},
	}}
}

// A namespace is reported when what is served in it may have changed, and at no other time.
func TestNamespacesAreFollowed(t *testing.T) {
	enabled := labels.Set{"spark": "enabled"}
	kube := fake.NewClientset(namespaceWith("enabled", enabled))
	moved, watched := make(chan string), make(chan struct{})
	var once sync.Once
	kube.PrependWatchReactor("namespaces", func(clienttesting.Action) (bool, watch.Interface, error) {
		defer once.Do(func() { close(watched) })
		watcher, err := kube.Tracker().Watch(corev1.SchemeGroupVersion.WithResource("namespaces"), "")
		return true, watcher, err
	})
	n := newNamespaces(t.Context(), kube, func(its labels.Set) bool { return its["spark"] == "enabled" }, func(name string) {
		select {
		case moved <- name:
		case <-t.Context().Done():
		}
	})
	if _, known := n.labels("enabled"); known {
		t.Error("a namespace is known before anybody asked for it")
	}
	n.watch(t.Context())
	n.watch(t.Context()) // as each change of the settings does
	namespaces := kube.CoreV1().Namespaces()
	update := func(namespace *corev1.Namespace) {
		t.Helper()
		if _, err := namespaces.Update(t.Context(), namespace, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create := func(namespace *corev1.Namespace) {
		t.Helper()
		if _, err := namespaces.Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name string
		do   func()
		want string
		// cache are the labels by the names of the namespaces that are known then.
		known map[string]labels.Set
	}{
		{"what is selected at the start is told of", func() {}, "enabled", map[string]labels.Set{"enabled": enabled}},
		{"what is not selected is known, and what keeps its labels is not told of again", func() {
			<-watched // the fake tells only of what happens from then on
			create(namespaceWith("plain", nil))
			touched := namespaceWith("enabled", enabled)
			touched.Annotations = nil
			update(touched)
			update(namespaceWith("plain", labels.Set{"color": "red"}))
		}, "plain", map[string]labels.Set{"enabled": enabled, "plain": {"color": "red"}}},
		{"what is selected no more is told of", func() { update(namespaceWith("enabled", nil)) }, "enabled",
			map[string]labels.Set{"enabled": nil, "plain": {"color": "red"}}},
		{"what is deleted is known no more, and what comes selected is told of", func() {
			if err := namespaces.Delete(t.Context(), "plain", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			create(namespaceWith("new", enabled))
		}, "new", map[string]labels.Set{"enabled": nil, "new": enabled}},
	} {
		step.do()
		if got := <-moved; got != step.want {
			t.Errorf("%s: %s is told of, want %s", step.name, got, step.want)
		}
		got := map[string]labels.Set{}
		for _, name := range []string{"enabled", "plain", "new"} {
			if its, known := n.labels(name); known {
				got[name] = its
			}
		}
		if diff := cmp.Diff(step.known, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

// There may be thousands, of which no more is kept than is read.
func TestStripKeepsTheLabelsOfANamespace(t *testing.T) {
	got, err := stripNamespace(namespaceWith("enabled", labels.Set{"spark": "enabled"}))
	want := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "enabled", Labels: labels.Set{"spark": "enabled"}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
}
