// Package convert translates manifests from one API to another, so that an application runs with the same driver. It is pure.
//
//	early <--> kubeflow <--> apache
//
// Each step starts from the plan of the application in its own dialect (pkg/dialect): the Spark properties and pod templates that its fields
// stand for. It fills in the fields of the other API. Properties without a field stay in sparkConf. Then it compares the plan of the new
// application with the old one, and names what is lost.
//
//	convert.go     the steps from one API to another
//	to_apache.go   one step, from the Kubeflow operator's API
//	to_early.go    the same, to the early operator's API
//	to_kubeflow.go one step, from the Apache operator's API
//	lost.go        which fields of the Kubeflow operator's API are lost
//	properties.go  which properties sparkConf needs
//	schedules.go   schedules with their templates
package convert
