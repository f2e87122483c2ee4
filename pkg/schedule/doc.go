// Package schedule decides when the runs of a schedule are due and which were missed. It is pure: time is an
// argument, and nothing here talks to a server.
//
// The instants of a schedule follow from its text, its zone and, for @every, from when the record began to count. An
// instant up to the record's settledUntil is settled: its run was started or missed. Of the later instants up to now,
// only the latest is due; the others are missed.
package schedule

// Handler is the name of the handler that is asked to start what is due.
const Handler = "schedule"
