// Package gc tunes Go's garbage collector for a controller, whose heap grows with the number of objects.
package gc

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// memoryLimitPercent is the part of $GOMEMLIMIT, the container's limit, that the collector may use. The rest is for memory that it
	// does not count, and for what is allocated while it runs.
	memoryLimitPercent = 90
	// The heap may grow by minGrowthBytes or by minGrowthPercent, whichever is more, until the next collection. With a percentage alone,
	// a small heap would be collected for each application. With 30 %, the heap of ten thousand applications would be collected for every
	// 25 of them, which took 40 % of the CPU time.
	minGrowthBytes   = 32 << 20
	minGrowthPercent = 60
	// minHeapBytes is the least size of a heap.
	minHeapBytes = 4 << 20
)

// FollowHeapSize adapts the collector to the size of the heap, after each collection until the process ends. It overrides $GOGC.
func FollowHeapSize() {
	debug.SetMemoryLimit(debug.SetMemoryLimit(-1) / 100 * memoryLimitPercent)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	tune := func() {
		metrics.Read(live)
		debug.SetGCPercent(growthPercent(live[0].Value.Uint64()))
	}
	tune()
	afterEachCollection(tune)
}

// afterEachCollection calls a function after each collection. For that it uses the cleanup of an object that nothing refers to.
func afterEachCollection(act func()) {
	runtime.AddCleanup(new([64]byte), func(act func()) {
		act()
		afterEachCollection(act)
	}, act)
}

// growthPercent returns how much a heap of a number of live bytes may grow, in percent.
func growthPercent(live uint64) int {
	return max(minGrowthPercent, int(100*minGrowthBytes/max(live, minHeapBytes)))
}
