package submission

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestMemoryOfTheDriver(t *testing.T) {
	for name, row := range map[string]struct {
		plan           Plan
		memory, factor string
	}{
		"1g by default":                       {pi(), "1408Mi", "0.1"},
		"1g of Python":                        {python(pi("spark.driver.memory=1g")), "1433Mi", "0.4"},
		"512m of Python":                      {python(pi("spark.driver.memory=512m")), "896Mi", "0.4"},
		"4g":                                  {pi("spark.driver.memory=4g"), "4505Mi", "0.1"},
		"8g":                                  {pi("spark.driver.memory=8g"), "9011Mi", "0.1"},
		"10g":                                 {pi("spark.driver.memory=10g"), "11264Mi", "0.1"},
		"1536k, which is one MiB":             {pi("spark.driver.memory=1536k"), "385Mi", "0.1"},
		"an overhead":                         {pi("spark.driver.memoryOverhead=512m"), "1536Mi", "0.1"},
		"an overhead below the minimum":       {pi("spark.driver.memoryOverhead=1"), "1025Mi", "0.1"},
		"an overhead by its former name":      {pi("spark.yarn.driver.memoryOverhead=512"), "1536Mi", "0.1"},
		"a factor for the driver":             {pi("spark.driver.memory=4g", "spark.driver.memoryOverheadFactor=0.5"), "6144Mi", "0.1"},
		"a factor for both roles":             {pi("spark.driver.memory=4g", "spark.kubernetes.memoryOverheadFactor=0.2"), "4915Mi", "0.2"},
		"a factor for both roles of Python":   {python(pi("spark.kubernetes.memoryOverheadFactor=1")), "2048Mi", "1.0"},
		"a factor that Java writes otherwise": {pi("spark.kubernetes.memoryOverheadFactor=0.0001"), "1408Mi", "1.0E-4"},
		"a minimum in 4.0":                    {pi("spark.driver.minMemoryOverhead=1g"), "2048Mi", "0.1"},
		"no minimum in 3.5":                   {version(pi("spark.driver.minMemoryOverhead=1g"), "3.5.7"), "1408Mi", "0.1"},
		"2Gi and 600Mi in 4.3":                {version(pi("spark.driver.memory=2Gi", "spark.driver.memoryOverhead=600Mi"), "4.3.0"), "2648Mi", "0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := mustBuild(t, row.plan)
			resources, want := driverOf(objects).Resources, resource.MustParse(row.memory)
			if got := resources.Requests[corev1.ResourceMemory]; !got.Equal(want) {
				t.Errorf("requests %s, want %s", got.String(), row.memory)
			}
			if got := resources.Limits[corev1.ResourceMemory]; !got.Equal(want) {
				t.Errorf("is limited to %s, want %s", got.String(), row.memory)
			}
			wantEqual(t, "factor", propertiesOf(t, objects)[overheadFactorKey], row.factor)
		})
	}
}

func TestMemoryThatCannotBeReadIsRefused(t *testing.T) {
	for _, property := range []string{
		"spark.driver.memoryOverhead=1.5g", "spark.driver.memoryOverheadFactor=0", "spark.driver.memoryOverheadFactor=-1",
		"spark.kubernetes.memoryOverheadFactor=NaN", "spark.kubernetes.memoryOverheadFactor=x", "spark.driver.minMemoryOverhead=x",
	} {
		wantRefused(t, pi(property), property[:len("spark.driver.min")])
	}
}

func TestProcessorsOfTheDriver(t *testing.T) {
	for name, row := range map[string]struct {
		plan           Plan
		request, limit string
	}{
		"one by default":         {pi(), "1", ""},
		"cores":                  {pi("spark.driver.cores=3"), "3", ""},
		"a request and a limit":  {pi("spark.kubernetes.driver.request.cores=500m", "spark.kubernetes.driver.limit.cores=1.5"), "500m", "1500m"},
		"a request before cores": {pi("spark.driver.cores=3", "spark.kubernetes.driver.request.cores=0.1"), "100m", ""},
	} {
		t.Run(name, func(t *testing.T) {
			resources := driverOf(mustBuild(t, row.plan)).Resources
			wantEqual(t, "request", resources.Requests.Cpu().String(), row.request)
			if limit, set := resources.Limits[corev1.ResourceCPU]; set || row.limit != "" {
				wantEqual(t, "limit", limit.String(), row.limit)
			}
		})
	}
	wantRefused(t, pi("spark.kubernetes.driver.request.cores=many"), "request.cores", `"many"`)
	wantRefused(t, pi("spark.kubernetes.driver.limit.cores="), "limit.cores")
}

func TestDevicesOfTheDriver(t *testing.T) {
	objects := mustBuild(t, pi(
		"spark.driver.resource.gpu.amount=2", "spark.driver.resource.gpu.vendor=nvidia.com",
		"spark.driver.resource.gpu.discoveryScript=/x.sh", "spark.driver.resource.fpga.amount=0",
	))
	limits := driverOf(objects).Resources.Limits
	wantEqual(t, "limit", limits.Name("nvidia.com/gpu", resource.DecimalSI).String(), "2")
	wantEqual(t, "limits", len(limits), 2)
	wantRefused(t, pi("spark.driver.resource.gpu.vendor=x"), "spark.driver.resource.gpu.amount")
	wantRefused(t, pi("spark.driver.resource.gpu.amount=1"), "spark.driver.resource.gpu.vendor")
	wantRefused(t, pi("spark.driver.resource.gpu.amount=x"), "spark.driver.resource.gpu.amount")
}

func TestATemplateKeepsTheResourcesThatAreNotSparks(t *testing.T) {
	quantities := func(pairs ...string) corev1.ResourceList {
		list := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return list
	}
	plan := templated(pi(), corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Resources: corev1.ResourceRequirements{
			Requests: quantities("cpu", "9", "memory", "9Gi", "ephemeral-storage", "1Gi"),
			Limits:   quantities("cpu", "9", "memory", "9Gi", "amd.com/gpu", "1"),
		},
	}}}})
	wantEqual(t, "resources", driverOf(mustBuild(t, plan)).Resources, corev1.ResourceRequirements{
		Requests: quantities("cpu", "1", "memory", "1408Mi", "ephemeral-storage", "1Gi"),
		Limits:   quantities("cpu", "9", "memory", "1408Mi", "amd.com/gpu", "1"),
	})
}
