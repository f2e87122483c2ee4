package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// memoryShare is how much of $GOMEMLIMIT, which is the container's limit, the collector keeps to, in percent: the rest is
	// for what it does not count, and for what comes while it works.
	memoryShare = 90
	// The heap may grow by so many bytes, and by so many percent, before it is collected: a small one would be collected for
	// each application that lives, and a large one is not to be half garbage. $GOGC is overruled.
	leastGrowth  = 32 << 20
	leastPercent = 30
	// smallest is a heap that is never smaller.
	smallest = 4 << 20
)

// tuneCollector has the collector of garbage follow the size of the heap, until the context ends.
func tuneCollector(ctx context.Context) {
	debug.SetMemoryLimit(debug.SetMemoryLimit(-1) / 100 * memoryShare)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for percent := 0; ; {
		metrics.Read(live)
		if now := growthPercent(live[0].Value.Uint64()); now != percent {
			percent = now
			debug.SetGCPercent(percent)
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
	}
}

// growthPercent is how far a heap of a number of bytes may grow, in percent.
func growthPercent(live uint64) int {
	return max(leastPercent, int(100*leastGrowth/max(live, smallest)))
}
