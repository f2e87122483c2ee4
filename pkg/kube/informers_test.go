package kube_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/kube"
)

// failing is an informer whose errors the test makes.
type failing struct {
	cache.SharedInformer
	handler cache.WatchErrorHandlerWithContext
}

func (f *failing) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	f.handler = handler
	return nil
}

func TestAnInformerWithoutTheRightIsReportedOnce(t *testing.T) {
	resource := schema.GroupResource{Resource: "resourcequotas"}
	absent, forbidden := apierrors.NewNotFound(resource, ""), apierrors.NewForbidden(resource, "", errors.New("no right"))
	informer, reported := &failing{}, 0
	var watched kube.WatchErrors
	if err := watched.Follow(informer, func(error) { reported++ }); err != nil || watched.Last() != nil {
		t.Fatalf("before the first error: %v, last %v", err, watched.Last())
	}
	for _, step := range []struct {
		err      error
		reported int
	}{{absent, 0}, {forbidden, 1}, {absent, 1}, {forbidden, 1}} {
		informer.handler(t.Context(), nil, step.err)
		if !errors.Is(watched.Last(), step.err) || reported != step.reported {
			t.Errorf("after %q: last is %v, and it is reported %d times, want %d", step.err, watched.Last(), reported, step.reported)
		}
	}
}

func TestLastKnownObject(t *testing.T) {
	tombstone := cache.DeletedFinalStateUnknown{Key: "team-a/pi", Obj: &corev1.Pod{}}
	if got := kube.LastKnown(tombstone); got != tombstone.Obj {
		t.Errorf("the last that is known is %v", got)
	}
	if got := kube.LastKnown(tombstone.Obj); got != tombstone.Obj {
		t.Errorf("the last that is known of an object is %v", got)
	}
}
