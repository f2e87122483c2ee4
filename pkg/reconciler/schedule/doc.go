// Package schedule reconciles the schedules of both kinds. When a run is due, it asks the handler to start it, and
// repeats the request until the schedule shows the run. It writes the state of the schedule and its runs to the
// status. pkg/schedule decides which runs are due, missed and retained.
//
// While nothing is due it makes no request to the API server.
//
//	controller.go                 the wiring of both kinds: informers, the gate, what is watched
//	reconciler.go                 a reconcile: count runs, decide, write the status, ask the handler
//	keep_runs.go                  keeps the finalizer of a run until its schedule has recorded it
//	blocked.go                    a schedule for which nothing is done
//	published.go                  of which schedules the relay has a snapshot
//	log.go, kubernetes_events.go  what is reported
package schedule
