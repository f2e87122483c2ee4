package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// memoryShare is how much of $GOMEMLIMIT, which is the container's limit, the collector keeps to, in percent: the rest is
	// for what it does not count, and for what comes while it works.
	memoryShare = 90
	// The heap may grow by so many bytes, and by so many percent, before it is collected: a small one would be collected for
	// each application that lives, and one of ten thousand applications for every 25 of them at 30 %, which was four tenths
	// of all CPU time. $GOGC is overruled.
	leastGrowth  = 32 << 20
	leastPercent = 60
	// smallest is a heap that is never smaller.
	smallest = 4 << 20
)

// tuneCollector has the collector of garbage follow the size of the heap, for good.
func tuneCollector() {
	debug.SetMemoryLimit(debug.SetMemoryLimit(-1) / 100 * memoryShare)
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
	return max(leastPercent, int(100*leastGrowth/max(live, smallest)))
}
