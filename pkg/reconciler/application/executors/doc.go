// Package executors follows the executor Pods of applications. It counts the ready ones, and holds the details that a status
// shows, the times and requests of those that no record has counted, and those that have ended and still exist.
//
//	informer.go  watches executor Pods
//	pod.go       an executor Pod as the cache stores it; whose it is, and whether it is ready
//	counter.go   counts executors that exist and that are ready
//	details.go   collects the changes of single executors, for the API whose status names each
//	finished.go  executors that have ended and whose Pods still exist
//	usage.go     times and requests of executors that no record has counted yet
package executors
