package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ScheduleSpec is when runs start, and how many are kept.
type ScheduleSpec struct {
	// schedule is when runs start: a cron expression of five fields, a name such as @daily, or @every and a duration. It may
	// begin with TZ=ZONE or CRON_TZ=ZONE, which wins over timeZone.
	Schedule string `json:"schedule"`
	// timeZone is the time zone of the schedule, a name of the IANA database such as Europe/Berlin. Default: UTC. Local is UTC,
	// too.
	// +optional
	TimeZone string `json:"timeZone,omitempty"`
	// suspend holds further runs while it is true. Default: false. It does nothing to runs that were started.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
	// concurrencyPolicy is what happens to a run that is due while another one runs. Default: Allow. Allow starts it at once.
	// Forbid starts it after the other one ended. Replace deletes the other one first. A run that waits is missed if the next
	// one is due before it starts.
	// +optional
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`
	// successfulRunHistoryLimit is how many successful runs are kept. Default: 1. Older ones are deleted.
	// +optional
	SuccessfulRunHistoryLimit *int32 `json:"successfulRunHistoryLimit,omitempty"`
	// failedRunHistoryLimit is how many failed runs are kept. Default: 1. Older ones are deleted.
	// +optional
	FailedRunHistoryLimit *int32 `json:"failedRunHistoryLimit,omitempty"`
}

// ConcurrencyPolicy is what happens to a run that is due while another one runs.
//
// +kubebuilder:validation:Enum="";Allow;Forbid;Replace
type ConcurrencyPolicy string

// The concurrency policies.
const (
	// ConcurrencyAllow starts it beside the other one.
	ConcurrencyAllow ConcurrencyPolicy = "Allow"
	// ConcurrencyForbid holds it until the other one ended. It is missed if the next one is due before that.
	ConcurrencyForbid ConcurrencyPolicy = "Forbid"
	// ConcurrencyReplace deletes the other one, and starts it once that is gone.
	ConcurrencyReplace ConcurrencyPolicy = "Replace"
)

// ScheduleState is the name of a state of a schedule.
type ScheduleState string

// The states of a schedule, as the Kubeflow operator names them.
const (
	ScheduleStateNew              ScheduleState = ""
	ScheduleStateScheduled        ScheduleState = "Scheduled"
	ScheduleStateFailedValidation ScheduleState = "FailedValidation"
)

// ScheduleStatus is what the Kubeflow operator's clients read of a schedule, with Firesteel's record beside it.
type ScheduleStatus struct {
	// lastRun is when the last run was started.
	// +optional
	// +nullable
	LastRun *metav1.Time `json:"lastRun,omitempty"`
	// nextRun is when the next run is due. It is absent if there is none to come.
	// +optional
	// +nullable
	NextRun *metav1.Time `json:"nextRun,omitempty"`
	// lastRunName is the name of the SparkApplication of the last run.
	// +optional
	LastRunName string `json:"lastRunName,omitempty"`
	// pastSuccessfulRunNames are the names of the successful runs that are kept, the newest first.
	// +optional
	PastSuccessfulRunNames []string `json:"pastSuccessfulRunNames,omitempty"`
	// pastFailedRunNames are the names of the failed runs that are kept, the newest first.
	// +optional
	PastFailedRunNames []string `json:"pastFailedRunNames,omitempty"`
	// scheduleState is Scheduled or FailedValidation. It is absent in a new schedule.
	// +optional
	ScheduleState ScheduleState `json:"scheduleState,omitempty"`
	// reason says why the schedule is in its state.
	// +optional
	Reason string `json:"reason,omitempty"`
	// missedRuns is at how many times a run was due and none was started.
	// +optional
	MissedRuns int64 `json:"missedRuns,omitempty"`
	// observedGeneration is the metadata.generation that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions are Scheduled, RunStarted, Warning and HandlerAnswered. Reason and message say why.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// firesteel is Firesteel's record. The fields above are made from it.
	// +optional
	// +structType=atomic
	Firesteel *ScheduleRecord `json:"firesteel,omitempty"`
}

// ScheduleRecord is what Firesteel knows about a schedule: which runs were started or missed, and which run now.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ScheduleRecord struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// format is the format of the record. Default: 1. An older version of Firesteel leaves a record of a newer format, and the
	// object, alone.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Format int64 `json:"format,omitempty"`
	// clock is the schedule with its time zone that the record counts by. It is absent while the spec has none that can be
	// read. If the spec has another one, the count begins anew.
	// +optional
	Clock string `json:"clock,omitempty"`
	// since is when the record began to count by its clock. @every counts from it.
	// +optional
	// +nullable
	Since metav1.Time `json:"since,omitempty"`
	// settledUntil is the time up to which each run that was due was started or missed.
	// +optional
	// +nullable
	SettledUntil metav1.Time `json:"settledUntil,omitempty"`
	// missed is at how many times a run was due and none was started.
	// +optional
	Missed int64 `json:"missed,omitempty"`
	// suspended is whether the spec suspended the schedule when it was last read. Runs that are due meanwhile are not missed.
	// +optional
	Suspended bool `json:"suspended,omitempty"`
	// held is the run that is due and waits for others to end.
	// +optional
	Held *HeldRun `json:"held,omitempty"`
	// begun is the run that is about to be created, if others must not run beside it. No other is due until it was recorded.
	// +optional
	Begun *BegunRun `json:"begun,omitempty"`
	// last is the last run, or why there was none.
	// +optional
	Last *ScheduledRun `json:"last,omitempty"`
	// active are the runs that have not ended.
	// +optional
	Active []RunReference `json:"active,omitempty"`
	// surplus are the ended runs that the handler is to delete.
	// +optional
	Surplus []RunReference `json:"surplus,omitempty"`
}

// BegunRun is a run whose creation began.
//
// +kubebuilder:pruning:PreserveUnknownFields
type BegunRun struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// scheduledTime is when the run was due.
	ScheduledTime metav1.Time `json:"scheduledTime"`
	// at is when its creation began.
	At metav1.MicroTime `json:"at"`
}

// HeldRun is a run that waits for others to end, since the concurrency policy holds it.
//
// +kubebuilder:pruning:PreserveUnknownFields
type HeldRun struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// scheduledTime is when the run was due.
	ScheduledTime metav1.Time `json:"scheduledTime"`
	// policy is Forbid, or Replace once the deletion of the others was accepted.
	Policy ConcurrencyPolicy `json:"policy"`
}

// ScheduledRun is what became of a run that was due.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ScheduledRun struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// scheduledTime is when the run was due.
	ScheduledTime metav1.Time `json:"scheduledTime"`
	// startedAt is when the SparkApplication was created, or refused.
	StartedAt metav1.MicroTime `json:"startedAt"`
	// name is the name of the SparkApplication.
	Name string `json:"name"`
	// uid is the UID of the SparkApplication. It is absent if that was refused.
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// reason is a word in CamelCase that says why there is no SparkApplication. It is absent if there is one.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message explains the reason to people, or says which fields of the template were not taken.
	// +optional
	Message string `json:"message,omitempty"`
}

// RunReference refers to the SparkApplication of a run.
//
// +kubebuilder:pruning:PreserveUnknownFields
type RunReference struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// name is the name of the SparkApplication.
	Name string `json:"name"`
	// uid is the UID of the SparkApplication.
	UID types.UID `json:"uid"`
}
