// Package see has the verbs that only read: list, get, why, events, logs, ui, top and usage. They read with the user's rights and need nothing of
// Firesteel in the cluster but the kinds. Applications that another operator runs are shown as well.
//
//	commands.go  the verbs
//	cluster.go   the clients, and what is read of one application
//	list.go      all kinds in one table; columns.go prints it, list_follow.go goes on with changes, list_ended.go lists what the archive has
//	get.go       one object on one screen
//	why.go       what pkg/diagnosis/why answers
//	events.go    transitions and Kubernetes Events in one stream; events_one.go of one object, events_all.go of all of a namespace
//	logs.go      logs of driver and executors; logs_follow.go goes on over lost connections, follow.go waits for the next driver
//	archived.go  what get, why and logs show of applications that are gone, from the archive
//	ui.go        a port of this machine for the driver's UI
//	top.go       CPU and memory, if the cluster has metrics
//	usage.go     what applications used, summed up
package see
