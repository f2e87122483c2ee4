// Package model plays the whole controller, with applications of both APIs, against a model of the API server, in
// simulated time.
//
//	users, kubelet ──► server (revisions, conflicts, finalizers, garbage collection)
//	                     ▲ requests that fail, or whose answers are lost
//	                     │ watches that lag, each by itself, and are cut
//	                  replicas: the real reconciler, relay and handlers, two at once, killed between any two writes
//	                     │
//	                     ▼
//	                  sink that fails, and takes events without saying so
//
// Each seed is another story. FIRESTEEL_SEED plays one again, up to the order in which the runtime runs goroutines that
// wake at the same instant; FIRESTEEL_STORIES=1000 plays more than the few of the usual run. What must hold is checked as it happens ([server] knows
// of every write) and at the end:
//
//   - every transition that was ever persisted reaches the sink, for the first time in the order of its sequence and
//     without gaps, and the same id always has the same bytes;
//   - no application ever has two live drivers;
//   - clients of the Kubeflow operator see only what that operator shows, in its order (package invariants/clientview);
//   - every application ends, and what was deleted leaves nothing behind.
package model
