// Package quota decides which applications and clusters of a namespace may launch, so that what they request fits into its ResourceQuotas.
// It is pure: the quotas and the applications are arguments.
//
//	usage.go      what a Pod takes of a quota, as the API server computes it
//	quota.go      the quotas: their scopes, and what is hard and used
//	room.go       what is free: hard less used less what is reserved and not used yet
//	queue.go      the queue of those that wait, and who of them may launch
//	admit.go      whether what a user applies fits, before anything of it exists
//	shortage.go   what lacks how much, in words
//
// All replicas decide alike, since they compute the same from the same records. An application that fits reserves room by a write of its
// record. It launches when it has seen that write come back from the API server, if what was reserved before leaves room for it: of two
// replicas that reserve at once, the later one sees the earlier one's reservation.
package quota
