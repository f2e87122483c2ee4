// Package diagnosis explains why an object is where it is, and what to do about it. The texts of conditions and of the Kubernetes
// Events about objects that wait come from here, so that whatever else explains the same says it in the same words.
//
//	record, policy, facts -> Explanation -> condition, Event, Cause of a wait
//
//	explanation.go                          an explanation, and what is made of it: a condition, a Cause, a message
//	application.go, progress.go, events.go  conditions of applications
//	blocked.go, names.go                    why nothing is done for an object, or not yet
//	quota.go                                which quota has no room for an application
//	user_drivers.go                         drivers that the user starts
//	operators.go                            other operators in the cluster, and their webhooks
//	cluster.go, schedule.go, warnings.go    conditions of clusters and schedules; warnings of all kinds
//
// What a transition holds is worded by the state machine that makes the transition: pkg/lifecycle and pkg/cluster.
// A record is sent as an event more than once, with the same bytes, maybe by another version of Firesteel. So its text is made once,
// with the facts of that moment, and stored. This package repeats such a text and adds what it knows besides.
package diagnosis
