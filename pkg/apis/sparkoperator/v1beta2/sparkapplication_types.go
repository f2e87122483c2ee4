package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// SparkApplication is one Spark application: a driver and its executors, run to their end.
//
// +genclient
// +genreconciler:krshapedlogic=false
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=https://github.com/kubeflow/spark-operator/pull/1298"
// +kubebuilder:resource:shortName=sparkapp
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Suspend",type=boolean,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.applicationState.state`
// +kubebuilder:printcolumn:name="Attempts",type=string,JSONPath=`.status.executionAttempts`
// +kubebuilder:printcolumn:name="Start",type=string,JSONPath=`.status.lastSubmissionAttemptTime`
// +kubebuilder:printcolumn:name="Finish",type=string,JSONPath=`.status.terminationTime`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.applicationState.errorMessage`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type SparkApplication struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what to run and how.
	Spec SparkApplicationSpec `json:"spec"`
	// status is what happened so far. Firesteel writes it.
	// +optional
	Status SparkApplicationStatus `json:"status,omitempty"`

	// Undecodable is the reason why the rest of the object could not be decoded; empty if it could. Only the
	// metadata of such an object is set. See UnmarshalJSON.
	Undecodable string `json:"-"`
	// UnknownFields are messages about fields of the spec that this type does not have. The API server prunes those outside
	// embedded Kubernetes types, so these are typing errors or newer fields inside them.
	UnknownFields []string `json:"-"`
}

// SparkApplicationList is a list of SparkApplications.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type SparkApplicationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []SparkApplication `json:"items"`
}

// SparkApplicationType is the language of an application.
//
// +kubebuilder:validation:Enum=Java;Python;Scala;R
type SparkApplicationType string

// The languages.
const (
	JavaApplication   SparkApplicationType = "Java"
	PythonApplication SparkApplicationType = "Python"
	ScalaApplication  SparkApplicationType = "Scala"
	RApplication      SparkApplicationType = "R"
)

// DeployMode is where the driver runs.
//
// +kubebuilder:validation:Enum=cluster;client
type DeployMode string

// The deploy modes. ClientMode exists in the API only; applications with it fail.
const (
	ClusterMode DeployMode = "cluster"
	ClientMode  DeployMode = "client"
)

