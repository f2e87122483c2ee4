package quota

import (
	"maps"
	"slices"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// An object that is created or edited is compared with the quotas before anything of it exists. before are the Pods that it asked for
// until now; none for a new one. after are those that it asks for.

// NeverFits returns what an object asks for, more than before, that the quotas never have.
func (n Namespace) NeverFits(before, after []v1alpha1.QuotaPods) []Lack {
	all := make(room, len(n.Quotas))
	for i, q := range n.Quotas {
		all[i] = q.Hard
	}
	return n.growthLacks(all, before, after, func(_, wanted int64) int64 { return wanted })
}

// DoesNotFit returns what an object asks for more than before, and the quotas do not have beside what is used and reserved.
func (n Namespace) DoesNotFit(before, after []v1alpha1.QuotaPods) []Lack {
	return n.growthLacks(n.room(), before, after, func(had, wanted int64) int64 { return wanted - had })
}

// growthLacks returns what of the quotas does not suffice for a demand that grows, one resource of each quota. requested is what of it has to
// be free.
func (n Namespace) growthLacks(
	free room, before, after []v1alpha1.QuotaPods, requested func(had, wanted int64) int64,
) (lacks []Lack) {
	for i, q := range n.Quotas {
		had, wanted := q.demand(before, countsOf(before)), q.demand(after, countsOf(after))
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			amount := requested(had[name], wanted[name])
			if wanted[name] > had[name] && amount > free[i][name] && q.Hard[name] < maxAmount {
				lacks = append(lacks, Lack{q.Name, name, amount, max(free[i][name], 0), q.Hard[name]})
				break
			}
		}
	}
	return lacks
}

func countsOf(pods []v1alpha1.QuotaPods) []int64 {
	counts := make([]int64, len(pods))
	for i := range pods {
		counts[i] = pods[i].Count
	}
	return counts
}
