// Package archiver is the handler that archives an attempt that has ended: what the node still has of the logs of its Pods, its objects, its Kubernetes
// Events and its transitions. Firesteel requests it when an attempt has ended, and waits for a bounded time.
//
//	archiver.go          the handler: one job for each application, and how many at once
//	pending.go           an attempt that waits for its turn, and how much memory these take
//	late.go              attempts that the storage did not take are tried again
//	attempt.go           one job: reads, stores, checks, and annotates the driver Pod
//	logs.go              the logs of a Pod
//	kubernetes_events.go the Kubernetes Events, read once for several jobs
//	follower.go          follows the logs of containers that run: one process, and which logs
//	follow.go            follows one log
//	clusters.go          whose logs of clusters are followed, and what is stored of a cluster that is gone
//	usage.go             what the Pods used
//	gap.go               closes a gap in that, from the event log of Spark
//	namespaces.go        the uids of namespaces
//	retention.go         deletes what is not to be retained
//
// An annotation on the driver Pod shows that its attempt is archived. It is written last: an interrupted job starts again, and stores the same.
package archiver