// SparkApplicationSpec is what to run and how: what a command line of spark-submit says, and what the Pods have besides.
type SparkApplicationSpec struct {
	// What the API server checks beyond the types of the fields is in hack/codegen/rules_sparkoperator.go.

	// suspend stops the driver while it is true, and holds the launch. Default: false. A run that was stopped begins anew
	// afterwards.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
	// type is the language of the application. Default: Scala. It has no effect: Spark chooses by the suffix of
	// mainApplicationFile.
	// +optional
	Type SparkApplicationType `json:"type,omitempty"`
	// sparkVersion is the version of Spark in the image, such as 4.1.0. It decides how the application is submitted. If it is
	// not known, one that is known decides, and the condition Warning names that.
	// +optional
	SparkVersion string `json:"sparkVersion,omitempty"`
	// mode is where the driver runs, spark-submit's --deploy-mode. Default: cluster. An application with client fails.
	// +optional
	Mode DeployMode `json:"mode,omitempty"`
	// deployMode is an older spelling of mode, which wins if both are set.
	// +optional
	DeployMode DeployMode `json:"deployMode,omitempty"`
	// proxyUser is the Hadoop user that the application acts as, spark-submit's --proxy-user.
	// +optional
	ProxyUser string `json:"proxyUser,omitempty"`
	// image is the container image of driver and executors. The image of a role wins. If a role has no image at all, the
	// application fails.
	// +optional
	Image string `json:"image,omitempty"`
	// initContainerImage is the image of the init container of Spark 2.3. It has no effect with newer versions: the condition
	// Warning says so.
	// +optional
	InitContainerImage string `json:"initContainerImage,omitempty"`
	// imagePullPolicy is when images are pulled: Always, IfNotPresent or Never. Default: IfNotPresent.
	// +optional
	ImagePullPolicy string `json:"imagePullPolicy,omitempty"`
	// imagePullSecrets are names of Secrets with the credentials to pull images.
	// +optional
	ImagePullSecrets []string `json:"imagePullSecrets,omitempty"`
	// mainClass is the class that the driver runs, spark-submit's --class. Python and R applications need none.
	// +optional
	MainClass string `json:"mainClass,omitempty"`
	// mainApplicationFile is the URI of a jar, a Python file or an R file: what the driver runs. Files inside the image begin
	// with local://.
	// +optional
	MainApplicationFile string `json:"mainApplicationFile,omitempty"`
	// arguments are the arguments of the application.
	// +optional
	Arguments []string `json:"arguments,omitempty"`
	// sparkConf are Spark properties. Values are strings: write numbers in quotes. Other fields win over them. The operator's
	// settings deny some properties, and an application with one of those fails.
	// +optional
	SparkConf map[string]string `json:"sparkConf,omitempty"`
	// hadoopConf are Hadoop properties. Each becomes the Spark property spark.hadoop.KEY.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	HadoopConf Properties `json:"hadoopConf,omitempty"`
	// sparkConfigMap is the name of a ConfigMap with Spark's configuration files. Driver and executors mount it at
	// /etc/spark/conf, and SPARK_CONF_DIR is set to that.
	// +optional
	SparkConfigMap string `json:"sparkConfigMap,omitempty"`
	// hadoopConfigMap is the name of a ConfigMap with Hadoop's configuration files. Driver and executors mount it at
	// /etc/hadoop/conf, and HADOOP_CONF_DIR is set to that.
	// +optional
	HadoopConfigMap string `json:"hadoopConfigMap,omitempty"`
	// volumes are the volumes that volumeMounts of driver and executors name. One whose name begins with spark-local-dir- is
	// Spark's scratch space.
	// +optional
	Volumes []corev1.Volume `json:"volumes,omitempty"`
	// driver describes the driver and its Pod.
	// +optional
	Driver DriverSpec `json:"driver"`
	// executor describes the executors and their Pods.
	// +optional
	Executor ExecutorSpec `json:"executor"`
	// deps are what the application needs besides mainApplicationFile.
	// +optional
	Deps Dependencies `json:"deps,omitempty"`
	// restartPolicy is when and how often the application is submitted again.
	// +optional
	RestartPolicy RestartPolicy `json:"restartPolicy,omitempty"`
	// maxSubmissionRetries is how many submissions may follow consecutive failed ones, whatever the restart policy. Default: 0.
	// It is the spelling of v1alpha1: restartPolicy.onSubmissionFailureRetries wins.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxSubmissionRetries *int32 `json:"maxSubmissionRetries,omitempty"`
	// submissionRetryInterval is how long to wait after a failed submission, times the number of consecutive failures. Default:
	// 5. Unit: seconds. It is the spelling of v1alpha1: restartPolicy.onSubmissionFailureRetryInterval wins.
	// +optional
	// +kubebuilder:validation:Minimum=1
	SubmissionRetryInterval *int64 `json:"submissionRetryInterval,omitempty"`
	// submissionByUser is whether the user submits the application, in v1alpha1. Default: false. An application with true fails:
	// Firesteel submits all applications.
	// +optional
	SubmissionByUser bool `json:"submissionByUser,omitempty"`
	// nodeSelector are the labels of nodes that driver and executors may run on. It is refused beside the nodeSelector of a
	// role.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// failureRetries is deprecated. It has no effect: write restartPolicy. The condition Warning says so.
	// +optional
	FailureRetries *int32 `json:"failureRetries,omitempty"`
	// retryInterval is deprecated. It has no effect: write restartPolicy. The condition Warning says so.
	// +optional
	RetryInterval *int64 `json:"retryInterval,omitempty"`
	// pythonVersion is the major version of Python, 2 or 3. Spark 3.1 and newer ignore it.
	// +optional
	// +kubebuilder:validation:Enum={2,3,"2","3"}
	PythonVersion *intstr.IntOrString `json:"pythonVersion,omitempty"`
	// memoryOverheadFactor is the share of a role's memory that is added for what is not on the heap. Default: 0.1, and 0.4 for
	// Python and R. memoryOverhead of a role wins.
	// +optional
	MemoryOverheadFactor string `json:"memoryOverheadFactor,omitempty"`
	// monitoring exposes the metrics of Spark.
	// +optional
	Monitoring *MonitoringSpec `json:"monitoring,omitempty"`
	// batchScheduler is the scheduler of all Pods, and wins over schedulerName of the roles. Default: default-batch-scheduler
	// of the ConfigMap config-kubeflow. Firesteel makes a PodGroup, or annotations of YuniKorn, for one that batch-schedulers
	// of that ConfigMap lists.
	// +optional
	BatchScheduler string `json:"batchScheduler,omitempty"`
	// batchSchedulerOptions are what the batch scheduler is asked for. Without a scheduler that batch-schedulers of the
	// ConfigMap config-kubeflow lists, only priorityClassName has an effect.
	// +optional
	BatchSchedulerOptions *BatchSchedulerConfiguration `json:"batchSchedulerOptions,omitempty"`
	// timeToLiveSeconds is how long after its end the application is deleted. Default: default-time-to-live of the ConfigMap
	// config-kubeflow, else never. Unit: seconds. Zero or less is at once.
	// +optional
	TimeToLiveSeconds *int64 `json:"timeToLiveSeconds,omitempty"`
	// sparkUIOptions are the Service NAME-ui-svc of Spark's UI and the Ingress NAME-ui-ingress. The operator's settings decide
	// whether there are any.
	// +optional
	SparkUIOptions *SparkUIConfiguration `json:"sparkUIOptions,omitempty"`
	// driverIngressOptions are Services for further ports of the driver, each with an Ingress. Each needs another servicePort.
	// +optional
	// +listType=map
	// +listMapKey=servicePort
	DriverIngressOptions []DriverIngressConfiguration `json:"driverIngressOptions,omitempty"`
	// dynamicAllocation lets Spark change the number of executors.
	// +optional
	DynamicAllocation *DynamicAllocation `json:"dynamicAllocation,omitempty"`
	// driverPodDisruptionBudget protects the driver Pod from evictions by a PodDisruptionBudget. Default: false. It has no
	// effect unless driver-pod-disruption-budget of the ConfigMap config-kubeflow is enabled.
	// +optional
	DriverPodDisruptionBudget *bool `json:"driverPodDisruptionBudget,omitempty"`
}

