// Package events publishes the lifecycles of applications, clusters and schedules as CloudEvents.
//
//	record --Relay--> CloudEvent --Sink--> broker --Trigger--> handler (another process)
//	                      |
//	                      +------Broker--> handler (this process)
//
//	contract.go, attributes.go  the contract: types of events and their attributes. Package reference generates the published documents
//	object.go                   the object that an event is about
//	transition.go, clock.go     the event of a transition; the event of an instant
//	relay.go, stream.go         the Relay: what it is given; the transitions of one object that wait
//	sender.go, request.go       sends them in order; sends again what awaits a handler
//	sink.go, binding.go         an endpoint of CloudEvents, and which of its answers are final; K_SINK
//	broker.go, handler.go       calls handlers in this process; the type of a handler
//	clip.go                     shortens an event that is too large
//	instruments.go, trace.go    metrics and traces
//
// The Relay is the sending half of the outbox. The record in an object's status holds the transitions. The Relay sends each
// of them to the sink, in order and at least once. The Broker calls handlers in this process. Package function serves a
// handler over HTTP.
package events
