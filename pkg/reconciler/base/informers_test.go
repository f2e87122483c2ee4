package base

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

func TestLastKnownObject(t *testing.T) {
	tombstone := cache.DeletedFinalStateUnknown{Key: "team-a/pi", Obj: &corev1.Pod{}}
	if got := LastKnown(tombstone); got != tombstone.Obj {
		t.Errorf("the last that is known is %v", got)
	}
	if got := LastKnown(tombstone.Obj); got != tombstone.Obj {
		t.Errorf("the last that is known of an object is %v", got)
	}
}