// Dependencies are what an application needs besides its main file.
type Dependencies struct {
	// jars are URIs of jars for the class path of driver and executors: spark.jars.
	// +optional
	Jars []string `json:"jars,omitempty"`
	// files are URIs of files that are copied into the working directories of driver and executors: spark.files.
	// +optional
	Files []string `json:"files,omitempty"`
	// pyFiles are URIs of Python files, .zip or .egg, for the PYTHONPATH: spark.submit.pyFiles.
	// +optional
	PyFiles []string `json:"pyFiles,omitempty"`
	// pyfiles is a spelling of pyFiles in manifests of v1alpha1. Files of both are used.
	// +optional
	LowerPyFiles []string `json:"pyfiles,omitempty"`
	// packages are Maven coordinates of jars, as groupId:artifactId:version: spark.jars.packages. The driver downloads them.
	// +optional
	Packages []string `json:"packages,omitempty"`
	// excludePackages are packages that are not downloaded with others, as groupId:artifactId: spark.jars.excludes.
	// +optional
	ExcludePackages []string `json:"excludePackages,omitempty"`
	// repositories are URLs of Maven repositories to search for packages besides Maven Central: spark.jars.repositories.
	// +optional
	Repositories []string `json:"repositories,omitempty"`
	// archives are URIs of archives that are unpacked in the working directories of executors: spark.archives.
	// +optional
	Archives []string `json:"archives,omitempty"`
	// jarsDownloadDir is where Spark 2.3 put downloaded jars. It has no effect with newer versions: the condition Warning says
	// so.
	// +optional
	JarsDownloadDir string `json:"jarsDownloadDir,omitempty"`
	// filesDownloadDir is where Spark 2.3 put downloaded files. It has no effect with newer versions: the condition Warning
	// says so.
	// +optional
	FilesDownloadDir string `json:"filesDownloadDir,omitempty"`
	// downloadTimeout is how long the downloads of Spark 2.3 could take. Unit: seconds. It has no effect with newer versions:
	// the condition Warning says so.
	// +optional
	DownloadTimeout *int32 `json:"downloadTimeout,omitempty"`
	// maxSimultaneousDownloads is how many downloads Spark 2.3 ran at once. It has no effect with newer versions: the condition
	// Warning says so.
	// +optional
	MaxSimultaneousDownloads *int32 `json:"maxSimultaneousDownloads,omitempty"`
}

// RestartPolicyType is after which ends of a run another one follows.
//
// +kubebuilder:validation:Enum=Never;Always;OnFailure
type RestartPolicyType string

// The restart policies.
const (
	RestartNever     RestartPolicyType = "Never"
	RestartAlways    RestartPolicyType = "Always"
	RestartOnFailure RestartPolicyType = "OnFailure"
)

