package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ScheduledSparkApplication runs an application of spark.apache.org on a schedule.
//
// +genclient
// +genreconciler:krshapedlogic=false
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=schedsparkapp
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`
// +kubebuilder:printcolumn:name="Time Zone",type=string,JSONPath=`.spec.timeZone`,priority=1
// +kubebuilder:printcolumn:name="Suspend",type=string,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.scheduleState`
// +kubebuilder:printcolumn:name="Last Run",type=date,JSONPath=`.status.lastRun`
// +kubebuilder:printcolumn:name="Last Run Name",type=string,JSONPath=`.status.lastRunName`
// +kubebuilder:printcolumn:name="Next Run",type=string,JSONPath=`.status.nextRun`,priority=1
// +kubebuilder:printcolumn:name="Missed",type=integer,JSONPath=`.status.missedRuns`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ScheduledSparkApplication struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what to run and when.
	Spec ScheduledSparkApplicationSpec `json:"spec"`
	// status is what ran so far. Firesteel writes it.
	// +optional
	Status ScheduleStatus `json:"status,omitempty"`

	// Undecodable is the reason why the rest of the object could not be decoded; empty if it could. Only the
	// metadata of such an object is set. See UnmarshalJSON.
	Undecodable string `json:"-"`
}

// ScheduledSparkApplicationList is a list of ScheduledSparkApplications.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ScheduledSparkApplicationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ScheduledSparkApplication `json:"items"`
}

// ScheduledSparkApplicationSpec is what to run and when.
type ScheduledSparkApplicationSpec struct {
	ScheduleSpec `json:",inline"`
	// startingDeadlineSeconds is how late a run may start. Default: until the next one is due. Unit: seconds. Later it is
	// missed.
	// +optional
	// +kubebuilder:validation:Minimum=0
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`
	// template is the SparkApplication of each run.
	Template SparkApplicationTemplate `json:"template"`
}

// SparkApplicationTemplate is a SparkApplication without a name.
type SparkApplicationTemplate struct {
	// apiVersion is that of the SparkApplication. It may be absent.
	// +optional
	// +kubebuilder:validation:Enum=spark.apache.org/v1;spark.apache.org/v1beta1;spark.apache.org/v1alpha1
	APIVersion string `json:"apiVersion,omitempty"`
	// kind is SparkApplication. It may be absent.
	// +optional
	// +kubebuilder:validation:Enum=SparkApplication
	Kind string `json:"kind,omitempty"`
	// metadata are the labels and annotations of each run.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitempty"`
	// spec is the spec of a SparkApplication of spark.apache.org/v1. It is checked when a run is created.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Spec runtime.RawExtension `json:"spec"`
}

// TemplateMetadata are labels and annotations.
type TemplateMetadata struct {
	// labels are labels of each run, besides the schedule's own.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// annotations are annotations of each run.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}
