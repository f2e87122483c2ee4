// Package usage computes what the Pods of an application used: what they requested, for the time from their scheduling to the end of
// their containers. It is pure.
//
//	pod.go      a Pod to its times and its requests
//	amounts.go  adds, subtracts and bounds amounts
//	ids.go      sets of executor IDs, as ranges
//	count.go    counts the Pods of an attempt
//	close.go    closes the gap of an attempt of which all executors are known
//	record.go   the usage of an application: its attempts, and their sum
//
// A record holds no list of Pods. It holds the sum of the Pods that have ended with the IDs of their executors, and the sum of those that
// ran until the instant of the write, with their IDs. A later count, also by another process, replaces the second sum by what the Pods
// themselves say of their times. What is left of it belonged to Pods that are gone: it is added to the first sum, and the time for which no
// controller watched is a gap.
package usage
