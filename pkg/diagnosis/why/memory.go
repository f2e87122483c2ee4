package why

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	mebibyte = 1 << 20
	// standardHeap is Spark's default of spark.driver.memory and spark.executor.memory, in MiB.
	standardHeap = 1024
	// leastOverhead is the least overhead that is worth a try, in MiB.
	leastOverhead = 1024
	// mostMemory bounds what is suggested, in MiB.
	mostMemory = 1 << 24
)

// units are the suffixes of Spark's sizes, in MiB.
var units = map[string]float64{
	"": 1, "b": 1.0 / mebibyte, "k": 1.0 / 1024, "kb": 1.0 / 1024, "m": 1, "mb": 1, "g": 1024, "gb": 1024, "t": 1 << 20, "tb": 1 << 20,
}

// size returns a size as Spark reads memory, in MiB.
func size(given string) (int64, bool) {
	given = strings.ToLower(strings.TrimSpace(given))
	digits := strings.TrimRight(given, "bkmgt")
	number, err := strconv.ParseInt(digits, 10, 32)
	unit, ok := units[given[len(digits):]]
	if err != nil || !ok || number < 0 {
		return 0, false
	}
	return min(int64(float64(number)*unit), mostMemory), true
}

// printed prints a size as Spark reads it.
func printed(mebibytes int64) string {
	if mebibytes%1024 == 0 {
		return fmt.Sprintf("%dg", mebibytes/1024)
	}
	return fmt.Sprintf("%dm", mebibytes)
}

// heap returns the heap of a role, driver or executor, in MiB.
func (v *view) heap(role string) int64 {
	if asked, ok := size(v.Properties["spark."+role+".memory"]); ok && asked > 0 {
		return asked
	}
	return standardHeap
}

// overhead returns what a role's container has beside the heap, in MiB. limit is the limit of the container, 0 if it is not known.
func (v *view) overhead(role string, limit int64) int64 {
	if asked, ok := size(v.Properties["spark."+role+".memoryOverhead"]); ok {
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
	wanted := max(2*v.overhead(role, limit), leastOverhead)
	return Change{role + "." + MemoryOverhead, printed(min((wanted+step-1)/step*step, mostMemory))}
}

// moreHeap returns the change that gives a role twice the heap.
func (v *view) moreHeap(role string) Change {
	return Change{role + "." + Memory, printed(min(2*v.heap(role), mostMemory))}
}

// lessHeap returns the change that halves the heap of a role; none if it is small.
func (v *view) lessHeap(role string) []Change {
	if heap := v.heap(role); heap >= 2*standardHeap {
		return []Change{{role + "." + Memory, printed(heap / 2)}}
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

// asked says how much memory a role asked for.
func (v *view) asked(role string, limit int64) string {
	words := fmt.Sprintf("Asked for were spark.%s.memory %s and an overhead of %s", role, printed(v.heap(role)), printed(v.overhead(role, limit)))
	if limit > 0 {
		words += fmt.Sprintf(": a limit of %dMi", limit)
	}
	return words + "."
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
