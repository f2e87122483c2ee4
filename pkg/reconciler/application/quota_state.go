package application

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/executors"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/quotas"
)

// quotaState returns what the tracker of quotas needs to know of an application. inScope reports whether an application is in the scope.
func quotaState(app dialect.Application, currentDialect dialectOf, inScope func(dialect.Application) bool) quotas.State {
	record := app.GetRecord()
	state := quotas.State{Object: app, Record: record}
	if record == nil || record.Quota == nil {
		return state
	}
	current := lifecycle.CurrentState(record)
	state.Active = current.Initializing() || current.Starting() || current.Running() || current == lifecycle.Unknown
	if !inScope(app) || app.GetUndecodable() != "" { // then it is not launched, and must not keep others waiting
		state.Active = state.Active && drivers.HasDriver(record)
		return state
	}
	policy := currentDialect(app.GetNamespace()).Policy(app)
	state.Waits = current.Initializing() && app.GetDeletionTimestamp() == nil && !policy.Suspend && policy.Stop == nil
	return state
}

// podsOf returns a function that returns which Pods of a launch exist, by the caches.
func podsOf(cached drivers.Cache, counter *executors.Counter) func(app types.NamespacedName, launch v1alpha1.Launch) quotas.Pods {
	return func(app types.NamespacedName, launch v1alpha1.Launch) quotas.Pods {
		driver := cached.Get(app.Namespace, launch.DriverPod)
		switch {
		case launch.Released:
			return quotas.Pods{Over: true}
		case driver == nil, driver.UID != launch.DriverUID && driver.Labels[dialect.LabelLaunch] != launch.ID:
			return quotas.Pods{}
		}
		launch.DriverUID = driver.UID
		ended := lifecycle.PodEnded(driver)
		return quotas.Pods{
			Driver: !ended, Over: ended || driver.DeletionTimestamp != nil,
			Executors: int64(counter.CountLive(app.Namespace, &launch, driver)),
		}
	}
}

// executorsRefused returns which quota refuses executors of an application; nil if none is known to.
func (r *Reconciler) executorsRefused(app dialect.Application) *lifecycle.Cause {
	lacks := r.quotas.ExecutorsLack(app)
	if len(lacks) == 0 {
		return nil
	}
	return diagnosis.ExecutorsExceedQuota(app.GetNamespace(), lacks).Cause(lifecycle.ClassScheduling)
}
