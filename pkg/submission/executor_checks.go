package submission

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// CheckExecutors warns of what contradicts itself in a plan, so that its driver ends or creates no executors. The fields are Spark properties, or
// those of the plan's template. It mirrors Spark's ExecutorAllocationManager and KubernetesUtils.buildResourcesQuantities.
func CheckExecutors(plan Plan) (found finding.List) {
	const least, most = "spark.dynamicAllocation.minExecutors", "spark.dynamicAllocation.maxExecutors"
	d := newDriver(plan)
	if d.conf.boolean(false, dynamicKey) && d.conf.set(most) {
		minimum, maximum := read(d.conf, 0, counts, least), read(d.conf, 0, counts, most)
		if d.conf.err() == nil && minimum > maximum {
			found.Warn(least, minimum, fmt.Sprintf("is more than the %d of %s, and the driver ends with that error", maximum, most), "lower it, or raise that")
		}
		if d.conf.err() == nil && maximum == 0 {
			found.Warn(most, maximum, "allows no executor, and the driver ends with that error", "write a number from 1 on, or leave it out")
		}
	}
	for _, p := range d.conf.withPrefix(executorResourcePrefix) {
		name, isAmount := strings.CutSuffix(p.name, ".amount")
		if vendor := executorResourcePrefix + name + ".vendor"; isAmount && !d.conf.set(vendor) {
			found.Warn(executorResourcePrefix+p.name, p.value, "needs "+vendor+" as well, and the driver cannot create executors without it",
				"name whose device it is, such as nvidia.com")
		}
	}
	found = append(found, d.executorLimit()...)
	return append(found, d.executorMountPaths()...)
}

// executorLimit warns of a limit of CPU below what executors request.
func (d *driver) executorLimit() (found finding.List) {
	given := d.conf.values[executorLimitCoresKey]
	requested := d.plannedExecutors().Requests[corev1.ResourceCPU]
	limit, isQuantity := parseQuantity(given)
	if isQuantity && limit.Cmp(requested) < 0 && d.makesExecutors() {
		found.Warn(executorLimitCoresKey, given, "is less than the "+requested.String()+" that executors request, and the driver cannot create executors",
			"raise it, or lower spark.kubernetes.executor.request.cores or spark.executor.cores")
	}
	return found
}
