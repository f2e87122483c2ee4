// Package application reconciles the applications of any API. It reads from informers, lets pkg/lifecycle and pkg/submission
// compute the next step, and performs it.
//
//	controller.go, gate.go                   the wiring: informers, the gate, what is watched
//	lister.go                                finds applications by their driver
//	application.go                           a reconcile: observe, decide, persist, act; also of a deleted application
//	observe.go, pod_event_times.go           what is known of the driver and of executors; how late a change of a Pod is seen
//	status.go, record_guard.go               the status write; what happens if the API server or another writer drops the record
//	usage.go                                 counts what the Pods used, with a status write that there is anyway
//	quota_state.go                           what an application asks of the quotas of its namespace
//	release.go, orphans.go                   deletes the driver of the record, and drivers of no attempt
//	finished_executors.go                    deletes the oldest executors that ended, of those that stay for the archive
//	finalizer.go                             when an application has the finalizer, and which one needs none
//	adopt.go, blocked.go                     an application without a usable record; one that cannot be reconciled
//	backpressure.go                          which applications yield to others
//	new_applications.go                      applications without a stored status, whose first reconcile comes first in a burst
//	deadlines.go                             when an application is requeued
//	log.go, kubernetes_events.go, redact.go  what is reported, without secret values
package application