// RestartPolicy is when and how often an application is submitted again.
type RestartPolicy struct {
	// type is after which ends of a run another one follows. Default: Never. Always is after success, too.
	// +optional
	Type RestartPolicyType `json:"type,omitempty"`
	// onSubmissionFailureRetries is how many submissions may follow consecutive failed ones. Default: 0. It has an effect with
	// type OnFailure; with Always there is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	OnSubmissionFailureRetries *int32 `json:"onSubmissionFailureRetries,omitempty"`
	// onFailureRetries is how many runs may follow consecutive failed ones. Default: 0. It has an effect with type OnFailure;
	// with Always there is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	OnFailureRetries *int32 `json:"onFailureRetries,omitempty"`
	// onSubmissionFailureRetryInterval is how long to wait after a failed submission, times the number of consecutive failures.
	// Default: 5. Unit: seconds.
	// +optional
	// +kubebuilder:validation:Minimum=1
	OnSubmissionFailureRetryInterval *int64 `json:"onSubmissionFailureRetryInterval,omitempty"`
	// onFailureRetryInterval is how long to wait after a failed run, times the number of consecutive failures. Default: 5.
	// Unit: seconds.
	// +optional
	// +kubebuilder:validation:Minimum=1
	OnFailureRetryInterval *int64 `json:"onFailureRetryInterval,omitempty"`

	// UnknownFields are messages about fields of the policy that this type does not have. The API server does not prune them, since the policy
	// may also be a text.
	UnknownFields []string `json:"-"`
}

// BatchSchedulerConfiguration is what a batch scheduler is asked for.
type BatchSchedulerConfiguration struct {
	// queue is the queue of the PodGroup of Volcano, and the label queue of Pods for YuniKorn.
	// +optional
	Queue string `json:"queue,omitempty"`
	// priorityClassName is the priority class of Volcano's PodGroup, and of the Pods of a role that names none.
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// resources are what must be free before the application begins: minResources of the PodGroup. Default: what its driver and
	// executors request. It has no effect on YuniKorn.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`
}

// SparkUIConfiguration describes the Service and the Ingress of Spark's UI.
type SparkUIConfiguration struct {
	// servicePort is the port of the Service. Default: 4040.
	// +optional
	ServicePort *int32 `json:"servicePort,omitempty"`
	// servicePortName is the name of the port of the Service. Default: spark-driver-ui-port.
	// +optional
	ServicePortName string `json:"servicePortName,omitempty"`
	// serviceType is the type of the Service. Default: ClusterIP.
	// +optional
	ServiceType corev1.ServiceType `json:"serviceType,omitempty"`
	// serviceAnnotations are the annotations of the Service.
	// +optional
	ServiceAnnotations map[string]string `json:"serviceAnnotations,omitempty"`
	// serviceLabels are the labels of the Service, in place of those that it has by default.
	// +optional
	ServiceLabels map[string]string `json:"serviceLabels,omitempty"`
	// ingressAnnotations are the annotations of the Ingress. Default: ingress-annotations of the ConfigMap config-kubeflow.
	// +optional
	IngressAnnotations map[string]string `json:"ingressAnnotations,omitempty"`
	// ingressTLS is the TLS configuration of the Ingress. Default: ingress-tls of the ConfigMap config-kubeflow.
	// +optional
	IngressTLS []networkingv1.IngressTLS `json:"ingressTLS,omitempty"`
}

// DriverIngressConfiguration is a Service for a port of the driver, and an Ingress that leads to it.
type DriverIngressConfiguration struct {
	// servicePort is the port of the driver, and of the Service NAME-driver-PORT.
	ServicePort int32 `json:"servicePort"`
	// servicePortName is the name of the port of the Service. Default: driver-ing-PORT.
	// +optional
	ServicePortName string `json:"servicePortName,omitempty"`
	// serviceType is the type of the Service. Default: ClusterIP.
	// +optional
	ServiceType corev1.ServiceType `json:"serviceType,omitempty"`
	// serviceAnnotations are the annotations of the Service.
	// +optional
	ServiceAnnotations map[string]string `json:"serviceAnnotations,omitempty"`
	// serviceLabels are the labels of the Service, in place of those that it has by default.
	// +optional
	ServiceLabels map[string]string `json:"serviceLabels,omitempty"`
	// ingressURLFormat are host and path of the Ingress NAME-ing-PORT. {{$appName}}, {{$appNamespace}} and {{$appId}} in it are
	// replaced.
	// +kubebuilder:validation:MinLength=1
	IngressURLFormat string `json:"ingressURLFormat"`
	// ingressAnnotations are the annotations of the Ingress. Default: ingress-annotations of the ConfigMap config-kubeflow.
	// +optional
	IngressAnnotations map[string]string `json:"ingressAnnotations,omitempty"`
	// ingressTLS is the TLS configuration of the Ingress. Default: ingress-tls of the ConfigMap config-kubeflow.
	// +optional
	IngressTLS []networkingv1.IngressTLS `json:"ingressTLS,omitempty"`
}

