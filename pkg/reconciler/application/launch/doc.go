// Package launch creates the driver of an attempt, and the objects around it.
//
//	launcher.go       the Launcher and what it remembers
//	launch.go         Prepare: builds the objects and computes the launch ID; Create: creates the objects
//	ensure.go         creates one object, or finds out what has its name
//	name_waits.go     waits for a name without asking for it again and again
//	pod_templates.go  puts templates into the plan that are named by a URL
//	keep_executors.go keeps the Pods of executors that ended, for their logs
//	event_logs.go     whether a launch was refused for the driver's sidecar for event logs
//	reservation.go    with the setting quota: waits for room in the quotas, and reserves it
//	fence.go          the annotation that fences a first launch; how late a launch may create
//	user_driver.go    finds the driver that a user started, in place of a launch
//	ui_address.go     where the UI of a launch is reached
//	obsolete.go       deletes what an ended attempt does not need any more
package launch
