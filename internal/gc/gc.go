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
	minGrowthBytes   = 16 << 20
	minGrowthPercent = 60
	// minScannedBytes is the least that a collection scans.
	minScannedBytes = 4 << 20
)

// FollowHeapSize adapts the collector to the size of the heap, after each collection until the process ends. It overrides $GOGC.
func FollowHeapSize() {
	debug.SetMemoryLimit(debug.SetMemoryLimit(-1) / 100 * memoryLimitPercent)
	tune := newTune()
	tune()
	afterEachCollection(tune)
}

// newTune returns a function that sets by how much the heap may grow. $GOGC is a percentage of the live heap and of what the collector scans
// besides: stacks and global variables.
func newTune() func() {
	scanned := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	return func() {
		metrics.Read(scanned)
		bytes := uint64(0)
		for _, sample := range scanned {
			bytes += sample.Value.Uint64()
		}
		debug.SetGCPercent(growthPercent(bytes))
	}
}

// afterEachCollection calls a function after each collection. For that it uses the cleanup of an object that nothing refers to.
func afterEachCollection(act func()) {
	runtime.AddCleanup(new([64]byte), func(act func()) {
		act()
		afterEachCollection(act)
	}, act)
}

// growthPercent returns the percentage of the scanned bytes by which the heap may grow.
func growthPercent(scanned uint64) int {
	return max(minGrowthPercent, int(100*minGrowthBytes/max(scanned, minScannedBytes)))
}
