// Package cluster is the state machine of a standalone Spark cluster.
//
// It is pure, as that of applications is: the record of what happened, the policy that the spec sets, what is observed
// and the time go in; the next record, one effect, how often to ask the master, and the instant at which to look again
// come out.
//
//	(record, policy, observation, now) --Decide--> (record', effect, ask, look again, readiness)
//
// The caller persists the record before it carries out the effect, observes what came of it, and asks again.
package cluster
