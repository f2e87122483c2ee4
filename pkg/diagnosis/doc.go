// Package diagnosis explains why an object is in its state, and what to do about it. The texts of conditions and of Kubernetes Events about
// objects are made here. So the command line and other tools explain the same thing in the same words.
//
//	record, policy, facts -> Explanation -> condition, Event, Cause of a wait
//
//	explanation.go                          an explanation, and what is made of it: a condition, a Cause, a message
//	application.go, progress.go, events.go  conditions of applications
//	blocked.go, names.go                    why nothing is done for an object, or not yet
//	waits.go                                what an application waits for in each state
//	quota.go                                which quota has no room for an application
//	archive.go                              how much of an attempt is archived
//	deletion.go                             what the deletion of a driver Pod did, or left
//	user_drivers.go                         drivers that the user starts
//	operators.go                            other operators in the cluster, and their webhooks
//	cluster.go, schedule.go                 conditions of clusters and schedules
//	warnings.go                             refusals and warnings of all kinds
//
// Three texts are made elsewhere, and this package repeats them:
//
//   - The message of a transition: the state machine that makes the transition has it (pkg/lifecycle, pkg/cluster). A transition may be sent
//     again, with the same bytes, by another version of Firesteel. So its message is made once and stored.
//   - What keeps a Pod from starting: driver_waiting.go of pkg/lifecycle.
//   - The refusal of a create: ensure.go of the reconciler makes it from the API server's text.
package diagnosis
