package base

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/kube"
)

// handled is an informer that has its handler called by the test.
type handled struct {
	cache.SharedIndexInformer
	handler cache.ResourceEventHandler
}

func (h *handled) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	h.handler = handler
	return nil, nil
}

func TestAnObjectThatReplacedAnotherOfItsNameIsAnother(t *testing.T) {
	var got []string
	informer := &handled{}
	AddHandler(t.Context(), informer, cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, atStart bool) {
			got = append(got, fmt.Sprintf("added %s, at the start: %t", object.(*corev1.Pod).UID, atStart))
		},
		UpdateFunc: func(before, after any) {
			got = append(got, fmt.Sprintf("updated %s to %s", before.(*corev1.Pod).UID, after.(*corev1.Pod).UID))
		},
		DeleteFunc: func(object any) {
			missed, ok := object.(cache.DeletedFinalStateUnknown)
			got = append(got, fmt.Sprintf("deleted %s, in a state that was missed: %t, %s", kube.LastKnown(object).(*corev1.Pod).UID, ok, missed.Key))
		},
	})
	pod := func(uid types.UID) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi", UID: uid}}
	}
	informer.handler.OnUpdate(pod("first"), pod("first"))
	informer.handler.OnUpdate(pod("first"), pod("second"))
	want := []string{
		"updated first to first", "deleted first, in a state that was missed: true, team-a/pi", "added second, at the start: false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls of the handler (-want +got):\n%s", diff)
	}
}
