// Package convert translates manifests from one API to another, so that what they describe runs with the same driver. It is pure.
//
//	early --> kubeflow <--> apache
//	early <--
//
// Each way begins with the plan of the application in its own dialect (pkg/dialect): the Spark properties and the pod templates that its fields
// stand for. The fields of the other API are filled in from them. What those fields do not say stays in sparkConf. Then the plan of the new
// application is compared with the old one: what is different is lost, and named.
package convert
