// Package dialect defines what Firesteel needs to know of an API to run its applications, and holds what the APIs have in
// common. Each API is a package below this one. It translates a spec into a lifecycle policy and a submission plan, and a
// record into the status that the clients of that API read.
//
//	dialect.go, functions.go               the interface Dialect, and its one implementation, made of the functions of an API
//	api.go, application.go                 an API and its kind; what every application has
//	facts.go, conditions.go                what a status shows besides the record; the conditions of all APIs
//	check.go, refused.go                   all findings about an application; the text of a refusal, and whether the admin's rules still apply
//	launch.go                              the ID of a launch; its objects, with their labels and owners
//	ownership.go, driver_labels.go         which driver belongs to an application; labels that someone changed
//	user_driver.go, stop.go                drivers that the user starts; the annotation that stops an application
//	bounds.go, blocked.go                  time limits by annotation; the patch of an object that cannot be decoded
//	templates.go, volumes.go, images.go    pod templates behind URLs, checks of volumes, the version in an image's name
//	pod_values.go                          values in the fields of Pods that the API server refuses
//	service_account.go, driver_service.go  the driver's service account; drivers without a Service
//	driver_config_maps.go                  drivers with one ConfigMap for properties and the executors' pod template
//	annotation_choice.go                   a choice of two words by annotation
//	event_logs.go                          Spark's event log in the archive of the namespace
//	pod_security.go                        Pods of the restricted profile of the Pod Security Standards
//	ui_service.go, gateway.go, routes.go   the Service of a UI; its route behind a Gateway
//	service_ports.go                       how many ports a Service may have
//	setting.go                             a setting that takes the place of one of another operator
//
// It is pure.
package dialect
