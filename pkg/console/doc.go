// Package console serves the archive to users. Package liveapi adds what runs. A Guard says who asks, what they may read, and which namespace lives.
//
//	guard.go        what the handler must know of users and namespaces
//	handler.go      routes, bounds, and errors
//	applications.go lists of applications, and single ones
//	attempts.go     objects, logs and event logs of attempts
//	events.go       server-sent events
//	openapi.json    the description of the API
//
// What a user may not read, what does not exist and what belonged to an earlier namespace of the same name have the same answer. The rights are
// reviewed before anything is read.
package console
