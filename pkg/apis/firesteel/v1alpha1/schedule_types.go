package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ScheduleSpec says when runs start, and what is kept of them. The schedules of both kinds of applications share it; the
// names are those of sparkoperator.k8s.io.
type ScheduleSpec struct {
	// Schedule is a cron expression of five fields, a descriptor such as @daily, or @every and a duration. A zone may
	// stand before it, as TZ=<zone> or CRON_TZ=<zone>; it wins over timeZone.
	Schedule string `json:"schedule"`
	// TimeZone is the zone of the IANA database that the schedule is read in; UTC where it is unset or Local.
	// +optional
	TimeZone string `json:"timeZone,omitempty"`
	// Suspend keeps further runs from starting. It does nothing to those that run.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`
	// ConcurrencyPolicy says what becomes of a run that is due while another runs; Allow where unset.
	// +optional
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`
	// SuccessfulRunHistoryLimit is the number of successful runs that are kept; 1 where unset.
	// +optional
	SuccessfulRunHistoryLimit *int32 `json:"successfulRunHistoryLimit,omitempty"`
	// FailedRunHistoryLimit is the number of failed runs that are kept; 1 where unset.
	// +optional
	FailedRunHistoryLimit *int32 `json:"failedRunHistoryLimit,omitempty"`
}

// ConcurrencyPolicy says what becomes of a run that is due while another runs.
//
// +kubebuilder:validation:Enum="";Allow;Forbid;Replace
type ConcurrencyPolicy string

// The concurrency policies.
const (
	// ConcurrencyAllow starts it beside the other.
	ConcurrencyAllow ConcurrencyPolicy = "Allow"
	// ConcurrencyForbid has it wait for the other's end. It is missed when the next one is due before that.
	ConcurrencyForbid ConcurrencyPolicy = "Forbid"
	// ConcurrencyReplace deletes the other, and starts it once that is gone.
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

// ScheduleStatus is what the Kubeflow operator's clients read of a schedule, and Firesteel's record beside it.
type ScheduleStatus struct {
	// LastRun is when the last run started.
	// +optional
	// +nullable
	LastRun *metav1.Time `json:"lastRun,omitempty"`
	// NextRun is when the next run is due. It is absent while there is none to come.
	// +optional
	// +nullable
	NextRun *metav1.Time `json:"nextRun,omitempty"`
	// LastRunName is the application of the last run.
	// +optional
	LastRunName string `json:"lastRunName,omitempty"`
	// PastSuccessfulRunNames are the applications of the successful runs that are kept, the newest first.
	// +optional
	PastSuccessfulRunNames []string `json:"pastSuccessfulRunNames,omitempty"`
	// PastFailedRunNames are the applications of the failed runs that are kept, the newest first.
	// +optional
	PastFailedRunNames []string `json:"pastFailedRunNames,omitempty"`
	// +optional
	ScheduleState ScheduleState `json:"scheduleState,omitempty"`
	// Reason tells why the schedule is in that state.
	// +optional
	Reason string `json:"reason,omitempty"`
	// MissedRuns is the number of instants at which a run was due and none was started.
	// +optional
	MissedRuns int64 `json:"missedRuns,omitempty"`
	// ObservedGeneration is the generation of the spec that the status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Firesteel is the record from which the fields above are projected.
	// +optional
	// +structType=atomic
	Firesteel *ScheduleRecord `json:"firesteel,omitempty"`
}

// ScheduleRecord is the truth about a schedule: which of its instants are settled, and what runs.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ScheduleRecord struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// Format is the format of the record; absent for 1. It rises only if an older version of Firesteel would do harm by acting on
	// the record. A record of a newer format is left as it is.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Format int64 `json:"format,omitempty"`
	// Clock is the schedule with its zone that the record counts by; empty while there is none that can be read. Another
	// one in the spec begins anew.
	// +optional
	Clock string `json:"clock,omitempty"`
	// Since is when the record began to count by that clock. @every counts from it.
	// +optional
	// +nullable
	Since metav1.Time `json:"since,omitempty"`
	// SettledUntil is the time up to which all instants are settled: the run was started, or was missed.
	// +optional
	// +nullable
	SettledUntil metav1.Time `json:"settledUntil,omitempty"`
	// Missed counts the instants at which a run was due and none was started.
	// +optional
	Missed int64 `json:"missed,omitempty"`
	// Suspended says that the spec suspended the schedule when it was last looked at: what passes is not missed then.
	// +optional
	Suspended bool `json:"suspended,omitempty"`
	// Held is the run that is due and waits for others to end.
	// +optional
	Held *HeldRun `json:"held,omitempty"`
	// Begun is the run that is about to be created, where others must not run beside it. Until it is recorded no other is due.
	// +optional
	Begun *BegunRun `json:"begun,omitempty"`
	// Last is the last run, or what became of it.
	// +optional
	Last *ScheduledRun `json:"last,omitempty"`
	// Active are the runs that have not ended.
	// +optional
	Active []RunReference `json:"active,omitempty"`
	// Surplus are the ended runs that are kept no longer, for the handler to delete.
	// +optional
	Surplus []RunReference `json:"surplus,omitempty"`
}

// BegunRun is a run whose creation was begun with.
//
// +kubebuilder:pruning:PreserveUnknownFields
type BegunRun struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// ScheduledTime is the instant that it is for.
	ScheduledTime metav1.Time `json:"scheduledTime"`
	// At is when it was begun with.
	At metav1.MicroTime `json:"at"`
}

// HeldRun is a run that waits for others to end, by the concurrency policy that holds it.
//
// +kubebuilder:pruning:PreserveUnknownFields
type HeldRun struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// ScheduledTime is the instant that it is for.
	ScheduledTime metav1.Time `json:"scheduledTime"`
	// Policy is Forbid, or Replace where the others' deletion was accepted.
	Policy ConcurrencyPolicy `json:"policy"`
}

// ScheduledRun is what became of an instant.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ScheduledRun struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// ScheduledTime is the instant.
	ScheduledTime metav1.Time `json:"scheduledTime"`
	// StartedAt is when the application was created, or refused.
	StartedAt metav1.MicroTime `json:"startedAt"`
	// Name is the application's.
	Name string `json:"name"`
	// UID is the application's; empty where it was refused.
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// Reason is a word in CamelCase that says why there is no application; empty where there is one.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message says so for people. Where there is an application, it says what of the template was not taken.
	// +optional
	Message string `json:"message,omitempty"`
}

// RunReference refers to the application of a run.
//
// +kubebuilder:pruning:PreserveUnknownFields
type RunReference struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	Name    string        `json:"name"`
	UID     types.UID     `json:"uid"`
}
