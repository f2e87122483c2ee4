// Package base is what the controllers of all kinds are made of: the gate before the generated reconciler, the settings and
// namespaces that the controllers of a process share, leadership, retries, informers and redaction.
//
//	work queue ──> Gate ──> generated reconciler ──> Reconciler of the kind
//	                │ served? led? traced, retried      │
//	                                                    ├─ writecache: the newest version of an object that this process knows
//	                                                    ├─ edits: edits that change nothing that runs
//	                                                    ├─ blocked: why nothing is done for an object
//	                                                    └─ delivery: publish, and write what the sink took
//
//	gate.go                which objects are reconciled by this replica, and by which reconciler
//	leadership.go          whether this replica leads an object
//	process.go             what the controllers of a process share: settings, scope, relay, and how they stop
//	namespaces.go          the labels of namespaces, for the scope
//	informers.go           handlers and caches of informers
//	retries.go             the back-off after errors
//	burst.go               other work yields while many new objects wait for their first launch
//	finalizer_removals.go  objects whose finalizer this process removed, although a stale cache still has it
//	log.go                 the log lines about decisions, transitions and requeue times
//	quiet.go               hides Knative's log line at the end of each reconcile
//	kubernetes_events.go   how Kubernetes Events are written: without secrets, and after the launches of a burst
//	redactors.go           removes secret values from causes, texts and errors
package base
