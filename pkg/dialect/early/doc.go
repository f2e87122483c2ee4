// Package early is the dialect of spark-operator.k8s.io, the API of the early Spark operator.
//
//	translation.go     spec -> the spec of a v1beta2 application, whose policy, plan and messages are used
//	spellings.go       the names that a user wrote, for messages
//	properties.go      Spark properties of 2017 -> today's, or why they have no effect
//	images.go          which image runs, and which version of Spark it has
//	submission.go      plan and objects, with names and labels of this API; the Service of the UI
//	status.go          record -> status: a v1beta2 status, shown in five states
//
// It is pure. Its applications have the settings of config-kubeflow, too: what Settings adds is about this API alone.
package early
