package podvalidation

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// resources refuses negative quantities, and limits below the requests.
func (c *checker) resources(path string, given corev1.ResourceRequirements) {
	c.negative(path+".limits", given.Limits)
	c.negative(path+".requests", given.Requests)
	for _, name := range slices.Sorted(maps.Keys(given.Limits)) {
		limit, request := given.Limits[name], given.Requests[name]
		if limit.Sign() >= 0 && request.Cmp(limit) > 0 {
			c.refuse(finding.Entry(path+".limits", string(name)), limit.String(), "is below the request of "+request.String(), "write at least as much")
		}
	}
}

func (c *checker) negative(path string, amounts corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		if amount := amounts[name]; amount.Sign() < 0 {
			c.refuse(finding.Entry(path, string(name)), amount.String(), "is negative", "write one such as 500m, 2, 1.5 or 10Gi")
		}
	}
}
