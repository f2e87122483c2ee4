package application

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// shelf holds the applications of an API as the cache has them.
type shelf struct{ cache.Store }

// get returns an application, and whether there is one of that name. It is not to be changed.
func (s shelf) get(name types.NamespacedName) (dialect.Application, bool) {
	object, known, err := s.GetByKey(name.String())
	if err != nil || !known {
		return nil, false
	}
	app, is := object.(dialect.Application)
	return app, is
}
