// Package sparkcluster reconciles the SparkClusters of spark.apache.org. It observes, lets pkg/cluster decide,
// persists, publishes and acts, as pkg/reconciler/application does for applications.
//
//	controller.go                         the wiring: informers, the gate, what is watched
//	reconciler.go                         one reconcile: observe, decide, persist, act
//	cluster_state.go                      what this process knows of a cluster between reconciles
//	observe.go                            what is known of the Pods and of the master's workers
//	ensure.go, merge.go                   create objects, adopt existing ones, and which of their fields stay
//	owned_objects.go, owned_informers.go  the owned objects as this process knows them; their informers
//	uncertain.go                          objects that exist although no informer shows them
//	missing_pods.go                       why Pods of a StatefulSet are not created
//	room.go                               whether the quotas have room, before its objects are created
//	status.go                             what is written, and when
//	blocked.go, log.go                    clusters for which nothing is done; the log of a decision
package sparkcluster
