// Package why answers why an application is where it is: the causes, most likely first, each with what shows it and what to do.
//
//	object, Pods, Kubernetes Events, log -> Facts -> Why -> []Reason
//
//	why.go         facts, reasons and their order
//	causes.go      the causes, by name
//	waits.go       what an application waits for, by its conditions and its record
//	refusals.go    what the API server refused, by its words
//	pods.go        what keeps a Pod from starting
//	scheduling.go  the scheduler's words
//	ended.go       how an attempt ended
//	log.go         what a driver's log says
//	executors.go   what keeps or ends executors
//	conditions.go  clusters and schedules, which their conditions explain
//	memory.go      the memory that an application asks for, and what to ask for instead
//
// What a condition says already is repeated in its words: pkg/diagnosis and pkg/lifecycle have them. For an application of another
// operator, which has no such conditions, the same functions make the same words from its Pods.
package why
