package why

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// executors returns, while the driver runs, what keeps executors from starting or ends them.
func (v *view) executors() []Reason {
	known := v.observed != nil
	if v.over() || known && (!v.observed.Started || v.observed.End != nil) || !known && !v.state.DriverRuns() {
		return nil
	}
	all := append(v.pendingExecutors(), v.endedExecutors()...)
	if known && len(all) == 0 || v.condition(conditionSucceeded) != nil && v.condition(conditionSucceeded).Reason == "NoExecutors" {
		all = append(all, v.noExecutors()...)
	}
	c := v.condition(conditionExecutorsReady)
	if len(all) == 0 && c != nil && c.Status == metav1.ConditionFalse && (c.Reason == "BelowMinimum" || c.Reason == "BelowInitial") {
		all = append(all, Reason{
			Cause: TooFewExecutors, Summary: c.Message, Evidence: v.conditionEvidence(c), Remedy: "See Events of the executors' Pods, and the driver's log.",
		})
	}
	enough := c != nil && c.Status == metav1.ConditionTrue
	for i := range all {
		all[i].Beside = enough
	}
	return all
}

// pendingExecutors returns what keeps executors from starting: each cause once.
func (v *view) pendingExecutors() (all []Reason) {
	counts := map[Cause]int{}
	for _, pod := range v.Executors {
		if pod.Status.Phase != corev1.PodPending {
			continue
		}
		for _, r := range v.pending(pod, "Executor Pod "+pod.Name, ofExecutors) {
			if counts[r.Cause]++; counts[r.Cause] == 1 {
				all = append(all, r)
			}
		}
	}
	for i, r := range all {
		if counts[r.Cause] > 1 {
			all[i].Evidence = fmt.Sprintf("So are %s. %s", someOf(counts[r.Cause], len(v.Executors)), r.Evidence)
		}
	}
	return all
}

// manyFailures is the number of failed executors from which on the failures are a cause.
const manyFailures = 3

// endedExecutors returns why executors ended.
func (v *view) endedExecutors() (all []Reason) {
	var killed, heap, failed []*corev1.Pod
	for _, pod := range v.Executors {
		end := terminatedIn(pod)
		switch {
		case end == nil && pod.Status.Phase != corev1.PodFailed:
		case end != nil && end.Reason == "OOMKilled":
			killed = append(killed, pod)
		case end != nil && end.ExitCode == 52:
			heap = append(heap, pod)
		case end == nil || end.ExitCode != 0:
			failed = append(failed, pod)
		}
	}
	if len(killed) > 0 {
		limit := limitOf(killed[0], submission.DefaultExecutorContainer)
		all = append(all, Reason{
			Cause: ExecutorOutOfMemory, Summary: fmt.Sprintf("Executors used more memory than their limit: %s.", someOf(len(killed), len(v.Executors))),
			Evidence: fmt.Sprintf("The container of Pod %s ended with the reason OOMKilled. %s", killed[0].Name, v.requested(ofExecutors, limit)),
			Remedy:   "Raise the overhead of executors, or let each do fewer tasks at once.", Changes: []Change{v.moreOverhead(ofExecutors, limit)},
		})
	}
	if len(heap) > 0 {
		all = append(all, Reason{
			Cause: ExecutorHeapTooSmall, Summary: fmt.Sprintf("The heap of executors was too small: %s.", someOf(len(heap), len(v.Executors))),
			Evidence: fmt.Sprintf("The container of Pod %s exited with code 52. %s", heap[0].Name, v.requested(ofExecutors, limitOf(heap[0], submission.DefaultExecutorContainer))),
			Remedy:   "Raise spark.executor.memory.", Changes: []Change{v.moreHeap(ofExecutors)},
		})
	}
	if len(failed) >= manyFailures {
		all = append(all, Reason{
			Cause: ExecutorsLost, Summary: fmt.Sprintf("Executors end again and again: %s failed.", someOf(len(failed), len(v.Executors))),
			Evidence: fmt.Sprintf("Pod %s %s.", failed[0].Name, howEnded(failed[0])),
			Remedy:   "Read the log of one: kubectl spark logs " + v.Name + " -e " + failed[0].Labels[submission.LabelExecutorID],
		})
	}
	return all
}

// noExecutors returns why a driver has no executors, from its log and from a condition.
func (v *view) noExecutors() (all []Reason) {
	lines := v.lines(nil)
	for _, s := range signs() {
		if !slices.Contains([]Cause{
			QuotaRefusesExecutors, PodSecurityViolated, WebhookRefused, DriverForbidden, ServiceAccountMissing, DNSFailed, APIUnreachable,
		}, s.cause) {
			continue
		}
		if line := s.find(lines); line != "" {
			r := v.ofSign(s, line, lines)
			r.Summary = refusalIn(line)
			all = append(all, r)
		}
	}
	if c := v.condition(conditionSucceeded); c != nil && c.Reason == "NoExecutors" {
		all = append(all, Reason{Cause: NoExecutors, Summary: c.Message, Evidence: v.conditionEvidence(c)})
	}
	return all
}

// someOf returns a number of executors as a text: 2 of 10 executors.
func someOf(some, all int) string { return fmt.Sprintf("%d of %d executors", some, all) }

// terminatedIn returns how the container of an executor ended; nil if it has not ended.
func terminatedIn(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name != submission.DefaultExecutorContainer && len(pod.Status.ContainerStatuses) > 1 {
			continue
		}
		if status.State.Terminated != nil {
			return status.State.Terminated
		}
		return status.LastTerminationState.Terminated
	}
	return nil
}

func howEnded(pod *corev1.Pod) string {
	if end := terminatedIn(pod); end != nil {
		return fmt.Sprintf("exited with code %d (%s)", end.ExitCode, end.Reason)
	}
	return fmt.Sprintf("failed: %s", pod.Status.Reason)
}
