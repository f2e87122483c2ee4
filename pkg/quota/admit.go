package quota

import "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"

// An object that is created or edited is compared with the quotas before anything of it exists. before are the Pods that it asked for
// until now; none for a new one. after are those that it asks for.

// NeverFits returns what an object asks for, more than before, that the quotas never have.
func (n Namespace) NeverFits(before, after []v1alpha1.QuotaPods) []Lack {
	return n.growthLacks(n.hard(), before, after, func(_, wanted int64) int64 { return wanted })
}

// DoesNotFit returns what an object asks for more than before, and the quotas do not have beside what is used and reserved.
func (n Namespace) DoesNotFit(before, after []v1alpha1.QuotaPods) []Lack {
	return n.growthLacks(n.room(), before, after, func(had, wanted int64) int64 { return wanted - had })
}

// growthLacks returns what of the quotas does not suffice for a demand that grows. requested is what of it has to be free.
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
