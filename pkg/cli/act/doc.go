// Package act has the verbs that change what exists: suspend, resume, stop, rerun, delete, wait, and those of schedules, clusters
// and namespaces. What the actions do is in pkg/actions. They write with the user's rights, and only to the object that was read: each write
// carries its uid.
//
//	commands.go   the verbs, how an object is found, and how an action on it is carried out
//	suspend.go    the field suspend of each kind
//	stop.go       the annotation that stops an application
//	rerun.go      a new object from an old one, rerun_archived.go from the archive
//	delete.go     deletes an object, and waits until it is gone
//	wait.go       waits for a condition, a state, the end or the deletion
//	tables.go     lists of one kind of objects
//	schedule.go   schedules: list, the next instants, a run now
//	cluster.go    clusters: list, scale, the master's page
//	namespace.go  what a namespace needs for drivers
package act
