// Package fields reads the spec of an application of sparkoperator.k8s.io. It makes of it a lifecycle policy, a submission
// plan, the objects besides Spark's own, and messages about what cannot be done. Routes has a row for each field.
//
// It is pure.
//
//	routes.go                          which way each field takes to the driver and to executors
//	policy.go                          the fields of the lifecycle
//	plan.go, properties.go, images.go  what is submitted: main resource; Spark properties; images and the version of Spark
//	templates.go, pod_mutation.go      pod templates; fields that no property can express, put into a template or into the driver after the build
//	executor_env.go                    environment variables of executors
//	volumes.go, local_dirs.go          volumes and their mounts; those that are Spark's scratch directories
//	monitoring.go                      metrics: ConfigMap, Java agent, port
//	scheduler.go                       batch schedulers
//	complete.go                        changes and adds objects after the build
//	ui_endpoints.go, ui_ingress.go     Services and Ingresses of the UI
//	disruption_budget.go               the PodDisruptionBudget of the driver
//	obsolete.go                        what is deleted when no more Pods will be created
//	hash.go                            the fields whose edit runs the application again
//	manifest.go                        what the rules of the admin read
//	validation.go, pod_values.go       what is refused before the build; values that the API server refuses in Pods
//	refusal.go, field_in_pod.go        which field a refusal is about: of a plan, or of a Pod
//	unsupported_fields.go, invalid_executors.go warnings: fields without effect; fields with which no executor is created
//	paths.go                           the paths of fields that messages name
package fields
