// Package events publishes the lifecycles of applications, clusters and schedules as CloudEvents.
//
//	record --Relay--> CloudEvent --Sink--> broker --Trigger--> handler (another process)
//	                      |
//	                      +------Broker--> handler (this process)
//
// The contract says what an event looks like: contract.go, attributes.go, object.go, transition.go and clock.go. Package
// reference generates the published documents from it.
//
// The Relay is the sending half of the outbox. The record in an object's status holds the transitions. The Relay sends each
// of them to the sink, in order and at least once. The Broker calls handlers in this process. Package function serves a
// handler over HTTP.
package events
