package usage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

func TestAGapIsClosedFromAllExecutors(t *testing.T) {
	counted := usage.Count(begun(), of(40, ran(1, 0, 10), ran(2, 20, 30)), after(50))
	if counted.Ended.GapSeconds != 0 {
		t.Fatalf("%+v", counted)
	}
	counted.Ended.GapSeconds, counted.Ended.Driver = 40, used(60)
	got := usage.CloseGap(counted, []usage.Executor{ran(1, 0, 10), ran(2, 20, 30), ran(3, 5, 25), ran(4, 6, 0)}, after(50))
	want := v1alpha1.Usage{Driver: used(60), Executors: used(10 + 10 + 20 + 44), PeakExecutors: 3, RunningPods: 0}
	if diff := cmp.Diff(want, usage.Sum(got)); diff != "" {
		t.Error(diff)
	}
	if got.EndedExecutors != "1-3" || got.RunningExecutors != "4" || usage.Executors(got) != 4 {
		t.Errorf("the executors are %q and %q", got.EndedExecutors, got.RunningExecutors)
	}
	if counted.Ended.GapSeconds != 40 {
		t.Error("what was stored changed")
	}
}

func TestWhatWasCountedOfPodsIsNotLessWithoutAGap(t *testing.T) {
	counted := usage.Count(begun(), of(-1, ran(1, 0, 10)), after(50))
	counted.Ended.GapSeconds = 3
	got := usage.Sum(usage.CloseGap(counted, []usage.Executor{ran(1, 4, 9)}, after(50)))
	if diff := cmp.Diff(v1alpha1.Usage{Executors: used(10), PeakExecutors: 1}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheRequestsOfEachPodAreThoseOfAll(t *testing.T) {
	if got, ok := usage.RequestsOfEach(used(17)); !ok || got != small {
		t.Errorf("%+v, %t", got, ok)
	}
	if got, ok := usage.RequestsOfEach(nil); ok {
		t.Errorf("of no Pod they are %+v", got)
	}
}
