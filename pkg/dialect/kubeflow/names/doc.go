// Package names holds the Kubeflow operator's names of objects, labels, submissions and of the driver's UI.
//
// It is pure.
//
//	names.go          the names of objects
//	labels.go         the labels of objects, and the selectors of Pods
//	roles.go          driver and executor: their fields, properties and containers
//	volumes.go        the names of volumes
//	address.go        the address of a UI, from a format with placeholders
//	submission_id.go  the submission ID of an attempt
package names
