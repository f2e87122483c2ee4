package main

import "testing"

func TestASmallHeapMayGrowMoreThanALargeOne(t *testing.T) {
	for live, want := range map[uint64]int{
		0: 800, 1 << 20: 800, 8 << 20: 400, 32 << 20: 100, 64 << 20: 50, 128 << 20: leastPercent, 4 << 30: leastPercent,
	} {
		if got := growthPercent(live); got != want {
			t.Errorf("a heap of %d bytes may grow by %d %%, want %d %%", live, got, want)
		}
	}
}
