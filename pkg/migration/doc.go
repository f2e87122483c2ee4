// Package migration decides what a cluster with the Kubeflow or the Apache operator would meet if Firesteel took its place. It is pure:
// pkg/cli/migrate reads the cluster.
//
//	objects.go      what Firesteel refuses, warns of or ignores of each object
//	drivers.go      how another operator's driver differs from the one that Firesteel would make
//	operator.go     the settings that take the place of its flags and properties
//	webhooks.go     webhooks that refuse or change driver Pods
//	definitions.go  CRDs: stored versions, owners, versions of Firesteel; SparkConnect
//	accounts.go     service accounts of drivers: absent, without rights, or deleted with another Helm release
//	report.go       the Report, to which all of these add Items
//
// Findings that need the same remedy become one Item, with a count and examples. So the size of a Report does not grow with the cluster.
package migration
