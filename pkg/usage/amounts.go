package usage

import (
	"math"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// amount is what Pods used. Sums and products stop at the limits of int64: anyone may request anything.
type amount struct{ seconds, core, memory, gpu int64 }

// during returns what a Pod used from its scheduling to an instant.
func (p Pod) during(until int64) amount {
	seconds := until - p.Scheduled
	if p.Scheduled == 0 || seconds <= 0 {
		return amount{}
	}
	return amount{seconds, multiply(seconds, p.MilliCPU), multiply(seconds, p.Mebibytes), multiply(seconds, p.GPUs)}
}

func (a amount) plus(b amount) amount {
	return amount{add(a.seconds, b.seconds), add(a.core, b.core), add(a.memory, b.memory), add(a.gpu, b.gpu)}
}

// minus returns what is left of a without b; nothing is negative.
func (a amount) minus(b amount) amount {
	return amount{max(a.seconds-b.seconds, 0), max(a.core-b.core, 0), max(a.memory-b.memory, 0), max(a.gpu-b.gpu, 0)}
}

func amountOf(stored *v1alpha1.PodUsage) amount {
	if stored == nil {
		return amount{}
	}
	return amount{stored.Seconds, stored.CoreMilliseconds, stored.MebibyteSeconds, stored.GPUSeconds}
}

// stored returns an amount for a record; nil for nothing. It keeps the unknown fields of what was stored before.
func (a amount) stored(before *v1alpha1.PodUsage) *v1alpha1.PodUsage {
	var unknown v1alpha1.UnknownFields
	if before != nil {
		unknown = before.Unknown
	}
	if a == (amount{}) && unknown == "" {
		return nil
	}
	return &v1alpha1.PodUsage{
		Unknown: unknown, Seconds: a.seconds, CoreMilliseconds: a.core, MebibyteSeconds: a.memory, GPUSeconds: a.gpu,
	}
}

// Add returns the sum of two usages. The unknown fields are those of the first.
func Add(a, b v1alpha1.Usage) v1alpha1.Usage {
	return v1alpha1.Usage{
		Unknown:       a.Unknown,
		Driver:        amountOf(a.Driver).plus(amountOf(b.Driver)).stored(a.Driver),
		Executors:     amountOf(a.Executors).plus(amountOf(b.Executors)).stored(a.Executors),
		PeakExecutors: max(a.PeakExecutors, b.PeakExecutors),
		RunningPods:   add(a.RunningPods, b.RunningPods),
		GapSeconds:    add(a.GapSeconds, b.GapSeconds),
	}
}

// Subtract returns what is left of a usage without another. The peak stays.
func Subtract(a, b v1alpha1.Usage) v1alpha1.Usage {
	return v1alpha1.Usage{
		Unknown:       a.Unknown,
		Driver:        amountOf(a.Driver).minus(amountOf(b.Driver)).stored(a.Driver),
		Executors:     amountOf(a.Executors).minus(amountOf(b.Executors)).stored(a.Executors),
		PeakExecutors: a.PeakExecutors,
		RunningPods:   max(a.RunningPods-b.RunningPods, 0),
		GapSeconds:    max(a.GapSeconds-b.GapSeconds, 0),
	}
}

func add(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// multiply multiplies two numbers that are not negative.
func multiply(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}
