// Package early is the dialect of spark-operator.k8s.io, the API of the early Spark operator.
//
//	api.go, dialect.go       the API, and the dialect made of the functions below
//	translation.go           spec -> the spec of a v1beta2 application, whose policy, plan and messages are used
//	spellings.go             the names that a user wrote, for messages
//	properties.go            Spark properties of 2017 -> today's, or why they have no effect
//	annotations.go           annotations of the spec that Kubernetes has fields for today
//	images.go                which image runs, and which version of Spark it has
//	manifest.go              what the admin's rules read of an application
//	submission.go, names.go  plan and objects, with names and labels of this API
//	ui.go                    the Service of the UI, and its route
//	user_driver.go           drivers that the user starts
//	status.go                record -> status: a v1beta2 status, shown in five states
//	settings.go              the settings from config-early
//
// It is pure. Its applications have the settings of config-kubeflow, too: what Settings adds is about this API alone.
package early
