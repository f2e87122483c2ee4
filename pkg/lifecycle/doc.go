// Package lifecycle is the state machine of an application, for all APIs.
//
// It is pure. Input: the record of what happened, the policy from the spec, the observation, and the time.
// Output: the next record, one effect, and the instant of the next reconcile. Nothing here talks to a server.
//
//	(record, policy, observation, now) --Decide--> (record', effect, requeue time, awaited handler)
//
//	state.go, steps.go           the states; which may follow which
//	policy.go, observation.go    the input: what the spec asks for; what was observed. Also the effects
//	decide.go                    Decide: the next step of each state
//	follow.go                    an attempt with a driver: its start, its run, its loss; time limits of states
//	driver.go, driver_end.go     a driver Pod to an observation; how it ended
//	driver_waiting.go, cause.go  what keeps a Pod from starting; the text of an end
//	driver_release.go            when a driver is deleted, kept, or deleted by force; when a deletion is over
//	user_driver.go               what is different for a driver that the user started
//	event_logs.go                a driver that is held up by the sidecar that sends its event log, or refused with it
//	executors.go                 whether enough executors are ready
//	active.go                    the active deadline
//	archive.go                   what waits until an attempt is archived, and what the record has of that
//	stop.go                      an application that a user stopped
//	interrupt.go, unknown.go     edits, suspension and resumption; a driver whose node does not answer
//	restart.go, attempts.go      whether and when another attempt follows; how many there were
//	expire.go                    when the time to live is over
//	transition.go                enters a state: the transition and its message
//	adopted_record.go            a record of what another operator ran
//	ui.go                        where the driver's UI is reached
//
// The caller persists the record before it carries out the effect. Then it observes the result and calls Decide
// again.
//
// What a transition holds is worded here: it is made once, with the facts of that moment, and sent as an event with the same bytes by
// any version. What is computed from a record each time is worded in pkg/diagnosis, which imports this package.
package lifecycle
