package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// ScheduledSparkApplication runs an application on a schedule.
//
// +genclient
// +genreconciler:krshapedlogic=false
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=https://github.com/kubeflow/spark-operator/pull/1298"
// +kubebuilder:resource:shortName=scheduledsparkapp
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`
// +kubebuilder:printcolumn:name="TimeZone",type=string,JSONPath=`.spec.timeZone`
// +kubebuilder:printcolumn:name="Suspend",type=string,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Last Run",type=date,JSONPath=`.status.lastRun`
// +kubebuilder:printcolumn:name="Last Run Name",type=string,JSONPath=`.status.lastRunName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.scheduleState`,priority=1
// +kubebuilder:printcolumn:name="Next Run",type=string,JSONPath=`.status.nextRun`,priority=1
// +kubebuilder:printcolumn:name="Missed",type=integer,JSONPath=`.status.missedRuns`,priority=1
type ScheduledSparkApplication struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what to run and when.
	Spec ScheduledSparkApplicationSpec `json:"spec"`
	// status is what ran so far. Firesteel writes it.
	// +optional
	Status firesteelv1alpha1.ScheduleStatus `json:"status,omitempty"`

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
	firesteelv1alpha1.ScheduleSpec `json:",inline"`
	// runHistoryLimit is how many finished runs are kept of each outcome, if successfulRunHistoryLimit and failedRunHistoryLimit
	// are missing. It is the spelling of v1alpha1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RunHistoryLimit *int32 `json:"runHistoryLimit,omitempty"`
	// template is the spec of a SparkApplication of sparkoperator.k8s.io/v1beta2, which each run gets. It is checked when a run
	// is created.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template runtime.RawExtension `json:"template"`
}
