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

	Spec SparkApplicationSpec `json:"spec"`
	// +optional
	Status SparkApplicationStatus `json:"status,omitempty"`

	// Undecodable says why the rest of the object could not be decoded; empty where it could. Only the
	// metadata of such an object is set. See UnmarshalJSON.
	Undecodable string `json:"-"`
	// UnknownFields tell of the fields that the spec has and this type has not. The API server prunes those outside
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

// DeployMode says where the driver runs.
//
// +kubebuilder:validation:Enum=cluster;client
type DeployMode string

// The deploy modes. ClientMode exists in the API only; applications with it fail.
const (
	ClusterMode DeployMode = "cluster"
	ClientMode  DeployMode = "client"
)

// SparkApplicationSpec is what the user wants to run: what a command line of spark-submit says, and what the pods have
// besides. What the API server checks beyond the types of the fields is in hack/codegen/rules_sparkoperator.go.
type SparkApplicationSpec struct {
	// Suspend kills the driver, or holds its launch, until it is false again.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
	// Type is Scala where unset. Spark goes by the main application file.
	// +optional
	Type SparkApplicationType `json:"type,omitempty"`
	// SparkVersion is the version of Spark in the image.
	// +optional
	SparkVersion string `json:"sparkVersion,omitempty"`
	// Mode is spark-submit's --deploy-mode, cluster where unset.
	// +optional
	Mode DeployMode `json:"mode,omitempty"`
	// DeployMode is an older spelling of mode, which wins.
	// +optional
	DeployMode DeployMode `json:"deployMode,omitempty"`
	// ProxyUser is spark-submit's --proxy-user.
	// +optional
	ProxyUser string `json:"proxyUser,omitempty"`
	// Image is the image of driver and executors.
	// +optional
	Image string `json:"image,omitempty"`
	// InitContainerImage was the image of the init container that Spark 2.3 had. It has no effect.
	// +optional
	InitContainerImage string `json:"initContainerImage,omitempty"`
	// ImagePullPolicy is Always, IfNotPresent or Never.
	// +optional
	ImagePullPolicy string `json:"imagePullPolicy,omitempty"`
	// ImagePullSecrets are the names of secrets.
	// +optional
	ImagePullSecrets []string `json:"imagePullSecrets,omitempty"`
	// MainClass is the main class, spark-submit's --class.
	// +optional
	MainClass string `json:"mainClass,omitempty"`
	// MainApplicationFile is the main resource: a URI of a jar, a Python file or an R file.
	// +optional
	MainApplicationFile string `json:"mainApplicationFile,omitempty"`
	// Arguments are the application's arguments.
	// +optional
	Arguments []string `json:"arguments,omitempty"`
	// SparkConf holds Spark properties. The other fields win over them.
	// +optional
	SparkConf map[string]string `json:"sparkConf,omitempty"`
	// HadoopConf holds Hadoop properties: Spark properties whose prefix spark.hadoop. is left out.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	HadoopConf Properties `json:"hadoopConf,omitempty"`
	// SparkConfigMap is the name of a config map with Spark's configuration files, which is mounted at /etc/spark/conf.
	// +optional
	SparkConfigMap string `json:"sparkConfigMap,omitempty"`
	// HadoopConfigMap is the name of a config map with Hadoop's configuration files, which is mounted at /etc/hadoop/conf.
	// +optional
	HadoopConfigMap string `json:"hadoopConfigMap,omitempty"`
	// Volumes are those that the volume mounts of driver and executors name. Those whose name begins with
	// spark-local-dir- are Spark's scratch space.
	// +optional
	Volumes []corev1.Volume `json:"volumes,omitempty"`
	// +optional
	Driver DriverSpec `json:"driver"`
	// +optional
	Executor ExecutorSpec `json:"executor"`
	// +optional
	Deps Dependencies `json:"deps,omitempty"`
	// +optional
	RestartPolicy RestartPolicy `json:"restartPolicy,omitempty"`
	// NodeSelector is of driver and executors. It excludes those of the roles.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// FailureRetries is deprecated and has no effect: see restartPolicy.
	// +optional
	FailureRetries *int32 `json:"failureRetries,omitempty"`
	// RetryInterval is deprecated and has no effect: see restartPolicy.
	// +optional
	RetryInterval *int64 `json:"retryInterval,omitempty"`
	// PythonVersion is the major version of Python, 2 or 3, which Spark before 3.1 asked for.
	// +optional
	// +kubebuilder:validation:Enum={2,3,"2","3"}
	PythonVersion *intstr.IntOrString `json:"pythonVersion,omitempty"`
	// MemoryOverheadFactor is the part of the memory that is added for what is not on the heap.
	// +optional
	MemoryOverheadFactor string `json:"memoryOverheadFactor,omitempty"`
	// +optional
	Monitoring *MonitoringSpec `json:"monitoring,omitempty"`
	// BatchScheduler is the scheduler of the pods: volcano, yunikorn, or one that the operator's settings name.
	// +optional
	BatchScheduler string `json:"batchScheduler,omitempty"`
	// +optional
	BatchSchedulerOptions *BatchSchedulerConfiguration `json:"batchSchedulerOptions,omitempty"`
	// TimeToLiveSeconds is the time after the end of the application at which it is deleted; zero or less is at once.
	// +optional
	TimeToLiveSeconds *int64 `json:"timeToLiveSeconds,omitempty"`
	// +optional
	SparkUIOptions *SparkUIConfiguration `json:"sparkUIOptions,omitempty"`
	// DriverIngressOptions are Services, each with an Ingress, for further ports of the driver.
	// +optional
	// +listType=map
	// +listMapKey=servicePort
	DriverIngressOptions []DriverIngressConfiguration `json:"driverIngressOptions,omitempty"`
	// +optional
	DynamicAllocation *DynamicAllocation `json:"dynamicAllocation,omitempty"`
	// DriverPodDisruptionBudget protects the driver from evictions, where the operator's settings allow it.
	// +optional
	DriverPodDisruptionBudget *bool `json:"driverPodDisruptionBudget,omitempty"`
}

