package application

import (
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
)

// viewIn is the view of an application in a dialect, before any delivery.
func viewIn(d dialect.Dialect, app dialect.Application) *view {
	return &view{app: app, dialect: d, policy: d.Policy(app)}
}

// viewed is the view of an Apache application with default settings.
func viewed(app dialect.Application) *view { return viewIn(apache.New(apache.Defaults{}), app) }
