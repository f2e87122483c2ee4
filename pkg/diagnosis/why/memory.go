package why

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	mebibyte = 1 << 20
	// defaultHeap is Spark's default of spark.driver.memory and spark.executor.memory, in MiB.
	defaultHeap = 1024
	// minOverhead is the smallest overhead that is suggested, in MiB.
	minOverhead = 1024
	// maxMemory is the largest size that is suggested, in MiB.
	maxMemory = 1 << 24
)

// units are the suffixes of Spark's sizes, in MiB.
var units = map[string]float64{
	"": 1, "b": 1.0 / mebibyte, "k": 1.0 / 1024, "kb": 1.0 / 1024, "m": 1, "mb": 1, "g": 1024, "gb": 1024, "t": 1 << 20, "tb": 1 << 20,
}

// parseSize parses a size of memory as Spark does, in MiB.
func parseSize(given string) (int64, bool) {
	given = strings.ToLower(strings.TrimSpace(given))
	digits := strings.TrimRight(given, "bkmgt")
	number, err := strconv.ParseInt(digits, 10, 32)
	unit, ok := units[given[len(digits):]]
	if err != nil || !ok || number < 0 {
		return 0, false
	}
	return min(int64(float64(number)*unit), maxMemory), true
}

// formatSize returns a size as Spark reads it.
func formatSize(mebibytes int64) string {
	if mebibytes%1024 == 0 {
		return fmt.Sprintf("%dg", mebibytes/1024)
	}
	return fmt.Sprintf("%dm", mebibytes)
}

// heap returns the heap of a role, driver or executor, in MiB.
func (v *view) heap(role string) int64 {
	if asked, ok := parseSize(v.Properties["spark."+role+".memory"]); ok && asked > 0 {
		return asked
	}
	return defaultHeap
}

// overhead returns the memory of a role's container beside the heap, in MiB. limit is the limit of the container; 0 if it is not known.
func (v *view) overhead(role string, limit int64) int64 {
	if asked, ok := parseSize(v.Properties["spark."+role+".memoryOverhead"]); ok {
		return asked
	}
	if limit > v.heap(role) {
		return limit - v.heap(role)
	}
	return max(v.heap(role)/10, 384)
}

// moreOverhead returns the change that gives a role's container twice the overhead.
func (v *view) moreOverhead(role string, limit int64) Change {
	const step = 512
	wanted := max(2*v.overhead(role, limit), minOverhead)
	return Change{role + "." + MemoryOverhead, formatSize(min((wanted+step-1)/step*step, maxMemory))}
}

// moreHeap returns the change that gives a role twice the heap.
func (v *view) moreHeap(role string) Change {
	return Change{role + "." + Memory, formatSize(min(2*v.heap(role), maxMemory))}
}

// lessHeap returns the change that halves the heap of a role; none if it is small.
func (v *view) lessHeap(role string) []Change {
	if heap := v.heap(role); heap >= 2*defaultHeap {
		return []Change{{role + "." + Memory, formatSize(heap / 2)}}
	}
	return nil
}

// fewerCores returns the change that halves the cores of a role; none if it has one.
func (v *view) fewerCores(role string) []Change {
	if cores, err := strconv.ParseInt(v.Properties["spark."+role+".cores"], 10, 32); err == nil && cores > 1 {
		return []Change{{role + "." + Cores, strconv.FormatInt(cores/2, 10)}}
	}
	return nil
}

// requested returns a sentence about the memory that a role asked for.
func (v *view) requested(role string, limit int64) string {
	sentence := fmt.Sprintf("Asked for were spark.%s.memory %s and an overhead of %s", role, formatSize(v.heap(role)), formatSize(v.overhead(role, limit)))
	if limit > 0 {
		sentence += fmt.Sprintf(": a limit of %dMi", limit)
	}
	return sentence + "."
}

// limitOf returns the memory limit of a Pod's container, in MiB; 0 if it has none. If no container has the name, the first one counts.
func limitOf(pod *corev1.Pod, container string) int64 {
	if pod == nil || len(pod.Spec.Containers) == 0 {
		return 0
	}
	found := pod.Spec.Containers[0]
	for _, c := range pod.Spec.Containers {
		if c.Name == container {
			found = c
		}
	}
	return found.Resources.Limits.Memory().Value() / mebibyte
}
