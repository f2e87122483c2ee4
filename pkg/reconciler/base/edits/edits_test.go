package edits_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/edits"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

func of(generation int64, fields string) spec.Spec {
	return spec.Of(&metav1.ObjectMeta{Generation: generation}, 0, func() any { return fields })
}

func TestGenerationsWithTheSameFieldsAreRemembered(t *testing.T) {
	h := edits.NewTracker()
	want := func(generation, from int64) {
		t.Helper()
		if got := h.SameSince("u", generation); got != from {
			t.Errorf("generation %d is the same since %d, want %d", generation, got, from)
		}
	}
	want(2, 0)
	h.Observe("u", of(1, "a"), of(2, "a"))
	want(2, 1)
	want(3, 0)
	h.Observe("u", of(2, "a"), of(2, "a")) // a status
	h.Observe("u", of(2, "a"), of(3, "a"))
	want(3, 1)
	h.Observe("u", of(3, "a"), of(4, "b"))
	want(4, 0)
	h.Observe("u", of(5, "b"), of(6, "b"))
	want(6, 5)
	h.Forget("u")
	want(6, 0)
}
