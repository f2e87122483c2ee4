package integration

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
)

// What Firesteel takes for proof rests on what the API server stores before it removes a Pod.
func TestDeletionOfAPodStoresGraceZeroFirst(t *testing.T) {
	t.Parallel()
	const name, selector = "pod", "watched=yes"
	now, later := int64(0), int64(30)
	patch := func(s *env, kind types.PatchType, text string) {
		s.Helper()
		_, err := s.Kube.CoreV1().Pods(s.ns).Patch(s.Context(), name, kind, []byte(text), metav1.PatchOptions{})
		s.must(err)
	}
	remove := func(s *env, grace *int64) {
		s.Helper()
		s.must(s.Kube.CoreV1().Pods(s.ns).Delete(s.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: grace}))
	}
	bind := func(s *env) {
		s.Helper()
		s.must(s.Kube.CoreV1().Pods(s.ns).Bind(s.Context(), &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Target: corev1.ObjectReference{Kind: "Node", Name: "node"},
		}, metav1.CreateOptions{}))
		// A deletion begins with the API server's own cache. If that has the Pod unbound yet, the Pod is removed at once.
		s.must(wait.PollUntilContextCancel(s.Context(), 10*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			pod, err := s.Kube.CoreV1().Pods(s.ns).Get(ctx, name, metav1.GetOptions{ResourceVersion: "0"})
			return err == nil && pod.Spec.NodeName != "", err
		}))
	}
	for what, c := range map[string]struct {
		finalizer, owned bool
		act              func(*env)
		proves           bool
	}{
		"a kubelet confirms": {act: func(s *env) { bind(s); remove(s, &later); remove(s, &now) }, proves: true},
		"by force":           {act: func(s *env) { bind(s); remove(s, &now) }, proves: true},
		"never on a node":    {act: func(s *env) { remove(s, &later) }, proves: true},
		"in a collection": {act: func(s *env) {
			s.must(s.Kube.CoreV1().Pods(s.ns).DeleteCollection(s.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: selector}))
		}, proves: true},
		"it has ended": {act: func(s *env) {
			bind(s)
			pod, err := s.Kube.CoreV1().Pods(s.ns).Get(s.Context(), name, metav1.GetOptions{})
			s.must(err)
			s.must(kubelet.SetStatus(s.Context(), s.Kube, pod, func(status *corev1.PodStatus) { kubelet.Ended(status, 0) }))
			remove(s, &later)
		}, proves: true},
		"its owner is gone": {owned: true, act: func(s *env) {
			s.must(s.Kube.CoreV1().ConfigMaps(s.ns).Delete(s.Context(), "owner", metav1.DeleteOptions{}))
		}, proves: true},
		"its namespace is": {act: func(s *env) {
			s.must(s.Kube.CoreV1().Namespaces().Delete(s.Context(), s.ns, metav1.DeleteOptions{}))
		}, proves: true},
		"kubectl delete --force": {act: func(s *env) {
			bind(s)
			_, err := s.kubectl("", "delete", "pod", name, "--force", "--grace-period=0")
			s.must(err)
		}, proves: true},
		"its last finalizer is removed": {finalizer: true, act: func(s *env) {
			bind(s)
			remove(s, &now)
			patch(s, types.MergePatchType, `{"metadata":{"finalizers":null}}`)
		}},
		"its label is removed": {act: func(s *env) { patch(s, types.MergePatchType, `{"metadata":{"labels":{"watched":null}}}`) }},
		"its label is changed": {act: func(s *env) { patch(s, types.MergePatchType, `{"metadata":{"labels":{"watched":"no"}}}`) }},
		"its label is removed while it goes": {act: func(s *env) {
			bind(s)
			remove(s, &later)
			patch(s, types.MergePatchType, `{"metadata":{"labels":{"watched":null}}}`)
		}},
		"its label is removed while a finalizer holds it": {finalizer: true, act: func(s *env) {
			bind(s)
			remove(s, &now)
			patch(s, types.MergePatchType, `{"metadata":{"labels":{"watched":null}}}`)
			patch(s, types.MergePatchType, `{"metadata":{"finalizers":null}}`)
		}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t)
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"watched": "yes"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "spark"}}},
			}
			if c.finalizer {
				pod.Finalizers = []string{"example.com/held"}
			}
			if c.owned {
				owner, err := s.Kube.CoreV1().ConfigMaps(s.ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
				s.must(err)
				pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
			}
			w, err := s.Kube.CoreV1().Pods(s.ns).Watch(t.Context(), metav1.ListOptions{LabelSelector: selector})
			s.must(err)
			defer w.Stop()
			_, err = s.Kube.CoreV1().Pods(s.ns).Create(t.Context(), pod, metav1.CreateOptions{})
			s.must(err)
			c.act(s)
			for event := range w.ResultChan() {
				last, ok := event.Object.(*corev1.Pod)
				if !ok || event.Type != watch.Deleted {
					continue
				}
				grace := last.DeletionGracePeriodSeconds
				proves := last.DeletionTimestamp != nil && grace != nil && *grace == 0 && len(last.Finalizers) == 0
				if proves != c.proves {
					t.Errorf("the last state proves that it is gone: %t, want %t: %s", proves, c.proves, described(last))
				}
				return
			}
			t.Fatal("the watch ended")
		})
	}
}
