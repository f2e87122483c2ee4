// Package cluster is the state machine of a standalone Spark cluster.
//
// It is pure, like that of applications. Input: the record of what happened, the policy from the spec, the
// observation,
// and the time. Output: the next record, one effect, how often to poll the master, and the instant of the next
// reconcile.
//
//	(record, policy, observation, now) --Decide--> (record', effect, poll interval, requeue time, readiness)
//
// The caller persists the record before it carries out the effect. Then it observes the result and calls Decide
// again.
//
//	state.go, steps.go         the states, and which may follow which
//	policy.go, observation.go  the input: what the spec asks for; what is seen of Pods and master. The output: the decision and its effect
//	decide.go                  Decide
//	health.go                  whether the master answers, and has its workers
package cluster
