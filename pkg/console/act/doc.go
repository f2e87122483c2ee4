// Package act lets users act from the console's pages: what an action will do, and the action itself.
//
//	act.go      the actions on an object for which a user has the right
//	offer.go    what an action will do, for the page on which the user confirms it
//	handler.go  takes the form of that page, and does it
//	errors.go   the API server's errors for people
//
// What the actions do is in pkg/actions: the command line does the same. Each request carries the user's own token, so that the API server decides,
// and its audit log has the user. What the user has confirmed is what is done: if the object has changed so that the action would do something
// else, the user is asked again. Nothing is done while the setting does not allow it.
package act
