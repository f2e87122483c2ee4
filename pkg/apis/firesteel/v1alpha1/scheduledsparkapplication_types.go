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

	Spec ScheduledSparkApplicationSpec `json:"spec"`
	// +optional
	Status ScheduleStatus `json:"status,omitempty"`

	// Undecodable says why the rest of the object could not be decoded; empty where it could. Only the
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

// ScheduledSparkApplicationSpec is what runs when.
type ScheduledSparkApplicationSpec struct {
	ScheduleSpec `json:",inline"`
	// StartingDeadlineSeconds is how late a run may start, in seconds. Beyond that it is missed; without it, a run is
	// made up for however late it is, as long as the next one is not due.
	// +optional
	// +kubebuilder:validation:Minimum=0
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`
	// Template is the application.
	Template SparkApplicationTemplate `json:"template"`
}

// SparkApplicationTemplate is an application without name. Its spec is checked when a run is created from it.
type SparkApplicationTemplate struct {
	// APIVersion may be left out.
	// +optional
	// +kubebuilder:validation:Enum=spark.apache.org/v1;spark.apache.org/v1beta1;spark.apache.org/v1alpha1
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind may be left out.
	// +optional
	// +kubebuilder:validation:Enum=SparkApplication
	Kind string `json:"kind,omitempty"`
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitempty"`
	// Spec is that of a SparkApplication of spark.apache.org/v1.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Spec runtime.RawExtension `json:"spec"`
}

// TemplateMetadata is what the metadata of each run hold besides the schedule's labels.
type TemplateMetadata struct {
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}
