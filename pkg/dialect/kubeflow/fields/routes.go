package fields

// Way is how the value of a field gets into a Pod, or what else happens to it.
type Way string

// The ways. The driver creates the executors, so a field of executors needs a property or the template.
const (
	// ByProperty is a Spark property.
	ByProperty Way = "property"
	// BySubmission is an argument of spark-submit other than a property.
	BySubmission Way = "submission"
	// ByTemplate is the pod template that Spark begins with.
	ByTemplate Way = "template"
	// ByTemplateAndProperty is both: Spark overrides the template's value, or adds its own after it.
	ByTemplateAndProperty Way = "template and property"
	// AfterBuild is a change of the driver's Pod after all that Spark does to it.
	AfterBuild Way = "after the build"
	// ByObject is an object beside those that Spark makes.
	ByObject Way = "object"
	// ByLifecycle is done by the controller and not visible in a Pod.
	ByLifecycle Way = "lifecycle"
	// Impossible means that Spark does not allow it. The condition Warning names the field.
	Impossible Way = "impossible"
	// NoEffect means that the field has no effect in the Kubeflow operator, or in any existing Spark, either.
	NoEffect Way = "no effect"
	// Nothing means that a field does not apply to a role.
	Nothing Way = ""
)

// Route describes what happens to a field.
type Route struct {
	// Field is its path below spec, or below the driver or the executor for fields that both have.
	Field string
	// Driver and Executor are the ways of the field for the two roles.
	Driver, Executor Way
	// How describes what is written and where. <role> stands for driver or executor.
	How string
}

