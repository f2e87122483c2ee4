package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// memoryLimitPercent is how much of $GOMEMLIMIT, which is the container's limit, the collector keeps to, in percent: the rest is
	// for what it does not count, and for what comes while it works.
	memoryLimitPercent = 90
	// The heap may grow by so many bytes, and by so many percent, before it is collected: a small one would be collected for
	// each application that lives, and one of ten thousand applications for every 25 of them at 30 %, which was four tenths
	// of all CPU time. $GOGC is overruled.
	minGrowthBytes   = 32 << 20
	minGrowthPercent = 60
	// minHeapBytes is a heap that is never smaller.
	minHeapBytes = 4 << 20
)

// tuneGarbageCollector has the collector of garbage follow the size of the heap, for good.
func tuneGarbageCollector() {
	debug.SetMemoryLimit(debug.SetMemoryLimit(-1) / 100 * memoryLimitPercent)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	tune := func() {
		metrics.Read(live)
		debug.SetGCPercent(growthPercent(live[0].Value.Uint64()))
	}
	tune()
	afterEachCollection(tune)
}

// afterEachCollection calls a function each time that garbage was collected, since that takes what nobody holds.
func afterEachCollection(act func()) {
	runtime.AddCleanup(new([64]byte), func(act func()) {
		act()
		afterEachCollection(act)
	}, act)
}

// growthPercent is how far a heap of a number of bytes may grow, in percent.
func growthPercent(live uint64) int {
	return max(minGrowthPercent, int(100*minGrowthBytes/max(live, minHeapBytes)))
}
