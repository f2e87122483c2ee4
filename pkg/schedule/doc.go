// Package schedule decides when the runs of a schedule are due and which were missed. It is pure: time is an
// argument, and nothing here talks to a server.
//
// The instants of a schedule follow from its text, its zone and, for @every, from when the record began to count. An
// instant up to the record's settledUntil is settled: its run was started or missed. Of the later instants up to now,
// only the latest is due; the others are missed.
//
//	decide.go               Decide: which instants are due, missed or held
//	begin.go                from when a new or an edited schedule counts
//	clock.go, wallclock.go  the instants of a cron expression or of @every; what summer time changes
//	policy.go               spec to policy, and why a spec is refused
//	runs.go                 counts runs: active, retained, surplus
//	record.go               what the record has of runs and instants
//	proven.go               drops instants of runs that a user may have forged
//	names.go                the names and labels of runs
//	status.go               record to status and conditions
//	unknown.go              bounds the fields of a record that this version does not know
package schedule

// Handler is the name of the handler that is asked to start what is due.
const Handler = "schedule"