// Routes are those of all fields of an application, except those in PodRoutes.
var Routes = []Route{
	{"suspend", ByLifecycle, ByLifecycle, "the driver is stopped, and with it the executors"},
	{"type", NoEffect, NoEffect, "Spark chooses by the suffix of the main application file"},
	{"sparkVersion", BySubmission, BySubmission, "chooses what is submitted as that version of Spark would; without it, the version in the tag of the driver's image does"},
	{"mode", BySubmission, BySubmission, "`cluster`; `client` is refused"},
	{"deployMode", BySubmission, BySubmission, "an older spelling of `mode`"},
	{"proxyUser", BySubmission, BySubmission, "`--proxy-user`"},
	{"image", ByProperty, ByProperty, "`spark.kubernetes.container.image`, and `spark.kubernetes.<role>.container.image` of a role that names none"},
	{"initContainerImage", NoEffect, NoEffect, "no Spark since 2.3 has that init container; the condition `Warning` says so"},
	{"imagePullPolicy", ByProperty, ByProperty, "`spark.kubernetes.container.image.pullPolicy`"},
	{"imagePullSecrets", ByProperty, ByProperty, "`spark.kubernetes.container.image.pullSecrets`"},
	{"mainClass", BySubmission, Nothing, "`--class`"},
	{"mainApplicationFile", BySubmission, Nothing, "the main resource; of Java and Scala in `spark.jars`, too"},
	{"arguments", BySubmission, Nothing, "the application's arguments"},
	{"sparkConf", ByProperty, ByProperty, "as they are; the other fields win"},
	{"hadoopConf", ByProperty, ByProperty, "`spark.hadoop.<key>`"},
	{"sparkConfigMap", AfterBuild, ByTemplateAndProperty, "mounted at `/etc/spark/conf`, to which `SPARK_CONF_DIR` leads; of executors by `spark.executorEnv.SPARK_CONF_DIR`, which comes after Spark's own"},
	{"hadoopConfigMap", AfterBuild, ByTemplate, "mounted at `/etc/hadoop/conf`, to which `HADOOP_CONF_DIR` leads"},
	{"volumes", AfterBuild, ByTemplate, "those that a container of the spec mounts; `spark-local-dir-*` as `volumeMounts`"},
	{"driver.podName", ByProperty, Nothing, "`spark.kubernetes.driver.pod.name`"},
	{"driver.kubernetesMaster", ByProperty, Nothing, "`spark.kubernetes.driver.master`"},
	{"driver.serviceAnnotations", ByProperty, Nothing, "`spark.kubernetes.driver.service.annotation.<key>`"},
	{"driver.serviceLabels", ByProperty, Nothing, "`spark.kubernetes.driver.service.label.<key>`"},
	{"executor.instances", Nothing, ByProperty, "`spark.executor.instances`; 1 if neither it nor dynamic allocation sets the number"},
	{"executor.deleteOnTermination", Nothing, ByProperty, "`spark.kubernetes.executor.deleteOnTermination`"},
	{"deps.jars", ByProperty, ByProperty, "`spark.jars`"},
	{"deps.files", ByProperty, ByProperty, "`spark.files`"},
	{"deps.pyFiles", ByProperty, ByProperty, "`spark.submit.pyFiles`"},
	{"deps.pyfiles", ByProperty, ByProperty, "an older spelling of `deps.pyFiles`"},
	{"deps.packages", ByProperty, ByProperty, "`spark.jars.packages`"},
	{"deps.excludePackages", ByProperty, ByProperty, "`spark.jars.excludes`"},
	{"deps.repositories", ByProperty, ByProperty, "`spark.jars.repositories`"},
	{"deps.archives", ByProperty, ByProperty, "`spark.archives`"},
	{"deps.jarsDownloadDir", NoEffect, NoEffect, "no Spark since 2.3 has that init container; the condition `Warning` says so"},
	{"deps.filesDownloadDir", NoEffect, NoEffect, "no Spark since 2.3 has that init container; the condition `Warning` says so"},
	{"deps.downloadTimeout", NoEffect, NoEffect, "no Spark since 2.3 has that init container; the condition `Warning` says so"},
	{"deps.maxSimultaneousDownloads", NoEffect, NoEffect, "no Spark since 2.3 has that init container; the condition `Warning` says so"},
	{"maxSubmissionRetries", ByLifecycle, ByLifecycle, "an older spelling of `restartPolicy.onSubmissionFailureRetries`, which wins; it needs no `restartPolicy.type`"},
	{"submissionRetryInterval", ByLifecycle, ByLifecycle, "an older spelling of `restartPolicy.onSubmissionFailureRetryInterval`, which wins"},
	{"submissionByUser", ByLifecycle, ByLifecycle, "`true` is refused: Firesteel submits all applications"},
	{"restartPolicy.type", ByLifecycle, ByLifecycle, "which ends of a run another follows"},
	{"restartPolicy.onSubmissionFailureRetries", ByLifecycle, ByLifecycle, "how many submissions follow a failed one"},
	{"restartPolicy.onFailureRetries", ByLifecycle, ByLifecycle, "how many runs follow a failed one"},
	{"restartPolicy.onSubmissionFailureRetryInterval", ByLifecycle, ByLifecycle, "seconds, times the number of failures"},
	{"restartPolicy.onFailureRetryInterval", ByLifecycle, ByLifecycle, "seconds, times the number of failures"},
	{"nodeSelector", ByProperty, ByProperty, "`spark.kubernetes.node.selector.<key>`; refused beside a role's own"},
	{"failureRetries", NoEffect, NoEffect, "deprecated; the condition `Warning` points to `restartPolicy`"},
	{"retryInterval", NoEffect, NoEffect, "deprecated; the condition `Warning` points to `restartPolicy`"},
	{"pythonVersion", ByProperty, ByProperty, "`spark.kubernetes.pyspark.pythonVersion`; with `2` the application runs with Python 3, and the condition `Warning` says so"},
	{"memoryOverheadFactor", ByProperty, ByProperty, "`spark.kubernetes.memoryOverheadFactor`"},
	{"monitoring.exposeDriverMetrics", ByProperty, Nothing, "`spark.driver.extraJavaOptions` and annotations; the config map is mounted"},
	{"monitoring.exposeExecutorMetrics", Nothing, ByTemplateAndProperty, "`spark.executor.extraJavaOptions` and annotations; the config map is mounted by the template"},
	{"monitoring.metricsProperties", ByObject, ByObject, "in the config map `<name>-prom-conf`, which `spark.metrics.conf` names"},
	{"monitoring.metricsPropertiesFile", ByProperty, ByProperty, "`spark.metrics.conf`"},
	{"monitoring.prometheus.jmxExporterJar", ByProperty, ByProperty, "`-javaagent` in `spark.<role>.extraJavaOptions`"},
	{"monitoring.prometheus.port", ByProperty, ByProperty, "of that agent, and the annotation `prometheus.io/port`"},
	{"monitoring.prometheus.portName", AfterBuild, ByTemplate, "the name of that port of the container"},
	{"monitoring.prometheus.configFile", ByProperty, ByProperty, "of that agent"},
	{"monitoring.prometheus.configuration", ByObject, ByObject, "in the config map `<name>-prom-conf`"},
	{"batchScheduler", ByProperty, ByProperty, "`spark.kubernetes.<role>.scheduler.name`; a pod group, or annotations and labels, for one that the operator's settings name"},
	{"batchSchedulerOptions.queue", ByObject, ByObject, "the queue of the pod group; of YuniKorn the label `queue`"},
	{"batchSchedulerOptions.priorityClassName", AfterBuild, ByTemplate, "of the pod group, and of a role that names none"},
	{"batchSchedulerOptions.resources", ByObject, ByObject, "what the pod group needs at least"},
	{"timeToLiveSeconds", ByLifecycle, ByLifecycle, "the application is deleted so long after its end"},
	{"sparkUIOptions.servicePort", ByObject, Nothing, "of the Service `<name>-ui-svc`"},
	{"sparkUIOptions.servicePortName", ByObject, Nothing, "of that Service"},
	{"sparkUIOptions.serviceType", ByObject, Nothing, "of that Service"},
	{"sparkUIOptions.serviceAnnotations", ByObject, Nothing, "of that Service"},
	{"sparkUIOptions.serviceLabels", ByObject, Nothing, "of that Service, in place of its other labels"},
	{"sparkUIOptions.ingressAnnotations", ByObject, Nothing, "of the Ingress `<name>-ui-ingress`"},
	{"sparkUIOptions.ingressTLS", ByObject, Nothing, "of that Ingress"},
	{"driverIngressOptions.servicePort", ByObject, Nothing, "of the Service `<name>-driver-<servicePort>`"},
	{"driverIngressOptions.servicePortName", ByObject, Nothing, "of that Service"},
	{"driverIngressOptions.serviceType", ByObject, Nothing, "of that Service"},
	{"driverIngressOptions.serviceAnnotations", ByObject, Nothing, "of that Service"},
	{"driverIngressOptions.serviceLabels", ByObject, Nothing, "of that Service, in place of its other labels"},
	{"driverIngressOptions.ingressURLFormat", ByObject, Nothing, "of the Ingress `<name>-ing-<servicePort>`"},
	{"driverIngressOptions.ingressAnnotations", ByObject, Nothing, "of that Ingress"},
	{"driverIngressOptions.ingressTLS", ByObject, Nothing, "of that Ingress"},
	{"dynamicAllocation.enabled", ByProperty, ByProperty, "`spark.dynamicAllocation.enabled`"},
	{"dynamicAllocation.initialExecutors", ByProperty, ByProperty, "`spark.dynamicAllocation.initialExecutors`"},
	{"dynamicAllocation.minExecutors", ByProperty, ByProperty, "`spark.dynamicAllocation.minExecutors`"},
	{"dynamicAllocation.maxExecutors", ByProperty, ByProperty, "`spark.dynamicAllocation.maxExecutors`"},
	{"dynamicAllocation.shuffleTrackingEnabled", ByProperty, ByProperty, "`spark.dynamicAllocation.shuffleTracking.enabled`, true if unset"},
	{"dynamicAllocation.shuffleTrackingTimeout", ByProperty, ByProperty, "`spark.dynamicAllocation.shuffleTracking.timeout`"},
	{"driverPodDisruptionBudget", ByObject, Nothing, "a PodDisruptionBudget, if the operator's settings allow it"},
}