// Dependencies are what an application needs beside its main resource.
type Dependencies struct {
	// +optional
	Jars []string `json:"jars,omitempty"`
	// +optional
	Files []string `json:"files,omitempty"`
	// +optional
	PyFiles []string `json:"pyFiles,omitempty"`
	// Packages are Maven coordinates, groupId:artifactId:version.
	// +optional
	Packages []string `json:"packages,omitempty"`
	// ExcludePackages are groupId:artifactId.
	// +optional
	ExcludePackages []string `json:"excludePackages,omitempty"`
	// Repositories are searched for the packages.
	// +optional
	Repositories []string `json:"repositories,omitempty"`
	// +optional
	Archives []string `json:"archives,omitempty"`
	// JarsDownloadDir said where the init container of Spark 2.3 put jars. It has no effect.
	// +optional
	JarsDownloadDir string `json:"jarsDownloadDir,omitempty"`
	// FilesDownloadDir said where the init container of Spark 2.3 put files. It has no effect.
	// +optional
	FilesDownloadDir string `json:"filesDownloadDir,omitempty"`
	// DownloadTimeout is the time, in seconds, that the init container of Spark 2.3 had. It has no effect.
	// +optional
	DownloadTimeout *int32 `json:"downloadTimeout,omitempty"`
	// MaxSimultaneousDownloads was the number of downloads of the init container of Spark 2.3. It has no effect.
	// +optional
	MaxSimultaneousDownloads *int32 `json:"maxSimultaneousDownloads,omitempty"`
}

// RestartPolicyType says after which ends of a run another is started.
//
// +kubebuilder:validation:Enum=Never;Always;OnFailure
type RestartPolicyType string

// The restart policies.
const (
	RestartNever     RestartPolicyType = "Never"
	RestartAlways    RestartPolicyType = "Always"
	RestartOnFailure RestartPolicyType = "OnFailure"
)

// RestartPolicy says when and how often an application is submitted again.
type RestartPolicy struct {
	// Type is Never where unset.
	// +optional
	Type RestartPolicyType `json:"type,omitempty"`
	// OnSubmissionFailureRetries is 0 where unset.
	// +optional
	// +kubebuilder:validation:Minimum=0
	OnSubmissionFailureRetries *int32 `json:"onSubmissionFailureRetries,omitempty"`
	// OnFailureRetries is 0 where unset.
	// +optional
	// +kubebuilder:validation:Minimum=0
	OnFailureRetries *int32 `json:"onFailureRetries,omitempty"`
	// OnSubmissionFailureRetryInterval is in seconds, and 5 where unset. The wait grows with the number of the attempt.
	// +optional
	// +kubebuilder:validation:Minimum=1
	OnSubmissionFailureRetryInterval *int64 `json:"onSubmissionFailureRetryInterval,omitempty"`
	// OnFailureRetryInterval is in seconds, and 5 where unset. The wait grows with the number of the attempt.
	// +optional
	// +kubebuilder:validation:Minimum=1
	OnFailureRetryInterval *int64 `json:"onFailureRetryInterval,omitempty"`
}

