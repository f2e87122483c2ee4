// Package lifecycle is the state machine of an application, for all APIs.
//
// It is pure. Input: the record of what happened, the policy from the spec, the observation, and the time.
// Output: the next record, one effect, and the instant of the next reconcile. Nothing here talks to a server.
//
//	(record, policy, observation, now) --Decide--> (record', effect, requeue time, awaited handler)
//
// The caller persists the record before it carries out the effect. Then it observes the result and calls Decide
// again.
package lifecycle
