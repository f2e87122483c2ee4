// Package apache translates between spark.apache.org and Firesteel. It turns an application's spec into a lifecycle policy
// and a submission plan. It turns a record into the status that the Apache operator's clients read.
//
// It is pure. It mirrors the Apache Spark Kubernetes operator.
//
//	api.go                             the API: kind, CRD, finalizer, labels of Pods
//	dialect.go                         the dialect, made of the functions of the other files
//	policy.go, bounds.go, defaults.go  spec to policy; time limits by annotations; the installation's defaults below the spec
//	plan.go                            spec to submission plan: properties, main resource, templates
//	complete.go                        changes and adds objects after the build: ConfigMaps, routes, the Service of the UI
//	config_maps.go                     ConfigMaps that the spec asks for
//	driver_routes.go                   Services with Ingresses or routes in front of the driver
//	ui.go                              the Service of the UI
//	scheduler.go                       pod groups and task groups for batch schedulers
//	names.go                           the names of an attempt
//	hash.go                            the fields that an attempt runs with: suspend and tolerations are none
//	manifest.go                        what the rules of the admin read
//	refusal.go                         why an attempt is refused, by the fields of the spec
//	warnings.go, unsupported_fields.go, contradictions.go the texts of the condition Warning: all together; fields without effect; fields that contradict each other
//	status.go, conditions.go           record to status; its conditions
//	kubernetes_events.go               which Kubernetes Events a transition has
//	inherit.go, adopted_driver.go      a status of the Apache operator to a record; which Pod is its driver
package apache
