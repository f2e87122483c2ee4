package base_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

const finalizer = "example.com/ours"

func finalized(uid types.UID, version string, finalizers ...string) *sparkv1.SparkCluster {
	return &sparkv1.SparkCluster{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: version, Finalizers: finalizers}}
}

func TestFinalizerRemovalIsRememberedForAMoment(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := clocktesting.NewFakePassiveClock(began)
	removals := base.NewFinalizerRemovals(finalizer, clock)
	object := finalized("uid", "7", finalizer)
	if removals.JustRemoved(object) {
		t.Error("it was removed before")
	}
	removals.Add(object)
	for since, want := range map[time.Duration]bool{0: true, base.EventDelay - time.Nanosecond: true, base.EventDelay: false} {
		clock.SetTime(began.Add(since))
		if got := removals.JustRemoved(object); got != want {
			t.Errorf("after %s: %t, want %t", since, got, want)
		}
	}
}

// The garbage collector removes its own finalizer at the same time.
func TestFinalizerIsNotRemovedIfThePatchConflicted(t *testing.T) {
	for name, test := range map[string]struct {
		version, finalizer string
		want               bool
	}{
		"the cache is stale":                     {"7", finalizer, true},
		"newer, without Firesteel's finalizer":   {"8", metav1.FinalizerDeleteDependents, true},
		"newer, and still with the finalizer":    {"8", finalizer, false},
		"newer, and a later version has no more": {"10", "", true},
	} {
		removals := base.NewFinalizerRemovals(finalizer, clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
		removals.Add(finalized("uid", "7", finalizer, metav1.FinalizerOrphanDependents))
		if got := removals.JustRemoved(finalized("uid", test.version, test.finalizer)); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

func TestFinalizerRemovalsAreBounded(t *testing.T) {
	removals := base.NewFinalizerRemovals(finalizer, clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	const many = 10_000
	remembered := 0
	for i := range many {
		removals.Add(finalized(types.UID(fmt.Sprint(i)), "7", finalizer))
	}
	for i := range many {
		if removals.JustRemoved(finalized(types.UID(fmt.Sprint(i)), "7", finalizer)) {
			remembered++
		}
	}
	if remembered == 0 || remembered > many/2 {
		t.Errorf("%d of %d are remembered", remembered, many)
	}
}
