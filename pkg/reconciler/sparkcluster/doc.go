// Package sparkcluster reconciles the SparkClusters of spark.apache.org. It observes, lets pkg/cluster decide,
// persists, publishes and acts, as pkg/reconciler/application does for applications.
//
//	reconciler.go       one reconcile: observe, decide, persist, act
//	ensure.go, merge.go create objects, adopt existing ones, and which of their fields stay
//	owned_objects.go    the owned objects as this process knows them; owned_informers.go watches them
//	uncertain.go        objects that exist although no informer shows them
//	missing_pods.go     why Pods of a StatefulSet are not created
//	status.go           what is written, and when
//	blocked.go          clusters for which nothing is done
package sparkcluster
