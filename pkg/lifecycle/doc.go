// Package lifecycle is the state machine of an application, for all APIs.
//
// It is pure. Input: the record of what happened, the policy from the spec, the observation, and the time.
// Output: the next record, one effect, and the instant of the next reconcile. Nothing here talks to a server.
//
//	(record, policy, observation, now) --Decide--> (record', effect, requeue time, awaited handler)
//
// The caller persists the record before it carries out the effect. Then it observes the result and calls Decide
// again.
//
// What a transition holds is worded here: it is made once, with the facts of that moment, and sent as an event with the same bytes by
// any version. What is computed from a record each time is worded in pkg/diagnosis, which imports this package.
package lifecycle
