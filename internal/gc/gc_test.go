package gc

import (
	"runtime"
	"testing"
	"time"
)

func TestGrowthIsLargerForASmallHeap(t *testing.T) {
	for live, want := range map[uint64]int{
		0: 800, 1 << 20: 800, 8 << 20: 400, 32 << 20: 100, 40 << 20: 80, 64 << 20: minGrowthPercent, 4 << 30: minGrowthPercent,
	} {
		if got := growthPercent(live); got != want {
			t.Errorf("a heap of %d bytes may grow by %d %%, want %d %%", live, got, want)
		}
	}
}

func TestTuningFollowsEachCollection(t *testing.T) {
	tuned := make(chan struct{})
	ctx := t.Context()
	afterEachCollection(func() {
		select {
		case tuned <- struct{}{}:
		case <-ctx.Done():
		}
	})
	for times := 0; times < 3; {
		runtime.GC()
		select {
		case <-tuned:
			times++
		case <-time.After(time.Millisecond): // the next cleanup may have been registered only now
		}
	}
}
