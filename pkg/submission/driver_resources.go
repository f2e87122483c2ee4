package submission

import (
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

const (
	driverCoresKey       = "spark.driver.cores"
	requestCoresKey      = "spark.kubernetes.driver.request.cores"
	limitCoresKey        = "spark.kubernetes.driver.limit.cores"
	customResourcePrefix = "spark.driver.resource."
	overheadFactorKey    = "spark.kubernetes.memoryOverheadFactor"

	jvmOverheadFactor    = 0.1
	nonJVMOverheadFactor = 0.4 // Python and R run processes beside the JVM.

	// Defaults in MiB.
	defaultDriverMemory = 1024
	defaultMinOverhead  = 384
)

// driverResources sets the requests and limits of the driver's container. The template's CPU limit, ephemeral storage and
// devices stay; Spark sets the rest.
func (d *driver) driverResources() {
	resources := &d.container.Resources
	if resources.Requests == nil {
		resources.Requests = corev1.ResourceList{}
	}
	if resources.Limits == nil {
		resources.Limits = corev1.ResourceList{}
	}
	d.setCPU(resources.Requests, resources.Limits)
	memory := resource.MustParse(strconv.FormatInt(d.podMemory(), 10) + "Mi")
	resources.Requests[corev1.ResourceMemory] = memory
	resources.Limits[corev1.ResourceMemory] = memory
	d.setCustomResources(resources.Limits)
}

func (d *driver) setCPU(requests, limits corev1.ResourceList) {
	cores := resource.NewQuantity(int64(read(d.conf, 1, positives, driverCoresKey)), resource.DecimalSI)
	request := read(d.conf, *cores, quantities, requestCoresKey)
	requests[corev1.ResourceCPU] = request
	if d.conf.set(limitCoresKey) {
		limits[corev1.ResourceCPU] = read(d.conf, request, quantities, limitCoresKey)
	}
	if limit, limited := limits[corev1.ResourceCPU]; limited && limit.Cmp(request) < 0 {
		field, given := finding.Entry(d.containerField+".resources.limits", "cpu"), limit.String()
		if d.conf.set(limitCoresKey) {
			field, given = limitCoresKey, d.conf.values[limitCoresKey]
		}
		d.conf.refuse(field, given, "is less than the "+request.String()+" that the driver requests",
			"raise it, or lower "+requestCoresKey+" or "+driverCoresKey)
	}
}

// podMemory returns the memory of the driver's container in MiB: the heap and the overhead of the process.
func (d *driver) podMemory() int64 {
	memory := d.mebibytes(defaultDriverMemory, driverMemoryKey)
	return memory + d.memoryOverhead(memory)
}

func (d *driver) memoryOverhead(memory int64) int64 {
	// The factor is written even if an absolute overhead overrides it: executors inherit it.
	factor := d.overheadFactor()
	minimum := int64(defaultMinOverhead)
	if d.rules.MinMemoryOverheadKey {
		minimum = d.mebibytes(minimum, "spark.driver.minMemoryOverhead")
	}
	// Spark's overhead is a 32-bit number.
	share := int64(math.Min(factor*float64(memory), math.MaxInt32))
	return d.mebibytes(max(share, minimum), "spark.driver.memoryOverhead", "spark.yarn.driver.memoryOverhead")
}

// overheadFactor returns the share of the heap to add. It also writes the application's default for its executors, so that
// those of a Python application get more as well.
func (d *driver) overheadFactor() float64 {
	fallback := jvmOverheadFactor
	if d.plan.Resource.Language() != Java {
		fallback = nonJVMOverheadFactor
	}
	fallback = read(d.conf, fallback, nonNegatives, overheadFactorKey)
	d.written[overheadFactorKey] = javaDouble(fallback)
	return read(d.conf, fallback, aboveZero, "spark.driver.memoryOverheadFactor")
}

// mebibytes reads a size in memory, in whole MiB.
func (d *driver) mebibytes(fallback int64, keys ...string) int64 {
	return read(d.conf, fallback*mebibyte, sizes(d.rules), keys...) / mebibyte
}

// setCustomResources sets limits for the devices that properties ask for. The API server adds the requests.
func (d *driver) setCustomResources(limits corev1.ResourceList) {
	names := map[string]bool{}
	for _, p := range d.conf.withPrefix(customResourcePrefix) {
		name, _, _ := strings.Cut(p.name, ".")
		names[name] = true
	}
	for _, name := range sortedKeys(names) {
		d.setCustomResource(limits, name)
	}
}

func (d *driver) setCustomResource(limits corev1.ResourceList, name string) {
	amountKey, vendorKey := customResourcePrefix+name+".amount", customResourcePrefix+name+".vendor"
	if !d.conf.set(amountKey) {
		d.conf.refuse(amountKey, "", "is missing", "say how many, 0 for none")
		return
	}
	amount := readPlain(d.conf, 0, integers, amountKey)
	if amount <= 0 {
		return
	}
	vendor := d.conf.values[vendorKey]
	if vendor == "" {
		d.conf.refuse(amountKey, d.conf.values[amountKey], "needs "+vendorKey+" as well", "name whose device it is, such as nvidia.com")
		return
	}
	device := vendor + "/" + name
	d.conf.expect(vendorKey, vendor, "makes with "+amountKey+" "+device+", which is no name of a resource", validation.IsQualifiedName(device))
	if strings.HasPrefix(device, corev1.DefaultResourceRequestsPrefix) {
		d.conf.refuse(vendorKey, vendor, "begins as the name of a quota", "name whose device it is, such as nvidia.com")
	}
	limits[corev1.ResourceName(device)] = *resource.NewQuantity(int64(amount), resource.DecimalSI)
}
