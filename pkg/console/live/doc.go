// Package live holds what runs: a row for each object of every kind that Firesteel serves, kept up to date by watches, and no copies for each
// viewer. It speaks no HTTP and knows no users: what a user may see is a Visible, which package visible makes.
//
//	types.go       what readers get: rows, details, changes
//	live.go        New, Run, and the namespaces that are watched
//	watches.go     one informer for each kind, and for Pods; in listed namespaces one for each of them
//	object.go      object -> pkg/overview -> Row and what Details needs, compressed
//	pods.go        Pods of drivers, executors, masters and workers -> counts in the rows
//	store.go       rows by namespace and kind; what changed, in order
//	filter.go      which rows a query selects, as the parameters of an address
//	query.go       pages of rows
//	overview.go    counts, running over time, failures by cause, the last transitions
//	shared.go      viewers who see the same share pages and overviews until the next change
//	details.go     one application
//	past.go        one application that is gone, from what is left of it
//	schedules.go   one schedule, and the calendar
//	clusters.go    one cluster
//	cost.go        what usage costs
//	changes.go     what changed since a cursor: one shared and bounded log for all viewers
//	driver_ui.go   where the driver of an application serves Spark's UI
//	freshness.go   since when the API server does not answer
//
// Rows are immutable: a change makes a new one. So readers need no copies.
package live
