package application

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/executors"
)

// lister reads the applications of an API from the cache.
type lister struct{ cache.Indexer }

const (
	// byDriver is the index of applications by the UID of their driver Pod.
	byDriver = "driver"
	// byApplicationID is the index of applications that have a driver Pod, by their namespace and the Pod's spark.app.id.
	byApplicationID = "applicationID"
	// byCounted is the index of applications by their namespace and the spark.app.id of each attempt whose Pods are counted.
	byCounted = "counted"
	// byUserKey is the index of applications by the key of the drivers that their users start.
	byUserKey = "userKey"
)

// applicationIndexers find the application of a Pod by its record: the Pod's own labels and owners may be changed. A driver that a user
// started is in no record at first.
func applicationIndexers(api *dialect.API) cache.Indexers {
	return cache.Indexers{
		byDriver: indexLaunch(func(app dialect.Application) string { return string(app.GetRecord().Launch.DriverUID) }),
		byApplicationID: indexLaunch(func(app dialect.Application) string {
			return executors.ApplicationID{Namespace: app.GetNamespace(), ID: app.GetRecord().Launch.ApplicationID}.String()
		}),
		byCounted: func(object any) ([]string, error) {
			app, ok := object.(dialect.Application)
			if !ok {
				return nil, nil
			}
			return countedIDs(app), nil
		},
		byUserKey: func(object any) ([]string, error) {
			app, ok := object.(dialect.Application)
			if !ok || api.UserDriverLabel == "" {
				return nil, nil
			}
			return []string{drivers.UserKey(app.GetNamespace(), api.UserDriverID(app))}, nil
		},
	}
}

// countedIDs returns the keys of the attempts whose Pods are counted.
func countedIDs(app dialect.Application) (keys []string) {
	record := app.GetRecord()
	if record == nil {
		return nil
	}
	ids := map[string]bool{}
	if drivers.HasDriver(record) {
		ids[record.Launch.ApplicationID] = true
	}
	if record.Usage != nil {
		for _, attempt := range record.Usage.Attempts {
			ids[attempt.ApplicationID] = true
		}
	}
	for id := range ids {
		keys = append(keys, executors.ApplicationID{Namespace: app.GetNamespace(), ID: id}.String())
	}
	return keys
}

// indexLaunch indexes the applications that have a driver Pod.
func indexLaunch(value func(app dialect.Application) string) cache.IndexFunc {
	return func(object any) ([]string, error) {
		app, ok := object.(dialect.Application)
		if !ok || !drivers.HasDriver(app.GetRecord()) {
			return nil, nil
		}
		return []string{value(app)}, nil
	}
}

// get returns an application, and whether there is one with that name. The caller must not change it.
func (s lister) get(name types.NamespacedName) (dialect.Application, bool) {
	object, known, err := s.GetByKey(name.String())
	if err != nil || !known {
		return nil, false
	}
	app, ok := object.(dialect.Application)
	return app, ok
}

// byDriverUID returns the name of the application whose driver Pod has a UID, if there is one.
func (s lister) byDriverUID(pod types.UID) (types.NamespacedName, bool) {
	for _, app := range s.by(byDriver, string(pod)) {
		return app, true
	}
	return types.NamespacedName{}, false
}

// ofDriver returns the names of the applications that a driver Pod concerns.
func (s lister) ofDriver(api *dialect.API, pod *drivers.Pod) []types.NamespacedName {
	if app, recorded := s.byDriverUID(pod.UID); recorded {
		return []types.NamespacedName{app}
	}
	if key, ofUser := pod.UserKey(api); ofUser {
		if apps := s.by(byUserKey, key); len(apps) > 0 {
			return apps
		}
	}
	if app, known := applicationOf(api, pod); known {
		return []types.NamespacedName{app}
	}
	return nil
}

func (s lister) by(index, value string) (names []types.NamespacedName) {
	found, err := s.ByIndex(index, value)
	if err != nil {
		return nil // the index exists
	}
	for _, object := range found {
		names = append(names, kube.KeyOf(object.(dialect.Application)))
	}
	return names
}

// executorApplications finds the applications of executors.
type executorApplications struct {
	lister
	currentDialect dialectOf
}

// OfExecutor returns the names of the applications that an executor may belong to.
func (a executorApplications) OfExecutor(pod *executors.Pod) []types.NamespacedName {
	return a.by(byApplicationID, pod.Application().String())
}

// CountsUsage reports whether an application counts what an executor uses.
func (a executorApplications) CountsUsage(pod *executors.Pod) bool {
	return len(a.by(byCounted, pod.Application().String())) > 0
}

// WritesUsage reports whether the record of an application that counts an executor is written again.
func (a executorApplications) WritesUsage(pod *executors.Pod) bool {
	return slices.ContainsFunc(a.by(byCounted, pod.Application().String()), func(name types.NamespacedName) bool {
		app, ok := a.get(name)
		return ok && !isOver(app)
	})
}

// isOver reports whether the record of an application is not written any more, unless its user edits it.
func isOver(app dialect.Application) bool {
	record := app.GetRecord()
	return lifecycle.CurrentState(record) == lifecycle.ResourceReleased && record.Acknowledged >= record.Sequence
}

// CountsExecutors reports whether an application asks for a number of executors and is in a state in which that matters. If
// the cache is stale, the next event enqueues the application anyway.
func (a executorApplications) CountsExecutors(name types.NamespacedName) bool {
	app, ok := a.get(name)
	return ok && lifecycle.CountsExecutors(lifecycle.CurrentState(app.GetRecord()), a.currentDialect(app.GetNamespace()).Policy(app))
}
