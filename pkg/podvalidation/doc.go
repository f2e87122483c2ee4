// Package podvalidation reports values in the parts of a Pod that the API server refuses: choices that there are not, labels, names, ports,
// variables, volumes and amounts of resources. The CustomResourceDefinitions accept them, since they take Pods as both operators take them. So a manifest is refused with the
// name of its field, before anything is created.
//
// It is not all of Kubernetes' validation, which no library has. A test compares each finding with a real API server.
package podvalidation
