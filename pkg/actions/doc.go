// Package actions has what users do to objects: what it will do, in words, and the requests. The command line and the console share it. All
// requests are made with the clients of the caller, so that the API server decides by the user's own rights.
//
//	kinds.go     the kinds of objects, and how one is read in the version that the API server has
//	actions.go   Plan: an action on one object, as it was read
//	suspend.go   the field suspend of each kind, and what it does there
//	stop.go      the annotation that stops an application
//	delete.go    the deletion of an object
//	rerun.go     a new object from an old one; changes.go changes its spec, by the types of the API
//	run.go       a run of a schedule, now
//	scale.go     the number of a cluster's workers
//	write.go     the requests: they change only the object that was read
//	create.go    creates an object, and finds out whether it did if the answer is lost
package actions
