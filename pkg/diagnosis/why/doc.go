// Package why explains why an application is in its state: the causes, most likely first, each with its evidence and its remedy.
//
//	object, Pods, Kubernetes Events, log -> Facts -> Why -> []Reason
//
//	why.go         facts, reasons and their order
//	causes.go      the causes, by name
//	waits.go       what an application waits for, by its conditions and its record
//	refusals.go    what the API server refused, by its message
//	pods.go        what keeps a Pod from starting
//	scheduling.go  what keeps a Pod from a node, by the scheduler's message
//	ended.go       how an attempt ended
//	log.go         the causes that a driver's log shows
//	executors.go   what keeps or ends executors
//	conditions.go  clusters and schedules, which their conditions explain
//	memory.go      the memory that an application asks for, and what to ask for instead
//
// If a condition has a text, it is repeated: pkg/diagnosis and pkg/lifecycle make these texts. An application of another operator has no such
// conditions: then the same functions make the same texts from its Pods.
package why
