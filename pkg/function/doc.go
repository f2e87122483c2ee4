// Package function is for those who write handlers of Firesteel's events: what acts on them, as a service that Triggers
// call.
//
//	broker --Trigger--> Handle --> your function --> API server
//
// A function is a func(context.Context, cloudevents.Event) error, which Handle serves. Package events has the types,
// attributes and data of events. Events come at least once, in any order, and from anybody who can reach the service:
// read the object again (package verify tells whether an event is true of it) and act with a precondition or under a
// name that follows from the event. Then a duplicate, late or forged event does nothing.
//
// The handlers that come with Firesteel are served by this package, too.
package function
