// Package view holds the input of one reconcile.
package view

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// Application is the input of one reconcile. It is computed once and passed to each step.
type Application struct {
	// App is the application as it was read or, after a status write, as the API server stored it.
	App     dialect.Application
	Dialect dialect.Dialect
	// Policy is what the spec asks for. Its texts are redacted.
	Policy lifecycle.Policy
	// UserDriver describes the driver that the user starts; nil if Firesteel starts it.
	UserDriver *dialect.UserDriver
	// KeepExecutors reports whether the Pods of executors that ended stay until the driver is released, so that their logs can be archived.
	KeepExecutors bool
	// Progress is how far the sink and the handlers were when the reconcile began. A change of it enqueues the application.
	Progress events.Progress
}

// Record returns a copy of the stored record with the progress of the delivery; nil if there is no record.
func (v *Application) Record() *v1alpha1.Record {
	if v.App.GetRecord() == nil {
		return nil
	}
	return delivery.CatchUp(v.App.GetRecord(), v.Progress)
}

// HasUsableRecord reports whether the application has a record that the lifecycle can continue from. For a deleted
// application, a record of a known format is enough to stop the driver.
func (v *Application) HasUsableRecord() bool {
	record := v.App.GetRecord()
	if record == nil || record.HasNewerFormat() {
		return false
	}
	return v.Deleted() || v.App.GetUndecodable() == "" && lifecycle.Understands(record, v.Policy)
}

// Deleted reports whether the deletion of the application was requested.
func (v *Application) Deleted() bool { return v.App.GetDeletionTimestamp() != nil }

// WithStatus returns the application with the status that is projected from a record.
func (v *Application) WithStatus(record *v1alpha1.Record, facts dialect.Facts) dialect.Application {
	desired := dialect.Copy(v.App)
	v.Dialect.Project(desired, record, facts)
	return desired
}

// LogKeys returns the attempt and the state of the stored record as keys and values of a log line.
func (v *Application) LogKeys() []any { return base.LogKeys(v.App.GetRecord()) }