// BatchSchedulerConfiguration is what a batch scheduler is told.
type BatchSchedulerConfiguration struct {
	// +optional
	Queue string `json:"queue,omitempty"`
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// Resources are what the application needs at least to begin; unset, what its driver and executors ask for.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`
}

// SparkUIConfiguration says how Spark's UI is reached.
type SparkUIConfiguration struct {
	// ServicePort is 4040 where unset.
	// +optional
	ServicePort *int32 `json:"servicePort,omitempty"`
	// ServicePortName is spark-driver-ui-port where unset.
	// +optional
	ServicePortName string `json:"servicePortName,omitempty"`
	// ServiceType is ClusterIP where unset.
	// +optional
	ServiceType corev1.ServiceType `json:"serviceType,omitempty"`
	// +optional
	ServiceAnnotations map[string]string `json:"serviceAnnotations,omitempty"`
	// ServiceLabels replace the labels that the Service has otherwise.
	// +optional
	ServiceLabels map[string]string `json:"serviceLabels,omitempty"`
	// IngressAnnotations replace those of the operator's settings.
	// +optional
	IngressAnnotations map[string]string `json:"ingressAnnotations,omitempty"`
	// IngressTLS replaces that of the operator's settings.
	// +optional
	IngressTLS []networkingv1.IngressTLS `json:"ingressTLS,omitempty"`
}

// DriverIngressConfiguration is a Service for a port of the driver and an Ingress in front of that.
type DriverIngressConfiguration struct {
	// ServicePort is the port of the Service and of the driver.
	ServicePort int32 `json:"servicePort"`
	// ServicePortName is driver-ing-<servicePort> where unset.
	// +optional
	ServicePortName string `json:"servicePortName,omitempty"`
	// ServiceType is ClusterIP where unset.
	// +optional
	ServiceType corev1.ServiceType `json:"serviceType,omitempty"`
	// +optional
	ServiceAnnotations map[string]string `json:"serviceAnnotations,omitempty"`
	// ServiceLabels replace the labels that the Service has otherwise.
	// +optional
	ServiceLabels map[string]string `json:"serviceLabels,omitempty"`
	// IngressURLFormat is the Ingress's host and path, in which {{$appName}}, {{$appNamespace}} and {{$appId}} are filled in.
	// +kubebuilder:validation:MinLength=1
	IngressURLFormat string `json:"ingressURLFormat"`
	// IngressAnnotations replace those of the operator's settings.
	// +optional
	IngressAnnotations map[string]string `json:"ingressAnnotations,omitempty"`
	// IngressTLS replaces that of the operator's settings.
	// +optional
	IngressTLS []networkingv1.IngressTLS `json:"ingressTLS,omitempty"`
}

