// Package function helps to write handlers of Firesteel's events: services that Knative Triggers call.
//
//	broker --Trigger--> Handle --> your function --> API server
//
// A function is a func(context.Context, cloudevents.Event) error. Handle serves it. Package events has the types, attributes and
// data of events.
//
// Events arrive at least once, in any order, and from anyone who can reach the service. So a handler should read the object
// again. Package verify checks whether an event is true. Then the handler should act with a precondition, or create an object
// whose name is made from the event. With that, a duplicate, late or forged event does nothing.
//
// Firesteel's own handlers are served by this package, too.
package function
