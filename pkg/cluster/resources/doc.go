// Package resources builds the objects of a standalone Spark cluster from its spec: StatefulSets, Services and so on.
// It talks to no server.
//
//	resources.go     Build: all objects of a cluster, and their names
//	statefulsets.go  the StatefulSets of master and workers
//	daemons.go       what workers offer, and how they end
//	conf.go          Spark properties as options of the JVM
//	services.go      the Services
//	policies.go      autoscaler, PodDisruptionBudget, NetworkPolicy
//	pod_security.go  completes Pods for the restricted profile
//	overruled.go     settings without effect
//	hash.go          whether an existing object is as wanted
package resources