// SparkPodSpec is what the driver and the executors have in common.
type SparkPodSpec struct {
	// template is the Pod template that Spark begins with: Spark writes its own values over it, and the other fields are added.
	// Any part of it may be absent. It needs Spark 3.0 or newer.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *corev1.PodTemplateSpec `json:"template,omitempty"`
	// cores are the CPU cores that Spark counts with: spark.driver.cores or spark.executor.cores. Default: 1. A fraction is
	// what the Pod requests, and is rounded up for Spark.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=number
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:ExclusiveMinimum=true
	// +kubebuilder:validation:Maximum=2147483647
	Cores *Cores `json:"cores,omitempty"`
	// coreLimit is the CPU limit of the container, as a Kubernetes quantity such as 1200m. Default: no limit.
	// +optional
	CoreLimit string `json:"coreLimit,omitempty"`
	// memory is the size of the Java heap, such as 512m or 4g. Default: 1g.
	// +optional
	Memory string `json:"memory,omitempty"`
	// memoryOverhead is what is added to memory for what is not on the heap, such as 512m. Default: memoryOverheadFactor times
	// memory, at least 384m. Unit: MiB, if it names none.
	// +optional
	MemoryOverhead string `json:"memoryOverhead,omitempty"`
	// memoryLimit is the memory limit of the container, such as 2g. Default: what the container requests. It has no effect on
	// executors, which Spark limits to what they request: the condition Warning says so.
	// +optional
	MemoryLimit string `json:"memoryLimit,omitempty"`
	// gpu are devices that each Pod gets, as a limit of the container.
	// +optional
	GPU *GPUSpec `json:"gpu,omitempty"`
	// image is the container image of this role. Default: image of the application.
	// +optional
	Image string `json:"image,omitempty"`
	// configMaps are ConfigMaps to mount.
	// +optional
	ConfigMaps []NamePath `json:"configMaps,omitempty"`
	// secrets are Secrets to mount.
	// +optional
	Secrets []SecretInfo `json:"secrets,omitempty"`
	// env are environment variables of the container.
	// +optional
	Env []corev1.EnvVar `json:"env,omitempty"`
	// envVars are environment variables by name. Deprecated: write env.
	// +optional
	EnvVars map[string]string `json:"envVars,omitempty"`
	// envFrom are ConfigMaps and Secrets whose keys become environment variables of the container.
	// +optional
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`
	// envSecretKeyRefs are keys of Secrets by the name of the environment variable that gets the value. Deprecated: write env.
	// +optional
	EnvSecretKeyRefs map[string]NameKey `json:"envSecretKeyRefs,omitempty"`
	// labels are labels of the Pod. They win over the labels of the application, but not over sparkoperator.k8s.io/*.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// annotations are annotations of the Pod.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// volumeMounts are where the container mounts volumes of the application.
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
	// affinity is the affinity of the Pod.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// tolerations are those of the Pod, besides those of the template.
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// podSecurityContext is the security context of the Pod. It replaces that of the template.
	// +optional
	PodSecurityContext *corev1.PodSecurityContext `json:"podSecurityContext,omitempty"`
	// securityContext is the security context of Spark's container. It replaces that of the template.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
	// schedulerName is the scheduler of the Pod. Default: the default scheduler of Kubernetes. batchScheduler of the
	// application wins.
	// +optional
	SchedulerName string `json:"schedulerName,omitempty"`
	// sidecars are containers that run beside Spark's.
	// +optional
	Sidecars []corev1.Container `json:"sidecars,omitempty"`
	// initContainers are containers that run before Spark's.
	// +optional
	InitContainers []corev1.Container `json:"initContainers,omitempty"`
	// hostNetwork runs the Pod in the network of its node, with the DNS policy ClusterFirstWithHostNet. Default: false.
	// +optional
	HostNetwork *bool `json:"hostNetwork,omitempty"`
	// nodeSelector are the labels of nodes that the Pod may run on. It is refused beside the nodeSelector of the application.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// dnsConfig is the DNS configuration of the Pod.
	// +optional
	DNSConfig *corev1.PodDNSConfig `json:"dnsConfig,omitempty"`
	// terminationGracePeriodSeconds is how long the Pod may take to end after it was deleted. Default: 30. Unit: seconds.
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
	// serviceAccount is the service account of the Pod. Default: of the driver, driver-service-account of the ConfigMap
	// config-kubeflow, else the account default; of executors, the driver's.
	// +optional
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// hostAliases are entries of the hosts file of the Pod, besides those of the template.
	// +optional
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty"`
	// shareProcessNamespace lets the containers of the Pod see each other's processes. Default: false.
	// +optional
	ShareProcessNamespace *bool `json:"shareProcessNamespace,omitempty"`
	// runtimeClassName is the RuntimeClass of the Pod.
	// +optional
	RuntimeClassName string `json:"runtimeClassName,omitempty"`
	// coreRequest is the CPU request of the container, as a Kubernetes quantity such as 500m. Default: cores.
	// +optional
	CoreRequest string `json:"coreRequest,omitempty"`
	// javaOptions are options of the JVM. They replace spark.driver.extraJavaOptions or spark.executor.extraJavaOptions of
	// sparkConf.
	// +optional
	JavaOptions string `json:"javaOptions,omitempty"`
	// lifecycle are the hooks of Spark's container. With spark.decommission.enabled Spark sets its own for executors, and the
	// condition Warning says so.
	// +optional
	Lifecycle *corev1.Lifecycle `json:"lifecycle,omitempty"`
	// ports are ports of the container besides Spark's own.
	// +optional
	Ports []Port `json:"ports,omitempty"`
	// priorityClassName is the priority class of the Pod. Default: batchSchedulerOptions.priorityClassName.
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// DriverSpec describes the driver and its Pod.
type DriverSpec struct {
	SparkPodSpec `json:",inline"`

	// podName is the name of the driver Pod. Default: NAME-driver.
	// +optional
	// +kubebuilder:validation:Pattern=`[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*`
	PodName string `json:"podName,omitempty"`
	// kubernetesMaster is the URL of the API server that the driver uses. Default: https://kubernetes.default.svc.
	// +optional
	KubernetesMaster string `json:"kubernetesMaster,omitempty"`
	// serviceAnnotations are annotations of the headless Service by which executors reach the driver.
	// +optional
	ServiceAnnotations map[string]string `json:"serviceAnnotations,omitempty"`
	// serviceLabels are labels of the headless Service by which executors reach the driver.
	// +optional
	ServiceLabels map[string]string `json:"serviceLabels,omitempty"`
}

// ExecutorSpec describes the executors and their Pods.
type ExecutorSpec struct {
	SparkPodSpec `json:",inline"`

	// instances is the number of executors. Default: 1, unless dynamic allocation is enabled.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Instances *int32 `json:"instances,omitempty"`
	// deleteOnTermination lets the driver delete the Pods of executors that ended. Default: true.
	// +optional
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty"`
}

// NamePath is a ConfigMap and where it is mounted.
type NamePath struct {
	// name is the name of the ConfigMap.
	Name string `json:"name"`
	// path is where in the container it is mounted.
	Path string `json:"path"`
}

// SecretType is which environment variable is set to a file of a Secret.
type SecretType string

// The types of secrets. A secret of any other type is only mounted, and a condition says so.
const (
	// GCPServiceAccountSecret has a key.json, to which GOOGLE_APPLICATION_CREDENTIALS leads.
	GCPServiceAccountSecret SecretType = "GCPServiceAccount"
	// HadoopDelegationTokenSecret has a hadoop.token, to which HADOOP_TOKEN_FILE_LOCATION leads.
	HadoopDelegationTokenSecret SecretType = "HadoopDelegationToken"
	// GenericSecret is only mounted.
	GenericSecret SecretType = "Generic"
)

// SecretInfo is a Secret and where it is mounted.
type SecretInfo struct {
	// name is the name of the Secret.
	Name string `json:"name"`
	// path is where in the container it is mounted.
	Path string `json:"path"`
	// secretType is which environment variable is set to a file of the Secret: GCPServiceAccount or HadoopDelegationToken.
	// Default: Generic, none.
	// +optional
	Type SecretType `json:"secretType,omitempty"`
}

// NameKey is a key of a Secret.
type NameKey struct {
	// name is the name of the Secret.
	Name string `json:"name"`
	// key is the key in the Secret.
	Key string `json:"key"`
}

// Port is a port of a container.
type Port struct {
	// name is the name of the port.
	// +optional
	Name string `json:"name,omitempty"`
	// protocol is TCP, UDP or SCTP. Default: TCP.
	// +optional
	Protocol string `json:"protocol,omitempty"`
	// containerPort is the number of the port.
	ContainerPort int32 `json:"containerPort"`
}

// GPUSpec is a number of devices.
type GPUSpec struct {
	// name is the name of the resource, such as nvidia.com/gpu.
	// +optional
	Name string `json:"name,omitempty"`
	// quantity is how many devices each Pod gets. With less than 1 there are none, and the condition Warning says so.
	// +optional
	Quantity int64 `json:"quantity,omitempty"`
}

// MonitoringSpec is which metrics of Spark are exposed, and how.
type MonitoringSpec struct {
	// exposeDriverMetrics exposes the metrics of the driver. Default: false.
	// +optional
	ExposeDriverMetrics bool `json:"exposeDriverMetrics"`
	// exposeExecutorMetrics exposes the metrics of executors. Default: false.
	// +optional
	ExposeExecutorMetrics bool `json:"exposeExecutorMetrics"`
	// metricsProperties is the content of Spark's metrics.properties. Default: the metrics of Spark and of the JVM, over JMX.
	// +optional
	MetricsProperties string `json:"metricsProperties,omitempty"`
	// metricsPropertiesFile is the path of a metrics.properties in the image. It wins over metricsProperties.
	// +optional
	MetricsPropertiesFile string `json:"metricsPropertiesFile,omitempty"`
	// prometheus exposes the metrics to Prometheus, by its JMX exporter.
	// +optional
	Prometheus *PrometheusSpec `json:"prometheus,omitempty"`
}

// PrometheusSpec runs Prometheus' JMX exporter as a Java agent.
type PrometheusSpec struct {
	// jmxExporterJar is the path of the exporter's jar in the image.
	JmxExporterJar string `json:"jmxExporterJar"`
	// port is the port that the exporter answers at. Default: 8090.
	// +optional
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=49151
	Port *int32 `json:"port,omitempty"`
	// portName is the name of the exporter's port in the container. Default: jmx-exporter.
	// +optional
	PortName string `json:"portName,omitempty"`
	// configFile is the path of the exporter's configuration in the image. It wins over configuration.
	// +optional
	ConfigFile string `json:"configFile,omitempty"`
	// configuration is the content of the exporter's configuration. Default: the names that dashboards know Spark's metrics by.
	// +optional
	Configuration string `json:"configuration,omitempty"`
}

// DynamicAllocation lets Spark change the number of executors.
type DynamicAllocation struct {
	// enabled lets Spark change the number of executors. Default: false. Without it the other fields have no effect.
	// +optional
	Enabled bool `json:"enabled,omitempty"`
	// initialExecutors is how many executors there are at first. Default: minExecutors. The largest of this, minExecutors and
	// instances counts.
	// +optional
	InitialExecutors *int32 `json:"initialExecutors,omitempty"`
	// minExecutors is how many executors there are at least. Default: 0.
	// +optional
	MinExecutors *int32 `json:"minExecutors,omitempty"`
	// maxExecutors is how many executors there are at most. Default: no limit.
	// +optional
	MaxExecutors *int32 `json:"maxExecutors,omitempty"`
	// shuffleTrackingEnabled keeps executors that hold shuffle data. Default: true.
	// +optional
	ShuffleTrackingEnabled *bool `json:"shuffleTrackingEnabled,omitempty"`
	// shuffleTrackingTimeout is how long idle executors that hold shuffle data are kept. Default: no limit. Unit: milliseconds.
	// +optional
	ShuffleTrackingTimeout *int64 `json:"shuffleTrackingTimeout,omitempty"`
}

// SparkApplicationStatus is what the Kubeflow operator's clients read, with Firesteel's record beside it.
type SparkApplicationStatus struct {
	// What no controller writes by parts is atomic. Otherwise the API server would store, in every object, who wrote each field,
	// and compare that on each write.

	// sparkApplicationId is the ID that Spark gives the run: spark.app.id.
	// +optional
	SparkApplicationID string `json:"sparkApplicationId,omitempty"`
	// submissionID is the ID of the last submission.
	// +optional
	SubmissionID string `json:"submissionID,omitempty"`
	// lastSubmissionAttemptTime is when the last submission was made.
	// +optional
	// +nullable
	LastSubmissionAttemptTime metav1.Time `json:"lastSubmissionAttemptTime,omitempty"`
	// terminationTime is when the run ended. It is null while it lasts.
	// +optional
	// +nullable
	TerminationTime metav1.Time `json:"terminationTime,omitempty"`
	// driverInfo is where the driver and its UI are.
	// +optional
	DriverInfo DriverInfo `json:"driverInfo"`
	// applicationState is the state now.
	// +optional
	AppState ApplicationState `json:"applicationState,omitempty"`
	// executorState are the states of executors by the names of their Pods: PENDING, RUNNING, COMPLETED, FAILED or UNKNOWN.
	// max-tracked-executors of the ConfigMap config-kubeflow limits how many there are.
	// +optional
	// +mapType=atomic
	ExecutorState map[string]ExecutorState `json:"executorState,omitempty"`
	// executionAttempts is how many submissions succeeded.
	// +optional
	ExecutionAttempts int32 `json:"executionAttempts,omitempty"`
	// submissionAttempts is how many submissions the run took so far.
	// +optional
	SubmissionAttempts int32 `json:"submissionAttempts,omitempty"`
	// observedGeneration is the metadata.generation that the conditions are about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions are Succeeded, which is Unknown until the end, DriverReady, ExecutorsReady, ResourcesReleased,
	// EventsDelivered, Warning and others. Reason and message say why.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// firesteel is Firesteel's record. The fields above are made from it.
	// +optional
	// +structType=atomic
	Firesteel *firesteelv1alpha1.Record `json:"firesteel,omitempty"`
}

// ApplicationState is the state of an application, and what went wrong.
type ApplicationState struct {
	// A new application has no state: Airflow takes any text that it does not know, the empty one too, for a driver that runs.

	// state is the name of the state: SUBMITTED, RUNNING, COMPLETED, FAILED and others. It is absent in a new application.
	// +optional
	State ApplicationStateType `json:"state,omitempty"`
	// errorMessage says what went wrong.
	// +optional
	ErrorMessage string `json:"errorMessage,omitempty"`
}

// ApplicationStateType is the name of a state of an application.
type ApplicationStateType string

// The states of an application.
const (
	NewState              ApplicationStateType = ""
	SubmittedState        ApplicationStateType = "SUBMITTED"
	RunningState          ApplicationStateType = "RUNNING"
	CompletedState        ApplicationStateType = "COMPLETED"
	FailedState           ApplicationStateType = "FAILED"
	FailedSubmissionState ApplicationStateType = "SUBMISSION_FAILED"
	PendingRerunState     ApplicationStateType = "PENDING_RERUN"
	InvalidatingState     ApplicationStateType = "INVALIDATING"
	SucceedingState       ApplicationStateType = "SUCCEEDING"
	FailingState          ApplicationStateType = "FAILING"
	SuspendingState       ApplicationStateType = "SUSPENDING"
	SuspendedState        ApplicationStateType = "SUSPENDED"
	ResumingState         ApplicationStateType = "RESUMING"
	UnknownState          ApplicationStateType = "UNKNOWN"
)

// ExecutorState is the name of a state of an executor.
type ExecutorState string

// The states of an executor.
const (
	ExecutorPendingState   ExecutorState = "PENDING"
	ExecutorRunningState   ExecutorState = "RUNNING"
	ExecutorCompletedState ExecutorState = "COMPLETED"
	ExecutorFailedState    ExecutorState = "FAILED"
	ExecutorUnknownState   ExecutorState = "UNKNOWN"
)

// DriverInfo is where the driver and its UI are.
type DriverInfo struct {
	// webUIServiceName is the name of the Service of Spark's UI.
	// +optional
	WebUIServiceName string `json:"webUIServiceName,omitempty"`
	// webUIAddress are IP and port of the Service of Spark's UI.
	// +optional
	WebUIAddress string `json:"webUIAddress,omitempty"`
	// webUIPort is the port of the Service of Spark's UI.
	// +optional
	WebUIPort int32 `json:"webUIPort,omitempty"`
	// webUIIngressName is the name of the Ingress of Spark's UI.
	// +optional
	WebUIIngressName string `json:"webUIIngressName,omitempty"`
	// webUIIngressAddress is the URL of Spark's UI.
	// +optional
	WebUIIngressAddress string `json:"webUIIngressAddress,omitempty"`
	// podName is the name of the driver Pod.
	// +optional
	PodName string `json:"podName,omitempty"`
}
