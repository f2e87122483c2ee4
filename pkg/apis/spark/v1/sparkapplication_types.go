package v1

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// SparkApplication is one Spark application: a driver and its executors, run to their end.
//
// +genclient
// +genreconciler:krshapedlogic=false
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=sparkapp
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Current State",type=string,JSONPath=`.status.currentState.currentStateSummary`
// +kubebuilder:printcolumn:name="Succeeded",type=string,JSONPath=`.status.conditions[?(@.type=="Succeeded")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Succeeded")].reason`
// +kubebuilder:printcolumn:name="Attempt",type=integer,JSONPath=`.status.currentAttemptSummary.attemptInfo.id`
// +kubebuilder:printcolumn:name="Driver",type=string,JSONPath=`.status.firesteel.launch.driverPod`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Succeeded")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type SparkApplication struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what to run and how.
	Spec ApplicationSpec `json:"spec"`
	// status is what happened so far. Firesteel writes it.
	// +optional
	Status ApplicationStatus `json:"status,omitempty"`

	// Undecodable is the reason why the rest of the object could not be decoded; empty if it could. Only the
	// metadata of such an object is set. See UnmarshalJSON.
	Undecodable string `json:"-"`
	// UnknownFields are messages about fields of the spec that this type does not have. The API server prunes those outside
	// embedded pod templates, so these are typing errors or newer fields inside them.
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

// DeploymentMode is where the driver runs.
//
// +kubebuilder:validation:Enum=ClusterMode;ClientMode
type DeploymentMode string

const (
	// ClusterMode runs the driver in a Pod.
	ClusterMode DeploymentMode = "ClusterMode"
	// ClientMode is not supported: an application with it fails.
	ClientMode DeploymentMode = "ClientMode"
)

