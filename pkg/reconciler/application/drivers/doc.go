// Package drivers follows the driver Pods of applications: those in the informer's cache, and those that the informer does
// not show yet or any more. It reads their logs. It is the only package that deletes them.
//
//	pod.go           a driver Pod as the cache stores it
//	expectations.go  what this process did to driver Pods that the cache does not show yet
//	relabelled.go    driver Pods that the informer does not show any more, since another writer changed their labels
//	orphans.go       driver Pods that no launch of the record names
//	deletion.go      deletes driver Pods, and lists the reasons for it
//	logs.go          the last lines of logs
package drivers
