// Package cost measures in tests what a piece of work costs, however busy the machine is.
package cost

import (
	"runtime"
	"syscall"
	"time"
)

// Cost is what some work took.
type Cost struct {
	// CPU is the time that its thread ran.
	CPU time.Duration
	// Bytes are those that were allocated, by everybody.
	Bytes uint64
}

// Of does some work and measures it. What the work leaves to other goroutines is not in its time.
func Of(work func()) Cost {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := threadTime()
	work()
	took := threadTime() - began
	runtime.ReadMemStats(&after)
	return Cost{CPU: took, Bytes: after.TotalAlloc - before.TotalAlloc}
}

// Least is the least of some measurements, each dimension by itself: what comes of other work of the process is in some of
// them only.
func Least(times int, work func()) Cost {
	least := Of(work)
	for range times - 1 {
		again := Of(work)
		least = Cost{CPU: min(least.CPU, again.CPU), Bytes: min(least.Bytes, again.Bytes)}
	}
	return least
}

// ofThread is getrusage(2)'s word for the thread that calls it.
const ofThread = 1

func threadTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(ofThread, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
