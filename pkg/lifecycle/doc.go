// Package lifecycle is the state machine of an application, whichever API it was written in.
//
// It is pure: the record of what happened, the policy that the spec sets, what is observed and the time go in;
// the next record, one effect and the instant at which to look again come out. Nothing here talks to a server.
//
//	(record, policy, observation, now) --Decide--> (record', effect, look again, awaited handler)
//
// The caller persists the record before it carries out the effect, observes what came of it, and asks again.
package lifecycle
