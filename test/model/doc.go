// Package model plays the whole controller, with applications of all APIs, against a model of the API server, in
// simulated time.
//
//	users, kubelet ──► server (revisions, conflicts, finalizers, garbage collection)
//	                     ▲ requests that fail, or whose answers are lost
//	                     │ watches that lag, each by itself, and are cut
//	                  replicas: the real reconciler, relay and handlers, two at once, that share the applications by
//	                     │      leases, are killed between any two writes, replaced, and paused
//	                     │
//	                     ▼
//	                  sink that fails, and takes events without saying so
//
// Each seed is another story. FIRESTEEL_SEED plays one again with the same users, nodes and faults, but not the same in every
// step: goroutines that wake at the same instant run in any order, select and maps choose at random, and so does the jitter of
// leases and retries. A failed story logs all writes. FIRESTEEL_STORIES=1000 plays more than the few of the usual run. What
// must hold is checked as it happens ([server] knows of every write) and at the end:
//
//   - every transition that was ever persisted reaches the sink, for the first time in the order of its sequence and
//     without gaps, and the same id always has the same bytes;
//   - no application ever has two live drivers, whichever replica is late;
//   - no driver outlives the release of its application's resources, or its application, unless it was left terminating;
//   - clients of the Kubeflow operator see only what that operator shows, in its order (package invariants/clientview);
//   - every application ends, and what was deleted leaves nothing behind.
//
// Users take labels off drivers, so that watches show them no more, and put them back. Some nodes are lost for a while, and some for ever: a
// driver there is deleted by force, if its application sets a limit, also if the next one with its name needs the name of its Pod.
//
// Another controller holds drivers by a finalizer for a while. Removals of Pods are interrupted after their grace period was set to zero.
//
// In every second story, the drivers of two APIs have a sidecar for their event logs, which holds some of them up.
package model
