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

	Spec ApplicationSpec `json:"spec"`
	// +optional
	Status ApplicationStatus `json:"status,omitempty"`

	// Undecodable says why the rest of the object could not be decoded; empty where it could. Only the
	// metadata of such an object is set. See UnmarshalJSON.
	Undecodable string `json:"-"`
	// UnknownFields tell of the fields that the spec has and this type has not. The API server prunes those outside
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

// DeploymentMode says where the driver runs.
//
// +kubebuilder:validation:Enum=ClusterMode;ClientMode
type DeploymentMode string

// The deployment modes. ClientMode exists in the API only; applications with it fail.
const (
	ClusterMode DeploymentMode = "ClusterMode"
	ClientMode  DeploymentMode = "ClientMode"
)

// ApplicationSpec is what the user wants to run. What the API server checks beyond the types of the fields is in
// hack/codegen/rules.go.
type ApplicationSpec struct {
	RuntimeVersions RuntimeVersions `json:"runtimeVersions"`
	// MainClass is the driver's main class, spark-submit's --class.
	// +optional
	MainClass string `json:"mainClass,omitempty"`
	// Jars is the comma-separated list of jars; the main resource of a Java or Scala application.
	// +optional
	Jars string `json:"jars,omitempty"`
	// PyFiles is the comma-separated list of Python files; the main resource where no jar is given.
	// +optional
	PyFiles string `json:"pyFiles,omitempty"`
	// SparkRFiles is the main resource of an R application.
	// +optional
	SparkRFiles string `json:"sparkRFiles,omitempty"`
	// Files is the comma-separated list of files for the working directory of driver and executors (spark.files).
	// +optional
	Files string `json:"files,omitempty"`
	// DeploymentMode is ClusterMode where unset.
	// +optional
	DeploymentMode DeploymentMode `json:"deploymentMode,omitempty"`
	// ProxyUser is spark-submit's --proxy-user.
	// +optional
	ProxyUser string `json:"proxyUser,omitempty"`
	// DriverArgs are the application's arguments.
	// +optional
	DriverArgs []string `json:"driverArgs,omitempty"`
	// SparkConf holds Spark properties.
	// +optional
	SparkConf map[string]string `json:"sparkConf,omitempty"`
	// +optional
	DriverSpec *PodSpecTemplate `json:"driverSpec,omitempty"`
	// +optional
	ExecutorSpec *PodSpecTemplate `json:"executorSpec,omitempty"`
	// +optional
	DriverServiceIngressList []DriverServiceIngress `json:"driverServiceIngressList,omitempty"`
	// +optional
	DriverHTTPRouteList []DriverHTTPRoute `json:"driverHttpRouteList,omitempty"`
	// +optional
	DriverGRPCRouteList []DriverGRPCRoute `json:"driverGrpcRouteList,omitempty"`
	// ConfigMapSpecs are config maps that exist before the driver starts.
	// +optional
	ConfigMapSpecs []ConfigMapSpec `json:"configMapSpecs,omitempty"`
	// +optional
	ApplicationTolerations *ApplicationTolerations `json:"applicationTolerations,omitempty"`
	// Suspend holds the launch of the next attempt; it does nothing to a running one.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// RuntimeVersions names the versions that the application runs on.
type RuntimeVersions struct {
	// SparkVersion becomes the label spark-version and replaces {{SPARK_VERSION}} in image names.
	// +kubebuilder:validation:MaxLength=63
	SparkVersion string `json:"sparkVersion"`
	// ScalaVersion is informational.
	// +optional
	ScalaVersion string `json:"scalaVersion,omitempty"`
	// JDKVersion is informational.
	// +optional
	JDKVersion string `json:"jdkVersion,omitempty"`
}

// PodSpecTemplate holds the pod template of the driver or of the executors.
type PodSpecTemplate struct {
	// PodTemplateSpec is merged under what Spark sets. Any part of it may be absent.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	PodTemplateSpec *corev1.PodTemplateSpec `json:"podTemplateSpec,omitempty"`
}

// DriverServiceIngress is a Service in front of the driver and an Ingress in front of that.
type DriverServiceIngress struct {
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceMetadata metav1.ObjectMeta `json:"serviceMetadata"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceSpec corev1.ServiceSpec `json:"serviceSpec"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	IngressMetadata metav1.ObjectMeta `json:"ingressMetadata"`
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	IngressSpec *networkingv1.IngressSpec `json:"ingressSpec,omitempty"`
}

// DriverHTTPRoute is a Service in front of the driver and a Gateway API HTTPRoute in front of that.
type DriverHTTPRoute struct {
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceMetadata metav1.ObjectMeta `json:"serviceMetadata"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceSpec corev1.ServiceSpec `json:"serviceSpec"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	HTTPRouteMetadata metav1.ObjectMeta `json:"httpRouteMetadata"`
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	HTTPRouteSpec *runtime.RawExtension `json:"httpRouteSpec,omitempty"`
}

// DriverGRPCRoute is a Service in front of the driver and a Gateway API GRPCRoute in front of that.
type DriverGRPCRoute struct {
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceMetadata metav1.ObjectMeta `json:"serviceMetadata"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceSpec corev1.ServiceSpec `json:"serviceSpec"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	GRPCRouteMetadata metav1.ObjectMeta `json:"grpcRouteMetadata"`
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	GRPCRouteSpec *runtime.RawExtension `json:"grpcRouteSpec,omitempty"`
}

// ConfigMapSpec is a config map that is created before the driver pod.
type ConfigMapSpec struct {
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// +optional
	Data map[string]string `json:"data,omitempty"`
}

// ApplicationTolerations says what the application puts up with: restarts, timeouts, retention.
type ApplicationTolerations struct {
	// +optional
	RestartConfig *RestartConfig `json:"restartConfig,omitempty"`
	// +optional
	ApplicationTimeoutConfig *ApplicationTimeoutConfig `json:"applicationTimeoutConfig,omitempty"`
	// +optional
	InstanceConfig *ExecutorInstanceConfig `json:"instanceConfig,omitempty"`
	// ResourceRetainPolicy says when the driver's resources outlive it; Never where unset.
	// +optional
	ResourceRetainPolicy RetainPolicy `json:"resourceRetainPolicy,omitempty"`
	// ResourceRetentionPolicy is an older spelling of resourceRetainPolicy, which wins.
	// +optional
	ResourceRetentionPolicy RetainPolicy `json:"resourceRetentionPolicy,omitempty"`
	// ResourceRetainDurationMillis bounds the retention; below zero there is no bound.
	// +optional
	// +kubebuilder:default=-1
	ResourceRetainDurationMillis *int64 `json:"resourceRetainDurationMillis,omitempty"`
	// TTLAfterStopMillis is the time after the end of the application at which it is deleted; below zero never.
	// +optional
	// +kubebuilder:default=-1
	TTLAfterStopMillis *int64 `json:"ttlAfterStopMillis,omitempty"`
}

// RestartPolicy says after which ends of an attempt another is started.
//
// +kubebuilder:validation:Enum=Always;Never;OnFailure;OnInfrastructureFailure
type RestartPolicy string

// The restart policies.
const (
	RestartAlways                  RestartPolicy = "Always"
	RestartNever                   RestartPolicy = "Never"
	RestartOnFailure               RestartPolicy = "OnFailure"
	RestartOnInfrastructureFailure RestartPolicy = "OnInfrastructureFailure"
)

// RestartConfig says when and how often an application is restarted.
type RestartConfig struct {
	// RestartPolicy is Never where unset.
	// +optional
	RestartPolicy RestartPolicy `json:"restartPolicy,omitempty"`
	// MaxRestartAttempts is 3 where unset.
	// +optional
	MaxRestartAttempts *int64 `json:"maxRestartAttempts,omitempty"`
	// RestartBackoffMillis is 30000 where unset.
	// +optional
	RestartBackoffMillis *int64 `json:"restartBackoffMillis,omitempty"`
	// RestartCounterResetMillis is the length of an attempt from which on the counters start anew; below zero never.
	// +optional
	// +kubebuilder:default=-1
	RestartCounterResetMillis *int64 `json:"restartCounterResetMillis,omitempty"`
	// +optional
	MaxRestartOnFailure *int64 `json:"maxRestartOnFailure,omitempty"`
	// +optional
	RestartBackoffMillisForFailure *int64 `json:"restartBackoffMillisForFailure,omitempty"`
	// +optional
	MaxRestartOnSchedulingFailure *int64 `json:"maxRestartOnSchedulingFailure,omitempty"`
	// +optional
	RestartBackoffMillisForSchedulingFailure *int64 `json:"restartBackoffMillisForSchedulingFailure,omitempty"`
}

// ApplicationTimeoutConfig bounds the waits of an attempt. Each is 300000 where unset, but
// terminationRequeuePeriodMillis, and is switched off by zero or less.
type ApplicationTimeoutConfig struct {
	// +optional
	DriverStartTimeoutMillis *int64 `json:"driverStartTimeoutMillis,omitempty"`
	// +optional
	DriverReadyTimeoutMillis *int64 `json:"driverReadyTimeoutMillis,omitempty"`
	// +optional
	ExecutorStartTimeoutMillis *int64 `json:"executorStartTimeoutMillis,omitempty"`
	// +optional
	ForceTerminationGracePeriodMillis *int64 `json:"forceTerminationGracePeriodMillis,omitempty"`
	// TerminationRequeuePeriodMillis has no effect: Firesteel watches what it waits for.
	// +optional
	TerminationRequeuePeriodMillis *int64 `json:"terminationRequeuePeriodMillis,omitempty"`
}

// ExecutorInstanceConfig says how many executors make the application healthy.
type ExecutorInstanceConfig struct {
	// +optional
	InitExecutors int32 `json:"initExecutors,omitempty"`
	// +optional
	MinExecutors int32 `json:"minExecutors,omitempty"`
	// +optional
	MaxExecutors int32 `json:"maxExecutors,omitempty"`
}

// RetainPolicy says after which end the driver's resources are kept.
//
// +kubebuilder:validation:Enum=Always;OnFailure;Never
type RetainPolicy string

// The retain policies.
const (
	RetainAlways    RetainPolicy = "Always"
	RetainOnFailure RetainPolicy = "OnFailure"
	RetainNever     RetainPolicy = "Never"
)

// ApplicationStatus is what the Apache operator's clients read, and Firesteel's record beside it. What nobody writes by
// parts is atomic: the API server would note who wrote each of its fields, in every object, and compare them with each write.
type ApplicationStatus struct {
	// +optional
	CurrentState *ApplicationState `json:"currentState,omitempty"`
	// StateTransitionHistory holds the states since the attempt began; the keys count up over all attempts.
	// +optional
	// +mapType=atomic
	StateTransitionHistory map[string]ApplicationState `json:"stateTransitionHistory,omitempty"`
	// +optional
	// +structType=atomic
	CurrentAttemptSummary *AttemptSummary `json:"currentAttemptSummary,omitempty"`
	// +optional
	// +structType=atomic
	PreviousAttemptSummary *AttemptSummary `json:"previousAttemptSummary,omitempty"`
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

// ApplicationState is one state and when it began.
type ApplicationState struct {
	// +optional
	CurrentStateSummary string `json:"currentStateSummary"`
	// LastTransitionTime is RFC 3339 in UTC.
	// +optional
	LastTransitionTime string `json:"lastTransitionTime,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// LastObservedDriverStatus is the driver pod's status at the end of the attempt.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	LastObservedDriverStatus *corev1.PodStatus `json:"lastObservedDriverStatus,omitempty"`
}

// AttemptSummary tells of an attempt.
type AttemptSummary struct {
	// +optional
	AttemptInfo *AttemptInfo `json:"attemptInfo,omitempty"`
	// +optional
	// +mapType=atomic
	StateTransitionHistory map[string]ApplicationState `json:"stateTransitionHistory,omitempty"`
}

// AttemptInfo numbers an attempt, from 0, and holds the counters that the restart limits are measured with.
type AttemptInfo struct {
	// +optional
	ID int64 `json:"id"`
	// +optional
	RestartCounter int64 `json:"restartCounter"`
	// +optional
	FailureRestartCounter int64 `json:"failureRestartCounter"`
	// +optional
	SchedulingFailureRestartCounter int64 `json:"schedulingFailureRestartCounter"`
}