// SparkPodSpec is what the pods of driver and executors have alike.
type SparkPodSpec struct {
	// Template is merged under what Spark sets. Any part of it may be absent.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *corev1.PodTemplateSpec `json:"template,omitempty"`
	// Cores is spark.driver.cores or spark.executor.cores. Below one, it is what the pod requests.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=number
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:ExclusiveMinimum=true
	// +kubebuilder:validation:Maximum=2147483647
	Cores *float64 `json:"cores,omitempty"`
	// CoreLimit is the container's limit of CPU, as a quantity.
	// +optional
	CoreLimit string `json:"coreLimit,omitempty"`
	// Memory is the size of the heap, in Spark's and Java's units, such as 512m.
	// +optional
	Memory string `json:"memory,omitempty"`
	// MemoryOverhead is added for what is not on the heap, in MiB without a unit.
	// +optional
	MemoryOverhead string `json:"memoryOverhead,omitempty"`
	// MemoryLimit is the container's limit of memory.
	// +optional
	MemoryLimit string `json:"memoryLimit,omitempty"`
	// +optional
	GPU *GPUSpec `json:"gpu,omitempty"`
	// Image wins over the application's.
	// +optional
	Image string `json:"image,omitempty"`
	// ConfigMaps are mounted.
	// +optional
	ConfigMaps []NamePath `json:"configMaps,omitempty"`
	// Secrets are mounted.
	// +optional
	Secrets []SecretInfo `json:"secrets,omitempty"`
	// +optional
	Env []corev1.EnvVar `json:"env,omitempty"`
	// EnvVars is deprecated: see env.
	// +optional
	EnvVars map[string]string `json:"envVars,omitempty"`
	// +optional
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`
	// EnvSecretKeyRefs is deprecated: see env.
	// +optional
	EnvSecretKeyRefs map[string]NameKey `json:"envSecretKeyRefs,omitempty"`
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// VolumeMounts name volumes of the application.
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// +optional
	PodSecurityContext *corev1.PodSecurityContext `json:"podSecurityContext,omitempty"`
	// SecurityContext is the main container's.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
	// SchedulerName is the application's batchScheduler where that is set.
	// +optional
	SchedulerName string `json:"schedulerName,omitempty"`
	// +optional
	Sidecars []corev1.Container `json:"sidecars,omitempty"`
	// +optional
	InitContainers []corev1.Container `json:"initContainers,omitempty"`
	// +optional
	HostNetwork *bool `json:"hostNetwork,omitempty"`
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// +optional
	DNSConfig *corev1.PodDNSConfig `json:"dnsConfig,omitempty"`
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
	// +optional
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// +optional
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty"`
	// +optional
	ShareProcessNamespace *bool `json:"shareProcessNamespace,omitempty"`
	// +optional
	RuntimeClassName string `json:"runtimeClassName,omitempty"`
	// CoreRequest is the container's request of CPU, as a quantity.
	// +optional
	CoreRequest string `json:"coreRequest,omitempty"`
	// JavaOptions are spark.driver.extraJavaOptions or spark.executor.extraJavaOptions.
	// +optional
	JavaOptions string `json:"javaOptions,omitempty"`
	// Lifecycle is the main container's.
	// +optional
	Lifecycle *corev1.Lifecycle `json:"lifecycle,omitempty"`
	// Ports are the main container's, besides Spark's own.
	// +optional
	Ports []Port `json:"ports,omitempty"`
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// DriverSpec is the driver.
type DriverSpec struct {
	SparkPodSpec `json:",inline"`

	// PodName is <application>-driver where unset.
	// +optional
	// +kubebuilder:validation:Pattern=`[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*`
	PodName string `json:"podName,omitempty"`
	// KubernetesMaster is the URL of the API server that the driver uses.
	// +optional
	KubernetesMaster string `json:"kubernetesMaster,omitempty"`
	// ServiceAnnotations are of the headless Service by which executors reach the driver.
	// +optional
	ServiceAnnotations map[string]string `json:"serviceAnnotations,omitempty"`
	// ServiceLabels are of the headless Service by which executors reach the driver.
	// +optional
	ServiceLabels map[string]string `json:"serviceLabels,omitempty"`
}

// ExecutorSpec is each executor.
type ExecutorSpec struct {
	SparkPodSpec `json:",inline"`

	// Instances is the number of executors, 1 where unset.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Instances *int32 `json:"instances,omitempty"`
	// DeleteOnTermination is spark.kubernetes.executor.deleteOnTermination.
	// +optional
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty"`
}

// NamePath is a config map and the path that it is mounted at.
type NamePath struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// SecretType says which environment variable leads to a secret.
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

// SecretInfo is a secret and the path that it is mounted at.
type SecretInfo struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// Type is Generic where unset.
	// +optional
	Type SecretType `json:"secretType,omitempty"`
}

// NameKey is a secret and a key in it.
type NameKey struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Port is a port of a container.
type Port struct {
	// +optional
	Name string `json:"name,omitempty"`
	// Protocol is TCP where unset.
	// +optional
	Protocol      string `json:"protocol,omitempty"`
	ContainerPort int32  `json:"containerPort"`
}

// GPUSpec is a resource of devices and how many of them a pod gets.
type GPUSpec struct {
	// Name is one such as nvidia.com/gpu.
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Quantity int64 `json:"quantity,omitempty"`
}

// MonitoringSpec says how Spark's metrics are exposed.
type MonitoringSpec struct {
	// +optional
	ExposeDriverMetrics bool `json:"exposeDriverMetrics"`
	// +optional
	ExposeExecutorMetrics bool `json:"exposeExecutorMetrics"`
	// MetricsProperties is the content of Spark's metrics.properties.
	// +optional
	MetricsProperties string `json:"metricsProperties,omitempty"`
	// MetricsPropertiesFile is the path of such a file in the image. It wins over metricsProperties.
	// +optional
	MetricsPropertiesFile string `json:"metricsPropertiesFile,omitempty"`
	// +optional
	Prometheus *PrometheusSpec `json:"prometheus,omitempty"`
}

