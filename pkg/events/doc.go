// Package events tells the lifecycles of applications and clusters as CloudEvents.
//
//	record --Relay--> CloudEvent --Sink--> broker --Trigger--> handler (another process)
//	                      |
//	                      +------Broker--> handler (this process)
//
// The contract (contract.go, attributes.go, object.go, transition.go, clock.go) says what an event looks like; what is
// published of it is made by package reference. The Relay is the sending half of the outbox: the record
// in an object's status names what happened, and the Relay tells it to the sink, in order and at least
// once. The Broker runs handlers in this process, and package function serves one over HTTP.
package events