// ApplicationSpec is what to run and how.
type ApplicationSpec struct {
	// What the API server checks beyond the types of the fields is in hack/codegen/rules.go.

	// runtimeVersions are the versions that the application runs on.
	RuntimeVersions RuntimeVersions `json:"runtimeVersions"`
	// mainClass is the class that the driver runs, spark-submit's --class. Python and R applications need none. Several pyFiles
	// need org.apache.spark.deploy.PythonRunner: the first file is run, and the others are its modules.
	// +optional
	MainClass string `json:"mainClass,omitempty"`
	// jars is the main resource of a Java or Scala application: URIs separated by commas. It is also spark.jars if that property
	// is not set. If it is set, pyFiles and sparkRFiles are not what runs.
	// +optional
	Jars string `json:"jars,omitempty"`
	// pyFiles is the main resource of a Python application: one URI, or several separated by commas, see mainClass. It is also
	// spark.submit.pyFiles.
	// +optional
	PyFiles string `json:"pyFiles,omitempty"`
	// sparkRFiles is the main resource of an R application: one URI.
	// +optional
	SparkRFiles string `json:"sparkRFiles,omitempty"`
	// files are copied into the working directories of driver and executors: URIs separated by commas. It is spark.files if that
	// property is not set.
	// +optional
	Files string `json:"files,omitempty"`
	// deploymentMode is where the driver runs. Default: ClusterMode. An application with ClientMode fails.
	// +optional
	DeploymentMode DeploymentMode `json:"deploymentMode,omitempty"`
	// proxyUser is the Hadoop user that the application acts as, spark-submit's --proxy-user.
	// +optional
	ProxyUser string `json:"proxyUser,omitempty"`
	// driverArgs are the arguments of the application.
	// +optional
	DriverArgs []string `json:"driverArgs,omitempty"`
	// sparkConf are Spark properties. Values are strings: write numbers in quotes. The condition Warning names properties that
	// have no effect, since the operator sets them, such as spark.kubernetes.namespace.
	// +optional
	SparkConf map[string]string `json:"sparkConf,omitempty"`
	// driverSpec describes the driver Pod.
	// +optional
	DriverSpec *PodSpecTemplate `json:"driverSpec,omitempty"`
	// executorSpec describes the executor Pods.
	// +optional
	ExecutorSpec *PodSpecTemplate `json:"executorSpec,omitempty"`
	// driverServiceIngressList are Services for ports of the driver, each with an Ingress. They are deleted with the driver Pod.
	// +optional
	DriverServiceIngressList []DriverServiceIngress `json:"driverServiceIngressList,omitempty"`
	// driverHttpRouteList are Services for ports of the driver, each with an HTTPRoute. They are deleted with the driver Pod.
	// Without the Gateway API in the cluster the application runs without the routes, and the condition Warning says so.
	// +optional
	DriverHTTPRouteList []DriverHTTPRoute `json:"driverHttpRouteList,omitempty"`
	// driverGrpcRouteList are Services for ports of the driver, each with a GRPCRoute. They are deleted with the driver Pod.
	// Without the Gateway API in the cluster the application runs without the routes, and the condition Warning says so.
	// +optional
	DriverGRPCRouteList []DriverGRPCRoute `json:"driverGrpcRouteList,omitempty"`
	// configMapSpecs are ConfigMaps that are created before the driver Pod. The application owns them. Mount them by the Pod
	// templates.
	// +optional
	ConfigMapSpecs []ConfigMapSpec `json:"configMapSpecs,omitempty"`
	// applicationTolerations are restarts, timeouts and retention. The ConfigMap config-defaults can set defaults other than
	// those below. An edit takes effect at once.
	// +optional
	ApplicationTolerations *ApplicationTolerations `json:"applicationTolerations,omitempty"`
	// suspend holds the next launch while it is true. Default: false. It does nothing to a driver that runs.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// RuntimeVersions are the versions that an application or a cluster runs on.
type RuntimeVersions struct {
	// sparkVersion is the version of Spark in the image, such as 4.1.0. It becomes the label spark-version and replaces
	// {{SPARK_VERSION}} in image names. It decides how an application is submitted.
	// +kubebuilder:validation:MaxLength=63
	SparkVersion string `json:"sparkVersion"`
	// scalaVersion is the version of Scala in the image. It has no effect.
	// +optional
	ScalaVersion string `json:"scalaVersion,omitempty"`
	// jdkVersion is the version of Java in the image. It has no effect.
	// +optional
	JDKVersion string `json:"jdkVersion,omitempty"`
}

// PodSpecTemplate holds the Pod template of the driver or of the executors.
type PodSpecTemplate struct {
	// podTemplateSpec is the Pod template that Spark begins with: Spark writes its own values over it. Any part of it may be
	// absent. It is used in place of a template that spark.kubernetes.{driver,executor}.podTemplateFile names.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	PodTemplateSpec *corev1.PodTemplateSpec `json:"podTemplateSpec,omitempty"`
}

// DriverServiceIngress is a Service for ports of the driver, and an Ingress that leads to it.
type DriverServiceIngress struct {
	// serviceMetadata is the metadata of the Service. Its name is required.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceMetadata metav1.ObjectMeta `json:"serviceMetadata"`
	// serviceSpec is the spec of the Service. Without a selector it selects the driver Pod.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceSpec corev1.ServiceSpec `json:"serviceSpec"`
	// ingressMetadata is the metadata of the Ingress. Its name is required.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	IngressMetadata metav1.ObjectMeta `json:"ingressMetadata"`
	// ingressSpec is the spec of the Ingress. Without rules it leads every path to the first port of the Service.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	IngressSpec *networkingv1.IngressSpec `json:"ingressSpec,omitempty"`
}

// DriverHTTPRoute is a Service for ports of the driver, and an HTTPRoute of the Gateway API that leads to it.
type DriverHTTPRoute struct {
	// serviceMetadata is the metadata of the Service. Its name is required.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceMetadata metav1.ObjectMeta `json:"serviceMetadata"`
	// serviceSpec is the spec of the Service. Without a selector it selects the driver Pod.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceSpec corev1.ServiceSpec `json:"serviceSpec"`
	// httpRouteMetadata is the metadata of the HTTPRoute. Its name is required.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	HTTPRouteMetadata metav1.ObjectMeta `json:"httpRouteMetadata"`
	// httpRouteSpec is the spec of the HTTPRoute. It must name a Gateway in parentRefs. Without rules it leads every path to the
	// first port of the Service.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	HTTPRouteSpec *runtime.RawExtension `json:"httpRouteSpec,omitempty"`
}

// DriverGRPCRoute is a Service for ports of the driver, and a GRPCRoute of the Gateway API that leads to it.
type DriverGRPCRoute struct {
	// serviceMetadata is the metadata of the Service. Its name is required.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceMetadata metav1.ObjectMeta `json:"serviceMetadata"`
	// serviceSpec is the spec of the Service. Without a selector it selects the driver Pod.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceSpec corev1.ServiceSpec `json:"serviceSpec"`
	// grpcRouteMetadata is the metadata of the GRPCRoute. Its name is required.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	GRPCRouteMetadata metav1.ObjectMeta `json:"grpcRouteMetadata"`
	// grpcRouteSpec is the spec of the GRPCRoute. It must name a Gateway in parentRefs. Without rules it leads every call to the
	// first port of the Service.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	GRPCRouteSpec *runtime.RawExtension `json:"grpcRouteSpec,omitempty"`
}

// ConfigMapSpec is a ConfigMap that is created before the driver Pod.
type ConfigMapSpec struct {
	// name is the name of the ConfigMap. If two have the same name, the last one is created, and the condition Warning says so.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// labels are the labels of the ConfigMap.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// annotations are the annotations of the ConfigMap.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// data is the data of the ConfigMap.
	// +optional
	Data map[string]string `json:"data,omitempty"`
}

// ApplicationTolerations are the restarts, timeouts and retention of an application.
type ApplicationTolerations struct {
	// restartConfig is when and how often the application is restarted.
	// +optional
	RestartConfig *RestartConfig `json:"restartConfig,omitempty"`
	// applicationTimeoutConfig limits how long an attempt may wait.
	// +optional
	ApplicationTimeoutConfig *ApplicationTimeoutConfig `json:"applicationTimeoutConfig,omitempty"`
	// instanceConfig is how many ready executors make the application healthy. It does not set the number of executors:
	// spark.executor.instances does.
	// +optional
	InstanceConfig *ExecutorInstanceConfig `json:"instanceConfig,omitempty"`
	// resourceRetainPolicy is after which end of the application the driver Pod, and what it owns, is kept. Default: Never. If
	// attempts are restarted, it applies to the last one.
	// +optional
	ResourceRetainPolicy RetainPolicy `json:"resourceRetainPolicy,omitempty"`
	// resourceRetentionPolicy is an older spelling of resourceRetainPolicy, which wins if both are set.
	// +optional
	ResourceRetentionPolicy RetainPolicy `json:"resourceRetentionPolicy,omitempty"`
	// resourceRetainDurationMillis is how long resourceRetainPolicy keeps resources. Default: -1, no limit. Unit: milliseconds.
	// A shorter ttlAfterStopMillis ends the retention earlier.
	// +optional
	// +kubebuilder:default=-1
	ResourceRetainDurationMillis *int64 `json:"resourceRetainDurationMillis,omitempty"`
	// ttlAfterStopMillis is how long after its end the application is deleted. Default: -1, never. Unit: milliseconds.
	// +optional
	// +kubebuilder:default=-1
	TTLAfterStopMillis *int64 `json:"ttlAfterStopMillis,omitempty"`
}

// RestartPolicy is after which ends of an attempt another one is started.
//
// +kubebuilder:validation:Enum=Always;Never;OnFailure;OnInfrastructureFailure
type RestartPolicy string

const (
	// RestartAlways restarts after every end, success too.
	RestartAlways RestartPolicy = "Always"
	// RestartNever restarts never.
	RestartNever RestartPolicy = "Never"
	// RestartOnFailure restarts after every failure.
	RestartOnFailure RestartPolicy = "OnFailure"
	// RestartOnInfrastructureFailure restarts after DriverStartTimedOut, ExecutorsStartTimedOut and SchedulingFailure.
	RestartOnInfrastructureFailure RestartPolicy = "OnInfrastructureFailure"
)

// RestartConfig is when and how often an application is restarted.
type RestartConfig struct {
	// restartPolicy is after which ends of an attempt another one is started. Default: Never. OnInfrastructureFailure is after
	// DriverStartTimedOut, ExecutorsStartTimedOut and SchedulingFailure. Always is after success, too.
	// +optional
	RestartPolicy RestartPolicy `json:"restartPolicy,omitempty"`
	// maxRestartAttempts is how many restarts there may be: 3 allows four attempts. Default: 3.
	// +optional
	MaxRestartAttempts *int64 `json:"maxRestartAttempts,omitempty"`
	// restartBackoffMillis is how long to wait before a restart. Default: 30000. Unit: milliseconds.
	// +optional
	RestartBackoffMillis *int64 `json:"restartBackoffMillis,omitempty"`
	// restartCounterResetMillis is how long an attempt must last to set the counters of all limits back. Default: -1, never.
	// Unit: milliseconds. With 0 every attempt does.
	// +optional
	// +kubebuilder:default=-1
	RestartCounterResetMillis *int64 `json:"restartCounterResetMillis,omitempty"`
	// maxRestartOnFailure is how many restarts may follow consecutive failures. Default: no limit but maxRestartAttempts.
	// +optional
	MaxRestartOnFailure *int64 `json:"maxRestartOnFailure,omitempty"`
	// restartBackoffMillisForFailure is how long to wait before a restart after a failure. Default: restartBackoffMillis. Unit:
	// milliseconds.
	// +optional
	RestartBackoffMillisForFailure *int64 `json:"restartBackoffMillisForFailure,omitempty"`
	// maxRestartOnSchedulingFailure is how many restarts may follow consecutive ends as SchedulingFailure.
	// Default: maxRestartOnFailure.
	// +optional
	MaxRestartOnSchedulingFailure *int64 `json:"maxRestartOnSchedulingFailure,omitempty"`
	// restartBackoffMillisForSchedulingFailure is how long to wait before a restart after SchedulingFailure. Default:
	// restartBackoffMillisForFailure. Unit: milliseconds.
	// +optional
	RestartBackoffMillisForSchedulingFailure *int64 `json:"restartBackoffMillisForSchedulingFailure,omitempty"`
}

// ApplicationTimeoutConfig limits how long an attempt may wait. Zero or less is no limit.
type ApplicationTimeoutConfig struct {
	// driverStartTimeoutMillis is how long the driver may take to start, from the creation of its Pod. Default: 300000. Unit:
	// milliseconds. Zero or less is no limit. Later the attempt ends as DriverStartTimedOut.
	// +optional
	DriverStartTimeoutMillis *int64 `json:"driverStartTimeoutMillis,omitempty"`
	// driverReadyTimeoutMillis is how long the driver may take from its start until its Pod is ready. Default: 300000. Unit:
	// milliseconds. Zero or less is no limit. Later the attempt ends as DriverReadyTimedOut.
	// +optional
	DriverReadyTimeoutMillis *int64 `json:"driverReadyTimeoutMillis,omitempty"`
	// executorStartTimeoutMillis is how long initExecutors executors may take to be ready, and once more from the first one on.
	// Default: 300000. Unit: milliseconds. Zero or less is no limit. Later the attempt ends as ExecutorsStartTimedOut.
	// +optional
	ExecutorStartTimeoutMillis *int64 `json:"executorStartTimeoutMillis,omitempty"`
	// forceTerminationGracePeriodMillis is how long a deleted driver Pod may take to go. Default: 300000. Unit: milliseconds.
	// Zero or less is no limit. Later it is deleted by force, but never within the Pod's own grace period.
	// +optional
	ForceTerminationGracePeriodMillis *int64 `json:"forceTerminationGracePeriodMillis,omitempty"`
	// terminationRequeuePeriodMillis is how often the Apache operator looks at a driver that is deleted. It has no effect:
	// Firesteel watches the Pod.
	// +optional
	TerminationRequeuePeriodMillis *int64 `json:"terminationRequeuePeriodMillis,omitempty"`
}

// ExecutorInstanceConfig is how many ready executors make an application healthy.
type ExecutorInstanceConfig struct {
	// initExecutors is how many executors must be ready before the application is RunningHealthy for the first time. Default:
	// 0. With 0 none are waited for, and the other fields have no effect.
	// +optional
	InitExecutors int32 `json:"initExecutors,omitempty"`
	// minExecutors is how many executors keep the application healthy. Default: 0. With fewer it is
	// RunningWithBelowThresholdExecutors, and goes on.
	// +optional
	MinExecutors int32 `json:"minExecutors,omitempty"`
	// maxExecutors is how many executors are full capacity. Default: 0, not checked. With fewer, and without dynamic
	// allocation, the application is RunningWithPartialCapacity, and goes on.
	// +optional
	MaxExecutors int32 `json:"maxExecutors,omitempty"`
}

// RetainPolicy is after which end of the application its driver Pod is kept.
//
// +kubebuilder:validation:Enum=Always;OnFailure;Never
type RetainPolicy string

const (
	// RetainAlways keeps it after every end.
	RetainAlways RetainPolicy = "Always"
	// RetainOnFailure keeps it after a failure.
	RetainOnFailure RetainPolicy = "OnFailure"
	// RetainNever deletes it.
	RetainNever RetainPolicy = "Never"
)

// ApplicationStatus is what the Apache operator's clients read, with Firesteel's record beside it.
type ApplicationStatus struct {
	// What no controller writes by parts is atomic. Otherwise the API server would store, in every object, who wrote each field,
	// and compare that on each write.

	// currentState is the state now.
	// +optional
	CurrentState *ApplicationState `json:"currentState,omitempty"`
	// stateTransitionHistory are the states of the current attempt. The keys are numbers that count up over all attempts.
	// +optional
	// +mapType=atomic
	StateTransitionHistory map[string]ApplicationState `json:"stateTransitionHistory,omitempty"`
	// currentAttemptSummary is the attempt that runs, or ran last.
	// +optional
	// +structType=atomic
	CurrentAttemptSummary *AttemptSummary `json:"currentAttemptSummary,omitempty"`
	// previousAttemptSummary is the attempt before, with its states.
	// +optional
	// +structType=atomic
	PreviousAttemptSummary *AttemptSummary `json:"previousAttemptSummary,omitempty"`
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

// ApplicationState is a state and when it began.
type ApplicationState struct {
	// currentStateSummary is the name of the state: Submitted, DriverRequested, DriverStarted, DriverReady, RunningHealthy,
	// Succeeded, Failed, ResourceReleased and others.
	// +optional
	CurrentStateSummary string `json:"currentStateSummary"`
	// lastTransitionTime is when the state began: RFC 3339 in UTC.
	// +optional
	LastTransitionTime string `json:"lastTransitionTime,omitempty"`
	// message explains the state to people.
	// +optional
	Message string `json:"message,omitempty"`
	// lastObservedDriverStatus is the status of the driver Pod at the end of the attempt.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	LastObservedDriverStatus *corev1.PodStatus `json:"lastObservedDriverStatus,omitempty"`
}

// AttemptSummary is an attempt and its states.
type AttemptSummary struct {
	// attemptInfo are the number of the attempt and its restart counters.
	// +optional
	AttemptInfo *AttemptInfo `json:"attemptInfo,omitempty"`
	// stateTransitionHistory are the states of the attempt, of a previous attempt only.
	// +optional
	// +mapType=atomic
	StateTransitionHistory map[string]ApplicationState `json:"stateTransitionHistory,omitempty"`
}

// AttemptInfo is the number of an attempt and the counters that the limits of restarts are compared with.
type AttemptInfo struct {
	// id is the number of the attempt, from 0.
	// +optional
	ID int64 `json:"id"`
	// restartCounter is how many restarts there were, up to this attempt, since the counters were last set back.
	// +optional
	RestartCounter int64 `json:"restartCounter"`
	// failureRestartCounter is how many of the last restarts followed consecutive failures.
	// +optional
	FailureRestartCounter int64 `json:"failureRestartCounter"`
	// schedulingFailureRestartCounter is how many of the last restarts followed consecutive ends as SchedulingFailure.
	// +optional
	SchedulingFailureRestartCounter int64 `json:"schedulingFailureRestartCounter"`
}
