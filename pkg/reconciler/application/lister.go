package application

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// lister holds the applications of an API as the cache has them.
type lister struct{ cache.Indexer }

const (
	// byDriver is the index of applications by the uid of the driver Pod that they have.
	byDriver = "driver"
	// byApplicationID is the index of applications that have a driver Pod by their namespace and its spark.app.id.
	byApplicationID = "applicationID"
)

// applicationIndexers find the application of a Pod by its record: the Pod's own labels and owners may be changed.
var applicationIndexers = cache.Indexers{
	byDriver: indexLaunch(func(app dialect.Application) string { return string(app.GetRecord().Launch.DriverUID) }),
	byApplicationID: indexLaunch(func(app dialect.Application) string {
		return applicationID{app.GetNamespace(), app.GetRecord().Launch.ApplicationID}.String()
	}),
}

// indexLaunch indexes the applications that have a driver Pod.
func indexLaunch(value func(app dialect.Application) string) cache.IndexFunc {
	return func(object any) ([]string, error) {
		app, ok := object.(dialect.Application)
		if !ok || !hasDriver(app.GetRecord()) {
			return nil, nil
		}
		return []string{value(app)}, nil
	}
}

// get returns an application, and whether there is one of that name. It is not to be changed.
func (s lister) get(name types.NamespacedName) (dialect.Application, bool) {
	object, known, err := s.GetByKey(name.String())
	if err != nil || !known {
		return nil, false
	}
	app, ok := object.(dialect.Application)
	return app, ok
}

// byDriverUID names the application whose driver Pod has a uid, if there is one.
func (s lister) byDriverUID(pod types.UID) (types.NamespacedName, bool) {
	for _, app := range s.by(byDriver, string(pod)) {
		return app, true
	}
	return types.NamespacedName{}, false
}

// byExecutor names the applications that an executor may belong to.
func (s lister) byExecutor(pod *executorPod) []types.NamespacedName {
	return s.by(byApplicationID, pod.application().String())
}

func (s lister) by(index, value string) (names []types.NamespacedName) {
	found, err := s.ByIndex(index, value)
	if err != nil {
		return nil // there is such an index
	}
	for _, object := range found {
		names = append(names, keyOf(object.(dialect.Application)))
	}
	return names
}
