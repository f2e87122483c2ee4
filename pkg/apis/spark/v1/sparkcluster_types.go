package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// SparkCluster is a standalone Spark cluster: a master and its workers, which run until the object is deleted.
//
// +genclient
// +genreconciler:krshapedlogic=false
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=sparkcluster
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.clusterTolerations.instanceConfig.initWorkers,statuspath=.status.workers.replicas,selectorpath=.status.workers.selector
// +kubebuilder:printcolumn:name="Current State",type=string,JSONPath=`.status.currentState.currentStateSummary`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Workers",type=integer,JSONPath=`.status.workers.registered`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type SparkCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ClusterSpec `json:"spec"`
	// +optional
	Status ClusterStatus `json:"status,omitempty"`

	// Undecodable says why the rest of the object could not be decoded; empty where it could. Only the
	// metadata of such an object is set. See UnmarshalJSON.
	Undecodable string `json:"-"`
	// UnknownFields tell of the fields that the spec has and this type has not. The API server prunes those outside
	// embedded templates, so these are typing errors or newer fields inside them.
	UnknownFields []string `json:"-"`
}

// SparkClusterList is a list of SparkClusters.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type SparkClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []SparkCluster `json:"items"`
}

// ClusterSpec is the cluster that the user wants. What the API server checks beyond the types of the fields is in
// hack/codegen/rules_sparkcluster.go.
type ClusterSpec struct {
	RuntimeVersions    RuntimeVersions    `json:"runtimeVersions"`
	ClusterTolerations ClusterTolerations `json:"clusterTolerations"`
	// +optional
	MasterSpec *MasterSpec `json:"masterSpec,omitempty"`
	// +optional
	WorkerSpec *WorkerSpec `json:"workerSpec,omitempty"`
	// SparkConf holds Spark properties, of which master and workers get all.
	// +optional
	SparkConf map[string]string `json:"sparkConf,omitempty"`
	// Suspend holds the creation of the cluster. It does nothing to one that exists.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// ClusterTolerations says what makes a cluster a healthy one.
type ClusterTolerations struct {
	InstanceConfig WorkerInstanceConfig `json:"instanceConfig"`
}

// WorkerInstanceConfig says how many workers there are. With MinWorkers below MaxWorkers an autoscaler decides.
type WorkerInstanceConfig struct {
	// InitWorkers is how many workers there are, and with an autoscaler how many it begins with.
	// +kubebuilder:validation:Minimum=0
	InitWorkers int32 `json:"initWorkers"`
	MinWorkers  int32 `json:"minWorkers"`
	MaxWorkers  int32 `json:"maxWorkers"`
}

// MasterSpec holds templates of the objects that are made for the master. Any part of each may be absent.
type MasterSpec struct {
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	StatefulSetSpec *appsv1.StatefulSetSpec `json:"statefulSetSpec,omitempty"`
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	StatefulSetMetadata *metav1.ObjectMeta `json:"statefulSetMetadata,omitempty"`
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceSpec *corev1.ServiceSpec `json:"serviceSpec,omitempty"`
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceMetadata *metav1.ObjectMeta `json:"serviceMetadata,omitempty"`
}

// WorkerSpec holds templates of the objects that are made for the workers. Any part of each may be absent.
type WorkerSpec struct {
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	StatefulSetSpec *appsv1.StatefulSetSpec `json:"statefulSetSpec,omitempty"`
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	StatefulSetMetadata *metav1.ObjectMeta `json:"statefulSetMetadata,omitempty"`
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceSpec *corev1.ServiceSpec `json:"serviceSpec,omitempty"`
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceMetadata *metav1.ObjectMeta `json:"serviceMetadata,omitempty"`
	// HorizontalPodAutoscalerSpec gives the autoscaler's metrics and behavior. How many workers it may ask for is said in
	// the tolerations.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	HorizontalPodAutoscalerSpec *autoscalingv2.HorizontalPodAutoscalerSpec `json:"horizontalPodAutoscalerSpec,omitempty"`
	// NetworkPolicy lets more traffic reach the workers.
	// +optional
	NetworkPolicy *WorkerNetworkPolicy `json:"networkPolicy,omitempty"`
}

// WorkerNetworkPolicy lets what collects metrics reach a port of the workers.
type WorkerNetworkPolicy struct {
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	MetricsPort int32 `json:"metricsPort"`
	// MetricsIngress are those who may ask.
	// +kubebuilder:validation:MinItems=1
	MetricsIngress []networkingv1.NetworkPolicyPeer `json:"metricsIngress"`
}

// ClusterStatus is what the Apache operator's clients read, and Firesteel's record beside it.
type ClusterStatus struct {
	// +optional
	CurrentState *ClusterState `json:"currentState,omitempty"`
	// StateTransitionHistory holds the states since the attempt began; the keys count up over all attempts.
	// +optional
	// +mapType=atomic
	StateTransitionHistory map[string]ClusterState `json:"stateTransitionHistory,omitempty"`
	// +optional
	// +structType=atomic
	CurrentAttemptSummary *ClusterAttemptSummary `json:"currentAttemptSummary,omitempty"`
	// +optional
	// +structType=atomic
	PreviousAttemptSummary *ClusterAttemptSummary `json:"previousAttemptSummary,omitempty"`
	// Workers counts the workers.
	// +optional
	Workers *ClusterWorkers `json:"workers,omitempty"`
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

// ClusterState is one state and when it began.
type ClusterState struct {
	// +optional
	CurrentStateSummary string `json:"currentStateSummary"`
	// LastTransitionTime is RFC 3339 in UTC.
	// +optional
	LastTransitionTime string `json:"lastTransitionTime,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}

// ClusterAttemptSummary tells of an attempt.
type ClusterAttemptSummary struct {
	// +optional
	AttemptInfo *ClusterAttemptInfo `json:"attemptInfo,omitempty"`
	// +optional
	// +mapType=atomic
	StateTransitionHistory map[string]ClusterState `json:"stateTransitionHistory,omitempty"`
}

// ClusterAttemptInfo numbers an attempt, from 0.
type ClusterAttemptInfo struct {
	// +optional
	ID int64 `json:"id"`
	// +optional
	RestartCounter int64 `json:"restartCounter"`
}

// ClusterWorkers counts the workers of a cluster.
type ClusterWorkers struct {
	// Replicas are the workers' Pods.
	// +optional
	Replicas int32 `json:"replicas"`
	// Registered are the workers that the master calls alive.
	// +optional
	Registered int32 `json:"registered"`
	// Selector selects the workers' Pods.
	// +optional
	Selector string `json:"selector,omitempty"`
}
