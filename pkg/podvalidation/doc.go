// Package podvalidation reports values in the parts of a Pod that the API server refuses: unknown choices, labels, names, ports, variables, volumes
// and amounts of resources. The CustomResourceDefinitions accept them, since they take Pods as both operators take them. So a manifest is refused with
// the name of its field, before anything is created.
//
//	podvalidation.go  Pod: a spec that Spark or Firesteel completes, such as a template; StatefulSet: one that nothing completes
//	containers.go     Container: one container or a part of it; Sidecars: those beside Spark's, which nothing completes
//	volumes.go        volumes, and mounts of volumes that nothing defines
//	resources.go      requests and limits
//	metadata.go       labels
//
// A template may lack what is completed, such as the name or the image of Spark's container. The callers remove from it what Spark overwrites.
//
// It is not all of Kubernetes' validation, which no library has. A test compares each finding with a real API server.
package podvalidation
