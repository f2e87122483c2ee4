package usage

import (
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// CloseGap returns what an attempt used, from all executors that it had, so that no gap is left. Of the executors, the larger sum counts: a record has what
// the Pods had before they registered with the driver, and all has what nobody watched. The driver must be counted without a gap.
func CloseGap(counted v1alpha1.AttemptUsage, all []Executor, until time.Time) v1alpha1.AttemptUsage {
	whole := Count(v1alpha1.AttemptUsage{}, Observed{Executors: all, ExecutorsKnown: true, Dynamic: func() bool { return false }}, until)
	next := *counted.DeepCopy()
	if executorSeconds(whole) > executorSeconds(counted) {
		next.Ended.Executors = amountOf(whole.Ended.Executors).stored(counted.Ended.Executors)
		next.Running.Executors = amountOf(whole.Running.Executors).stored(counted.Running.Executors)
	}
	next.EndedExecutors, next.RunningExecutors, next.Approximate = whole.EndedExecutors, whole.RunningExecutors, whole.Approximate
	next.Ended.PeakExecutors = max(counted.Ended.PeakExecutors, whole.Ended.PeakExecutors)
	next.Ended.GapSeconds = 0
	return next
}

func executorSeconds(attempt v1alpha1.AttemptUsage) int64 {
	return amountOf(Sum(attempt).Executors).seconds
}

// RequestsOfEach returns what each of some Pods requested that all requested the same; false if that is not known.
func RequestsOfEach(used *v1alpha1.PodUsage) (Requests, bool) {
	of := amountOf(used)
	if of.seconds <= 0 {
		return Requests{}, false
	}
	return Requests{MilliCPU: of.core / of.seconds, Mebibytes: of.memory / of.seconds, GPUs: of.gpu / of.seconds}, true
}
