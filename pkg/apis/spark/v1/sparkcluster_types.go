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

	// spec is the cluster to run.
	Spec ClusterSpec `json:"spec"`
	// status is what happened so far. Firesteel writes it.
	// +optional
	Status ClusterStatus `json:"status,omitempty"`

	// Undecodable is the reason why the rest of the object could not be decoded; empty if it could. Only the
	// metadata of such an object is set. See UnmarshalJSON.
	Undecodable string `json:"-"`
	// UnknownFields are messages about fields of the spec that this type does not have. The API server prunes those outside
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

// ClusterSpec is the cluster to run.
type ClusterSpec struct {
	// What the API server checks beyond the types of the fields is in hack/codegen/rules_sparkcluster.go.

	// runtimeVersions are the versions that the cluster runs on.
	RuntimeVersions RuntimeVersions `json:"runtimeVersions"`
	// clusterTolerations are the numbers of workers.
	ClusterTolerations ClusterTolerations `json:"clusterTolerations"`
	// masterSpec are templates of the objects of the master.
	// +optional
	MasterSpec *MasterSpec `json:"masterSpec,omitempty"`
	// workerSpec are templates of the objects of the workers.
	// +optional
	WorkerSpec *WorkerSpec `json:"workerSpec,omitempty"`
	// sparkConf are Spark properties of master and workers. Values are strings: write numbers in quotes.
	// spark.kubernetes.container.image is the image of the Pods; without it they get that of the ConfigMap config-defaults.
	// +optional
	SparkConf map[string]string `json:"sparkConf,omitempty"`
	// suspend holds the creation of the cluster while it is true. Default: false. It does nothing to a cluster that exists.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// ClusterTolerations are the numbers of workers of a cluster.
type ClusterTolerations struct {
	// instanceConfig is how many workers there are. If minWorkers is below maxWorkers, an autoscaler decides.
	InstanceConfig WorkerInstanceConfig `json:"instanceConfig"`
}

// WorkerInstanceConfig is how many workers there are.
type WorkerInstanceConfig struct {
	// initWorkers is the number of workers, and with an autoscaler the number that it begins with. kubectl scale sets it. While
	// an autoscaler decides, an edit of this field alone is refused.
	// +kubebuilder:validation:Minimum=0
	InitWorkers int32 `json:"initWorkers"`
	// minWorkers is the number of workers that the cluster needs to be ready, one at least. The autoscaler never goes below it.
	// With 1 or more a PodDisruptionBudget keeps one worker.
	MinWorkers int32 `json:"minWorkers"`
	// maxWorkers is the number of workers that the autoscaler never exceeds. There is no autoscaler if it is minWorkers or less.
	MaxWorkers int32 `json:"maxWorkers"`
}

// MasterSpec holds templates of the objects of the master. Any part of each may be absent.
type MasterSpec struct {
	// statefulSetSpec is the spec of the StatefulSet NAME-master. Firesteel sets replicas, selector, serviceName and
	// podManagementPolicy, and adds what a master needs to the container master.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	StatefulSetSpec *appsv1.StatefulSetSpec `json:"statefulSetSpec,omitempty"`
	// statefulSetMetadata are labels and annotations of the StatefulSet NAME-master.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	StatefulSetMetadata *metav1.ObjectMeta `json:"statefulSetMetadata,omitempty"`
	// serviceSpec is the spec of the Service NAME-master-svc. By default it is headless. Firesteel adds selector and ports.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceSpec *corev1.ServiceSpec `json:"serviceSpec,omitempty"`
	// serviceMetadata are labels and annotations of the Service NAME-master-svc.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceMetadata *metav1.ObjectMeta `json:"serviceMetadata,omitempty"`
}

// WorkerSpec holds templates of the objects of the workers. Any part of each may be absent.
type WorkerSpec struct {
	// statefulSetSpec is the spec of the StatefulSet NAME-worker. Firesteel sets replicas, selector, serviceName and
	// podManagementPolicy, and adds what a worker needs to the container worker.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	StatefulSetSpec *appsv1.StatefulSetSpec `json:"statefulSetSpec,omitempty"`
	// statefulSetMetadata are labels and annotations of the StatefulSet NAME-worker.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	StatefulSetMetadata *metav1.ObjectMeta `json:"statefulSetMetadata,omitempty"`
	// serviceSpec is the spec of the Service NAME-worker-svc. By default it is headless. Firesteel adds selector and ports.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceSpec *corev1.ServiceSpec `json:"serviceSpec,omitempty"`
	// serviceMetadata are labels and annotations of the Service NAME-worker-svc.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ServiceMetadata *metav1.ObjectMeta `json:"serviceMetadata,omitempty"`
	// horizontalPodAutoscalerSpec are metrics and behavior of the autoscaler NAME-worker-hpa. By default it aims at 30 % of the
	// requested CPU of the container worker. Numbers of workers here have no effect: minWorkers and maxWorkers set them.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	HorizontalPodAutoscalerSpec *autoscalingv2.HorizontalPodAutoscalerSpec `json:"horizontalPodAutoscalerSpec,omitempty"`
	// networkPolicy lets others than the cluster and its drivers reach the workers.
	// +optional
	NetworkPolicy *WorkerNetworkPolicy `json:"networkPolicy,omitempty"`
}

// WorkerNetworkPolicy lets collectors of metrics reach a port of the workers.
type WorkerNetworkPolicy struct {
	// metricsPort is the port of the workers that may be reached.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	MetricsPort int32 `json:"metricsPort"`
	// metricsIngress are the peers that may reach it.
	// +kubebuilder:validation:MinItems=1
	MetricsIngress []networkingv1.NetworkPolicyPeer `json:"metricsIngress"`
}

// ClusterStatus is what the Apache operator's clients read, with Firesteel's record beside it.
type ClusterStatus struct {
	// currentState is the state now.
	// +optional
	CurrentState *ClusterState `json:"currentState,omitempty"`
	// stateTransitionHistory are the states of the current attempt. The keys are numbers that count up over all attempts.
	// +optional
	// +mapType=atomic
	StateTransitionHistory map[string]ClusterState `json:"stateTransitionHistory,omitempty"`
	// currentAttemptSummary is the attempt that runs, or ran last. An edit of the spec of a cluster that ended begins another.
	// +optional
	// +structType=atomic
	CurrentAttemptSummary *ClusterAttemptSummary `json:"currentAttemptSummary,omitempty"`
	// previousAttemptSummary is the attempt before, with its states.
	// +optional
	// +structType=atomic
	PreviousAttemptSummary *ClusterAttemptSummary `json:"previousAttemptSummary,omitempty"`
	// workers are the numbers of workers now.
	// +optional
	Workers *ClusterWorkers `json:"workers,omitempty"`
	// observedGeneration is the metadata.generation that the conditions are about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions are Ready, Degraded, UpToDate, Warning, ResourcesReleased and EventsDelivered. Reason and message say why.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// firesteel is Firesteel's record. The fields above are made from it.
	// +optional
	// +structType=atomic
	Firesteel *firesteelv1alpha1.Record `json:"firesteel,omitempty"`
}

// ClusterState is a state and when it began.
type ClusterState struct {
	// currentStateSummary is the name of the state: Submitted, RunningHealthy, SchedulingFailure, Failed or ResourceReleased.
	// +optional
	CurrentStateSummary string `json:"currentStateSummary"`
	// lastTransitionTime is when the state began: RFC 3339 in UTC.
	// +optional
	LastTransitionTime string `json:"lastTransitionTime,omitempty"`
	// message explains the state to people.
	// +optional
	Message string `json:"message,omitempty"`
}

// ClusterAttemptSummary is an attempt and its states.
type ClusterAttemptSummary struct {
	// attemptInfo are the number of the attempt and its counter.
	// +optional
	AttemptInfo *ClusterAttemptInfo `json:"attemptInfo,omitempty"`
	// stateTransitionHistory are the states of the attempt, of a previous attempt only.
	// +optional
	// +mapType=atomic
	StateTransitionHistory map[string]ClusterState `json:"stateTransitionHistory,omitempty"`
}

// ClusterAttemptInfo is the number of an attempt.
type ClusterAttemptInfo struct {
	// id is the number of the attempt, from 0.
	// +optional
	ID int64 `json:"id"`
	// restartCounter is how many attempts there were before.
	// +optional
	RestartCounter int64 `json:"restartCounter"`
}

// ClusterWorkers are the numbers of workers of a cluster.
type ClusterWorkers struct {
	// replicas is the number of Pods of workers.
	// +optional
	Replicas int32 `json:"replicas"`
	// registered is the number of workers that the master counts as alive.
	// +optional
	Registered int32 `json:"registered"`
	// selector selects the Pods of the workers, for the autoscaler.
	// +optional
	Selector string `json:"selector,omitempty"`
}
