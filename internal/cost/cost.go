// Package cost measures in tests what a piece of work costs, even on a busy machine.
package cost

import (
	"runtime"
	"syscall"
	"time"
)

// Cost is the cost of some work.
type Cost struct {
	// CPU is the time for which its thread ran.
	CPU time.Duration
	// Bytes are the bytes that all goroutines allocated.
	Bytes uint64
}

// Of runs some work and measures it. The CPU time does not include other goroutines that the work starts.
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

// Least returns the smallest values of some measurements, each dimension separately. Other work of the process disturbs only
// some of them.
func Least(times int, work func()) Cost {
	least := Of(work)
	for range times - 1 {
		again := Of(work)
		least = Cost{CPU: min(least.CPU, again.CPU), Bytes: min(least.Bytes, again.Bytes)}
	}
	return least
}

// ofThread is RUSAGE_THREAD of getrusage(2): the calling thread.
const ofThread = 1

func threadTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(ofThread, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
