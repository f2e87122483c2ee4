// Package diagnosis explains why an object is where it is, and what to do about it. The texts of conditions and of the Kubernetes
// Events about objects come from here, so that whatever else explains the same says it in the same words.
//
//	record, policy, facts -> Explanation -> condition, Event, Cause of a wait
//
//	explanation.go                          an explanation, and what is made of it: a condition, a Cause, a message
//	application.go, progress.go, events.go  conditions of applications
//	blocked.go, names.go                    why nothing is done for an object, or not yet
//	quota.go                                which quota has no room for an application
//	deletion.go                             what the deletion of a driver Pod did, or left
//	user_drivers.go                         drivers that the user starts
//	operators.go                            other operators in the cluster, and their webhooks
//	cluster.go, schedule.go                 conditions of clusters and schedules
//	warnings.go                             refusals and warnings of all kinds
//
// What a transition holds is worded by the state machine that makes the transition: pkg/lifecycle and pkg/cluster.
// A record is sent as an event more than once, with the same bytes, maybe by another version of Firesteel. So its text is made once,
// with the facts of that moment, and stored. This package repeats such a text and adds what it knows besides. What keeps a Pod from
// starting is such a text, too: driver_waiting.go of pkg/lifecycle has it. The refusal of a create is worded where it is caught, in ensure.go of
// the reconciler, from the API server's own text.
package diagnosis
