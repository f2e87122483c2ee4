// Package schedule decides when a schedule's runs are due, and what became of those that were. It is pure: time is an
// argument, and nothing here talks to a server.
//
// The instants of a schedule follow from its text, its zone and, for @every, from when the record began to count. Each
// instant up to the record's settledUntil is settled: its run was started, or it was missed. Of those since, up to now,
// only the latest is due; those before it are missed.
package schedule

// Handler is the name of the handler that is asked to start what is due.
const Handler = "schedule"
