package quota

import "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"

// In this file, an object that is created or edited is compared with the quotas, before it is stored. before are the Pods that it asked for until
// now; none for a new object. after are those that it asks for now.

// NeverFits returns the resources of which an object asks for more than before, and more than the quotas ever have.
func (n Namespace) NeverFits(before, after []v1alpha1.QuotaPods) []Lack {
	return n.growthLacks(n.hard(), before, after, func(_, wanted int64) int64 { return wanted })
}

// DoesNotFit returns the resources of which an object asks for more than before, and whose increase does not fit beside what is used and reserved.
func (n Namespace) DoesNotFit(before, after []v1alpha1.QuotaPods) []Lack {
	return n.growthLacks(n.room(), before, after, func(had, wanted int64) int64 { return wanted - had })
}

// growthLacks returns the resources that do not suffice for a growing demand. requested returns the amount that has to be free.
func (n Namespace) growthLacks(free room, before, after []v1alpha1.QuotaPods, requested func(had, wanted int64) int64) []Lack {
	return n.lacksOf(free, func(q Quota) Usage {
		had, growth := q.demand(before, countsOf(before)), Usage{}
		for name, wanted := range q.demand(after, countsOf(after)) {
			if wanted > had[name] {
				growth[name] = requested(had[name], wanted)
			}
		}
		return growth
	})
}

func countsOf(pods []v1alpha1.QuotaPods) []int64 {
	counts := make([]int64, len(pods))
	for i := range pods {
		counts[i] = pods[i].Count
	}
	return counts
}
