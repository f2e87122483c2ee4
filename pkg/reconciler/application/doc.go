// Package application reconciles the applications of any API. It reads from informers, lets pkg/lifecycle and pkg/submission
// compute the next step, and performs it.
//
//	controller.go, gate.go      the wiring: informers, the gate, what is watched
//	application.go              a reconcile: observe, decide, persist, act; also of a deleted application
//	observe.go                  what is known of the driver and of executors
//	status.go, record_guard.go  the status write; what happens if the API server or another writer drops the record
//	release.go, orphans.go      deletes the driver of the record, and drivers of no attempt
//	finalizer.go                when an application has the finalizer, and which one needs none
//	adopt.go, blocked.go        an application without a usable record; one that cannot be reconciled
//	backpressure.go             which applications yield to others
//	deadlines.go                when an application is requeued
//	log.go, kubernetes_events.go, redact.go  what is reported, without secret values
package application
