package quota

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// Application is an application with a claim on the quotas of its namespace. It may also be a cluster: then its master is the driver, and its
// workers are the executors.
type Application struct {
	UID   types.UID
	Claim *v1alpha1.QuotaClaim
	// Order is the place of its reservation among all others: the resourceVersion of the write that made it. Zero is before all others.
	Order uint64
	// Driver reports whether its driver Pod exists. Executors is the number of its executors that exist.
	Driver    bool
	Executors int64
	// Over reports whether it creates no more Pods.
	Over bool
	// Complete reports whether it has had all planned executors at once. Executors that dynamic allocation removes afterwards are not missing.
	Complete bool
	// RefusedUntil is until when its launch waits after a refusal of the API server; zero if it does not.
	RefusedUntil time.Time
}

// Namespace is what is known of a namespace.
type Namespace struct {
	Quotas []Quota
	// Waiting are the applications that wait for room, and are neither suspended nor deleted.
	Waiting []Application
	// Reserved are those for which room was reserved, until their attempts end.
	Reserved []Application
}

// planned returns how many of each of its Pods an application plans.
func (a Application) planned() []int64 { return countsOf(a.Claim.Pods) }

// existing returns how many of the planned Pods exist.
func (a Application) existing() []int64 {
	counts := make([]int64, len(a.Claim.Pods))
	for i, pods := range a.Claim.Pods {
		switch {
		case i > 0:
			counts[i] = min(a.Executors, pods.Count)
		case a.Driver:
			counts[i] = 1
		}
	}
	return counts
}

// missing returns how many of the planned Pods do not exist yet.
func (a Application) missing() []int64 {
	counts, existing := a.planned(), a.existing()
	for i := range counts {
		if counts[i] -= existing[i]; a.Over || a.Complete && i > 0 {
			counts[i] = 0
		}
	}
	return counts
}

// room is what is free of each quota, in their order. It may be below zero.
type room []Usage

// room returns what is free: hard less what is used, less what is planned and not used yet. The cache of the quotas may be older than the cache of
// the Pods: so at least as much is used as the known Pods take. It may also be newer: then a Pod counts twice, as used and as missing, until the
// watch of Pods delivers it. Others wait until then.
func (n Namespace) room() room {
	free := make(room, len(n.Quotas))
	for i, q := range n.Quotas {
		existing, missing := Usage{}, Usage{}
		for _, app := range n.Reserved {
			add(existing, q.demand(app.Claim.Pods, app.existing()))
			add(missing, q.demand(app.Claim.Pods, app.missing()))
		}
		free[i] = Usage{}
		for name, hard := range q.Hard {
			free[i][name] = hard - max(q.Used[name], existing[name]) - missing[name]
		}
	}
	return free
}

// hard returns the limits of the quotas.
func (n Namespace) hard() room {
	all := make(room, len(n.Quotas))
	for i, q := range n.Quotas {
		all[i] = q.Hard
	}
	return all
}

func add(sum, more Usage) {
	for name, amount := range more {
		sum[name] = plus(sum[name], amount)
	}
}

// lacks returns the resources of the quotas that do not suffice for Pods. counts are in the order of the Pods.
func (n Namespace) lacks(free room, pods []v1alpha1.QuotaPods, counts []int64) []Lack {
	return n.lacksOf(free, func(q Quota) Usage { return q.demand(pods, counts) })
}

// lacksOf returns the resources of the quotas that do not suffice, the first one of each quota. asked returns what has to be free of a quota.
func (n Namespace) lacksOf(free room, asked func(Quota) Usage) (lacks []Lack) {
	for i, q := range n.Quotas {
		amounts := asked(q)
		for _, name := range slices.Sorted(maps.Keys(amounts)) {
			if amounts[name] > free[i][name] && q.Hard[name] < maxAmount {
				lacks = append(lacks, Lack{q.Name, name, amounts[name], max(free[i][name], 0), q.Hard[name]})
				break
			}
		}
	}
	return lacks
}

// take removes what the planned Pods of an application need from the room.
func (n Namespace) take(free room, app Application) {
	for i, q := range n.Quotas {
		for name, amount := range q.demand(app.Claim.Pods, app.planned()) {
			free[i][name] -= amount
		}
	}
}

// tooLarge returns the resources of which an application asks for more than the quotas ever have.
func (n Namespace) tooLarge(app Application) []Lack {
	return n.lacks(n.hard(), app.Claim.Pods, app.planned())
}

// ExecutorsLack returns the resources that do not suffice for one more executor, if an application has fewer executors than it plans.
func (n Namespace) ExecutorsLack(app Application) []Lack {
	if missing := app.missing(); len(missing) < 2 || missing[1] == 0 || !app.Driver {
		return nil
	}
	n.Reserved = nil
	free := n.room()
	return n.lacks(free, app.Claim.Pods, []int64{0, 1})
}
