// Package quota decides which applications and clusters of a namespace may launch, so that what they request fits into its ResourceQuotas.
// It is pure: the quotas and the applications are arguments.
//
//	usage.go      what a Pod takes of a quota, as the API server computes it
//	quota.go      the quotas: their scopes, and what is hard and used
//	room.go       what is free: hard less used less what is reserved and not used yet
//	queue.go      the queue of waiting applications, and which of them may launch
//	admit.go      whether what a user applies fits, before any of its objects exists
//	lack.go       which resource of a quota does not suffice, and its texts
//
// All replicas compute the same decisions from the same records. An application that fits reserves room by a write of its record. When the watch
// has delivered that write, it confirms: it launches if the reservations before its own leave room. So if two replicas reserve at once, the later
// one sees the earlier reservation.
package quota
