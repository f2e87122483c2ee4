// Package submission builds the Kubernetes objects that start one Spark driver.
//
// It is what `spark-submit --master k8s://... --deploy-mode cluster` does, without a JVM and without a server: a [Plan]
// goes in, the driver Pod and the objects it needs come out.
//
//	Plan ── normalise ──► properties ── feature steps ──► Pod, Service, claims, ... ── config map ──► Objects
//	        (SparkSubmit)               (one file each,                              (properties file)
//	                                     in Spark's order)
//
// If you know Spark's KubernetesDriverBuilder, you find each of its feature steps here in a file with the same name.
// Versions of Spark differ only by [Rules].
//
// Everything is pure: no clock, no randomness, no environment, no API access. The same plan gives the same bytes. Some work
// needs a JVM: upload of client-local files, a user's own feature steps, Kerberos logins. Build refuses it with a
// [finding.Finding] that names the property and the remedy. Nothing is skipped silently.
//
//	plan.go                                   the input: Plan
//	objects.go                                the output: Objects, in the order in which they are created
//	builder.go                                Build: the steps, in Spark's order
//	rules.go                                  what differs between versions of Spark
//	spark_submit.go, client_settings.go, uris.go, packages.go what SparkSubmit does before the steps; its own settings; what it would upload; packages
//	basic_driver.go, driver_resources.go, driver_ports.go BasicDriverFeatureStep: image, environment, labels; CPU and memory; ports
//	driver_credentials.go                     DriverKubernetesCredentialsFeatureStep
//	driver_service.go, driver_address.go      DriverServiceFeatureStep; a driver without a Service
//	network_policy.go                         NetworkPolicyFeatureStep
//	mount_secrets.go, env_secrets.go          MountSecretsFeatureStep, EnvSecretsFeatureStep
//	mount_volumes.go, spark_volumes.go        MountVolumesFeatureStep; the volumes that properties describe
//	driver_command.go                         DriverCommandFeatureStep
//	hadoop_conf.go, kerberos_conf.go          HadoopConfDriverFeatureStep, KerberosConfDriverFeatureStep
//	pod_template.go, pod_template_config_map.go the driver's pod template; PodTemplateConfigMapStep for that of executors
//	local_dirs.go                             LocalDirsFeatureStep
//	volcano.go                                VolcanoFeatureStep
//	driver_config_map.go, properties_file.go, one_config_map.go the ConfigMap with the properties; as Java writes them; with the pod template in it
//	event_log_sidecar.go                      the sidecar that sends the event log to the archive
//	planned_executors.go                      how many executors a driver asks for, and what each requests
//	conf.go, conf_formats.go, conf_expand.go  reads Spark properties: their types, and ${...} in them
//	names.go                                  names that are made of the application's
//	check_plan.go, kubernetes_checks.go, executor_checks.go, mount_paths.go checks: of the plan; of names and labels; of executors; of paths that are mounted twice
//	image_checks.go, image_reference.go       checks of images
package submission
