package kubernetes

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/reconciler"
)

// Leaders reports which leases this process holds. client-go's own metric has a name for each process here instead of one for each
// lease, since Knative gives the elections of a process one name.
type Leaders struct{ status *prometheus.GaugeVec }

func newLeaders() Leaders {
	return Leaders{prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "leader_election_master_status",
		Help: "1 while this replica holds the lease, and 0 after it lost it, by name of the lease. Sum it by name.",
	}, []string{"name"})}
}

// Wrap returns a constructor of controllers whose leases are reported.
func (l Leaders) Wrap(construct injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		impl := construct(ctx, watcher)
		aware, ok := impl.Reconciler.(leaderAware)
		if !ok {
			panic(fmt.Sprintf("the controller %s takes part in no election", impl.Name))
		}
		impl.Reconciler = reporting{aware, l}
		return impl
	}
}

// leaderAware is a reconciler that takes part in elections.
type leaderAware interface {
	controller.Reconciler
	reconciler.LeaderAware
}

// reporting reports the leases that a reconciler is given.
type reporting struct {
	leaderAware
	leaders Leaders
}

// Promote begins to lead a bucket.
func (r reporting) Promote(bucket reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
	err := r.leaderAware.Promote(bucket, enqueue)
	if err == nil {
		r.leaders.set(bucket, 1)
	}
	return err
}

// Demote ends it.
func (r reporting) Demote(bucket reconciler.Bucket) {
	r.leaderAware.Demote(bucket)
	r.leaders.set(bucket, 0)
}

// set reports whether a bucket is led. Without an election there is one bucket for everything. It has no lease and no name.
func (l Leaders) set(bucket reconciler.Bucket, value float64) {
	if name := bucket.Name(); name != "" {
		l.status.WithLabelValues(name).Set(value)
	}
}