// PodRoutes are those of the fields that driver and executor both have.
var PodRoutes = []Route{
	{"template", ByTemplate, ByTemplate, "what the other fields say is added to it"},
	{"cores", ByProperty, ByProperty, "`spark.<role>.cores`; a fraction is rounded up there, and is `spark.kubernetes.<role>.request.cores`"},
	{"coreRequest", ByProperty, ByProperty, "`spark.kubernetes.<role>.request.cores`"},
	{"coreLimit", ByProperty, ByProperty, "`spark.kubernetes.<role>.limit.cores`"},
	{"memory", ByProperty, ByProperty, "`spark.<role>.memory`"},
	{"memoryOverhead", ByProperty, ByProperty, "`spark.<role>.memoryOverhead`"},
	{"memoryLimit", AfterBuild, Impossible, "Spark limits executors to the memory that they request, whatever a template says"},
	{"gpu", AfterBuild, ByTemplate, "the container's limit of that resource"},
	{"image", ByProperty, ByProperty, "`spark.kubernetes.<role>.container.image`"},
	{"configMaps", AfterBuild, ByTemplate, "volumes `<name>-vol`, shortened with a hash if that is no name of a volume"},
	{"secrets", ByProperty, ByProperty, "`spark.kubernetes.<role>.secrets.<name>`, and the variable of its type; one whose name makes no volume's goes the way of `configMaps`"},
	{"env", AfterBuild, ByTemplateAndProperty, "values that name or refer to a variable of Spark's or of a property's by `spark.executorEnv.<name>`, which comes after Spark's own"},
	{"envVars", ByProperty, ByProperty, "`spark.kubernetes.driverEnv.<name>`, `spark.executorEnv.<name>`"},
	{"envFrom", AfterBuild, ByTemplate, "the container's"},
	{"envSecretKeyRefs", ByProperty, ByProperty, "`spark.kubernetes.<role>.secretKeyRef.<name>`"},
	{"labels", ByProperty, ByProperty, "`spark.kubernetes.<role>.label.<key>`"},
	{"annotations", ByProperty, ByProperty, "`spark.kubernetes.<role>.annotation.<key>`"},
	{"volumeMounts", AfterBuild, ByTemplate, "the container's; `spark-local-dir-*` by `spark.kubernetes.<role>.volumes`, or by the template if no property can set it"},
	{"affinity", AfterBuild, ByTemplate, "the Pod's"},
	{"tolerations", AfterBuild, ByTemplate, "added to the Pod's"},
	{"podSecurityContext", AfterBuild, ByTemplate, "in the place of the Pod's"},
	{"securityContext", AfterBuild, ByTemplateAndProperty, "in the place of the container's; `allowPrivilegeEscalation`, which Spark 4.3 sets by itself, by `spark.kubernetes.<role>.securityContext.allowPrivilegeEscalation`"},
	{"schedulerName", ByProperty, ByProperty, "`spark.kubernetes.<role>.scheduler.name`"},
	{"sidecars", AfterBuild, ByTemplate, "added; Spark's container comes first in the driver, last in executors"},
	{"initContainers", AfterBuild, ByTemplate, "added"},
	{"hostNetwork", AfterBuild, ByTemplate, "with the DNS policy ClusterFirstWithHostNet"},
	{"nodeSelector", AfterBuild, ByTemplate, "added to the Pod's"},
	{"dnsConfig", AfterBuild, ByTemplate, "the Pod's"},
	{"terminationGracePeriodSeconds", AfterBuild, ByTemplateAndProperty, "Spark 4.1 and newer set a period of their own, from `spark.kubernetes.executor.terminationGracePeriodSeconds`"},
	{"serviceAccount", ByProperty, ByProperty, "`spark.kubernetes.authenticate.<role>.serviceAccountName`"},
	{"hostAliases", AfterBuild, ByTemplate, "added to the Pod's"},
	{"shareProcessNamespace", AfterBuild, ByTemplate, "the Pod's"},
	{"runtimeClassName", AfterBuild, ByTemplate, "the Pod's"},
	{"javaOptions", ByProperty, ByProperty, "`spark.<role>.extraJavaOptions`, in the place of what `sparkConf` says"},
	{"lifecycle", AfterBuild, ByTemplate, "the container's; with `spark.decommission.enabled` Spark sets one of its own for executors"},
	{"ports", AfterBuild, ByTemplate, "the container's, besides Spark's own"},
	{"priorityClassName", AfterBuild, ByTemplate, "the Pod's"},
}