// PrometheusSpec has Prometheus' JMX exporter run as a Java agent.
type PrometheusSpec struct {
	// JmxExporterJar is the path of the exporter's jar in the image.
	JmxExporterJar string `json:"jmxExporterJar"`
	// Port is 8090 where unset.
	// +optional
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=49151
	Port *int32 `json:"port,omitempty"`
	// PortName is jmx-exporter where unset.
	// +optional
	PortName string `json:"portName,omitempty"`
	// ConfigFile is the path of the exporter's configuration in the image. It wins over configuration.
	// +optional
	ConfigFile string `json:"configFile,omitempty"`
	// Configuration is the content of the exporter's configuration.
	// +optional
	Configuration string `json:"configuration,omitempty"`
}

// DynamicAllocation has Spark change the number of executors.
type DynamicAllocation struct {
	// +optional
	Enabled bool `json:"enabled,omitempty"`
	// InitialExecutors is the executors' instances where those are more.
	// +optional
	InitialExecutors *int32 `json:"initialExecutors,omitempty"`
	// +optional
	MinExecutors *int32 `json:"minExecutors,omitempty"`
	// +optional
	MaxExecutors *int32 `json:"maxExecutors,omitempty"`
	// ShuffleTrackingEnabled is true where unset.
	// +optional
	ShuffleTrackingEnabled *bool `json:"shuffleTrackingEnabled,omitempty"`
	// ShuffleTrackingTimeout is in milliseconds.
	// +optional
	ShuffleTrackingTimeout *int64 `json:"shuffleTrackingTimeout,omitempty"`
}

// SparkApplicationStatus is what the Kubeflow operator's clients read, and Firesteel's record beside it. What nobody writes
// by parts is atomic: the API server would note who wrote each of its fields, in every object, and compare them with each
// write.
type SparkApplicationStatus struct {
	// SparkApplicationID is Spark's own id of the application.
	// +optional
	SparkApplicationID string `json:"sparkApplicationId,omitempty"`
	// SubmissionID is the id of the last submission.
	// +optional
	SubmissionID string `json:"submissionID,omitempty"`
	// +optional
	// +nullable
	LastSubmissionAttemptTime metav1.Time `json:"lastSubmissionAttemptTime,omitempty"`
	// +optional
	// +nullable
	TerminationTime metav1.Time `json:"terminationTime,omitempty"`
	// +optional
	DriverInfo DriverInfo `json:"driverInfo"`
	// +optional
	AppState ApplicationState `json:"applicationState,omitempty"`
	// ExecutorState holds the executors' states by the names of their pods.
	// +optional
	// +mapType=atomic
	ExecutorState map[string]ExecutorState `json:"executorState,omitempty"`
	// ExecutionAttempts counts the submissions that succeeded.
	// +optional
	ExecutionAttempts int32 `json:"executionAttempts,omitempty"`
	// SubmissionAttempts counts all submissions.
	// +optional
	SubmissionAttempts int32 `json:"submissionAttempts,omitempty"`
	// ObservedGeneration is the generation of the spec that the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Firesteel is the record from which the fields above are projected.
	// +optional
	// +structType=atomic
	Firesteel *firesteelv1alpha1.Record `json:"firesteel,omitempty"`
}

// ApplicationState is the application's state, and what went wrong.
type ApplicationState struct {
	// State is absent while it is the one of a new application. Airflow takes any text that it does not know, the empty
	// one too, for the state of a driver that runs.
	// +optional
	State ApplicationStateType `json:"state,omitempty"`
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

// DriverInfo says where the driver and its UI are.
type DriverInfo struct {
	// +optional
	WebUIServiceName string `json:"webUIServiceName,omitempty"`
	// WebUIAddress is the Service's <IP>:<port>.
	// +optional
	WebUIAddress string `json:"webUIAddress,omitempty"`
	// +optional
	WebUIPort int32 `json:"webUIPort,omitempty"`
	// +optional
	WebUIIngressName string `json:"webUIIngressName,omitempty"`
	// +optional
	WebUIIngressAddress string `json:"webUIIngressAddress,omitempty"`
	// +optional
	PodName string `json:"podName,omitempty"`
}
