package submission

import (
	"cmp"
	"maps"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// DefaultExecutors is how many executors Spark asks for if no property says so.
const DefaultExecutors = 2

const defaultExecutorMemory = 1024 // MiB

// Properties of what executors request beside cores and memory.
const (
	executorTemplateContainer = "spark.kubernetes.executor.podTemplateContainerName"
	executorLimitCoresKey     = "spark.kubernetes.executor.limit.cores"
	executorResourcePrefix    = "spark.executor.resource."
)

// DynamicAllocation reports whether Spark properties leave the number of executors to Spark.
func DynamicAllocation(property func(key string) string) bool {
	return IsTrue(property(dynamicKey))
}

// IsTrue reports whether the value of a Spark property switches something on.
func IsTrue(value string) bool { return strings.EqualFold(strings.TrimSpace(value), "true") }

// Executors are the executors that a plan's driver asks for when it starts. The driver creates them. A scheduler that
// reserves room for a whole application needs to know them before.
type Executors struct {
	// Count is the number of executors; with dynamic allocation, the initial number.
	Count int64
	// Requests are the CPU and the memory that each requests.
	Requests corev1.ResourceList
}

// PlannedExecutors returns the executors of a plan. The error names the values from which they cannot be computed. It
// mirrors BasicExecutorFeatureStep and Spark's default resource profile.
func PlannedExecutors(plan Plan) (Executors, error) {
	d := newDriver(plan)
	return d.plannedExecutors(), d.conf.err()
}

func (d *driver) plannedExecutors() Executors {
	cores := resource.NewQuantity(int64(read(d.conf, 1, positives, "spark.executor.cores")), resource.DecimalSI)
	return Executors{
		Count: d.executorCount(),
		Requests: corev1.ResourceList{
			corev1.ResourceCPU:    read(d.conf, *cores, quantities, "spark.kubernetes.executor.request.cores"),
			corev1.ResourceMemory: resource.MustParse(strconv.FormatInt(d.executorMemory(), 10) + "Mi"),
		},
	}
}

// MostExecutors returns the largest number of executors of a plan. Without a limit of dynamic allocation it is that with which the driver
// starts.
func MostExecutors(plan Plan) int64 {
	d := newDriver(plan)
	first := d.executorCount()
	if !d.conf.boolean(false, dynamicKey) {
		return first
	}
	return max(first, int64(read(d.conf, 0, counts, "spark.dynamicAllocation.maxExecutors")))
}

// PlannedExecutorPod returns a Pod that requests what each of the executors will request, and their number. It is the template with the
// name, the image and the resources of Spark's container, which is the last one, and no more. As in Spark, the template's image has no effect.
func PlannedExecutorPod(plan Plan) (*corev1.Pod, int64, error) {
	d, pod := newDriver(plan), &corev1.Pod{}
	executors := d.plannedExecutors()
	if err := d.conf.err(); err != nil {
		return nil, 0, err
	}
	if template := plan.ExecutorTemplate; template != nil {
		pod.Spec = *template.Spec.DeepCopy()
	}
	container, _ := takeDriverContainer(&pod.Spec, d.conf.text("", executorTemplateContainer))
	_, image, _ := d.conf.lookup(executorImageKey, imageKey)
	container.Name, container.Image = cmp.Or(container.Name, DefaultExecutorContainer), WithVersion(cmp.Or(image, plan.DefaultImage), plan.SparkVersion)
	requests, limits := maps.Clone(container.Resources.Requests), maps.Clone(container.Resources.Limits)
	if requests == nil {
		requests = corev1.ResourceList{}
	}
	if limits == nil {
		limits = corev1.ResourceList{}
	}
	maps.Copy(requests, executors.Requests)
	limits[corev1.ResourceMemory] = executors.Requests[corev1.ResourceMemory]
	if d.conf.set(executorLimitCoresKey) {
		limits[corev1.ResourceCPU] = read(d.conf, executors.Requests[corev1.ResourceCPU], quantities, executorLimitCoresKey)
	}
	for _, p := range d.conf.withPrefix(executorResourcePrefix) {
		name, isAmount := strings.CutSuffix(p.name, ".amount")
		vendor := d.conf.values[executorResourcePrefix+name+".vendor"]
		if !isAmount || vendor == "" {
			continue
		}
		if amount := readPlain(d.conf, 0, integers, executorResourcePrefix+p.name); amount > 0 {
			limits[corev1.ResourceName(vendor+"/"+name)] = *resource.NewQuantity(int64(amount), resource.DecimalSI)
		}
	}
	container.Resources.Requests, container.Resources.Limits = requests, limits
	pod.Spec.Containers = append(pod.Spec.Containers, *container)
	return pod, executors.Count, d.conf.err()
}

func (d *driver) executorCount() int64 {
	if !d.conf.boolean(false, dynamicKey) {
		return int64(read(d.conf, DefaultExecutors, positives, instancesKey))
	}
	least := read(d.conf, 0, counts, "spark.dynamicAllocation.minExecutors")
	first := read(d.conf, least, counts, "spark.dynamicAllocation.initialExecutors")
	return int64(max(least, first, read(d.conf, 0, counts, instancesKey)))
}

// executorMemory returns the memory of an executor's container in MiB.
func (d *driver) executorMemory() int64 {
	memory := d.mebibytes(defaultExecutorMemory, executorMemoryKey)
	total := memory + d.executorOverhead(memory) + d.offHeapMemory()
	if d.plan.Resource.Language() == Python {
		total += d.mebibytes(0, "spark.executor.pyspark.memory")
	}
	return total
}

func (d *driver) executorOverhead(memory int64) int64 {
	_ = d.overheadFactor() // writes the factor that executors inherit
	inherited, _ := parseFactor(d.written[overheadFactorKey])
	factor := read(d.conf, inherited, aboveZero, "spark.executor.memoryOverheadFactor")
	minimum := int64(defaultMinOverhead)
	if d.rules.MinMemoryOverheadKey {
		minimum = d.mebibytes(minimum, "spark.executor.minMemoryOverhead")
	}
	share := int64(math.Min(factor*float64(memory), math.MaxInt32))
	return d.mebibytes(max(share, minimum), "spark.executor.memoryOverhead", "spark.yarn.executor.memoryOverhead")
}

// offHeapMemory returns the memory that Spark allocates outside the heap, in MiB.
func (d *driver) offHeapMemory() int64 {
	const key = "spark.memory.offHeap.size"
	if !d.conf.boolean(false, "spark.memory.offHeap.enabled") {
		return 0
	}
	// Without a unit this one property counts bytes.
	inBytes := sizes(d.rules)
	inMebibytes := inBytes.parse
	inBytes.parse = func(text string) (int64, bool) {
		if onlyDigits.MatchString(strings.TrimSpace(text)) {
			text += "b"
		}
		return inMebibytes(text)
	}
	return read(d.conf, 0, inBytes, key) / mebibyte
}
