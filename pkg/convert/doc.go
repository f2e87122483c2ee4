// Package convert translates manifests from one API to another, so that an application runs with the same driver. It is pure.
//
//	early <--> kubeflow <--> apache
//
// A conversion has three steps:
//
//  1. Compute the plan of the application in its own dialect (pkg/dialect): the Spark properties and pod templates that its fields stand for.
//
//  2. Fill in the fields of the other API. Properties without a field stay in sparkConf.
//
//  3. Compare the plan of the new application with the old one, and name what is lost.
//
//     convert.go     the way from one API to another
//     to_*.go        one step: to_apache and to_early start from the Kubeflow operator's API, to_kubeflow from the Apache operator's
//     lost.go        which fields of the Kubeflow operator's API are lost
//     properties.go  which properties sparkConf needs
//     schedules.go   schedules with their templates
package convert
