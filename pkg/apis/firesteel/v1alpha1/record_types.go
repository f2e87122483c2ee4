package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Record is the truth about an application: its lifecycle, and which of its transitions are told.
//
// It is written with the state itself, in one write, so that no transition exists without its event. The
// fields that the users of an API read are projected from it.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Record struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// Format is the format of the record; absent for 1. It rises only if an older version of Firesteel would do harm by acting on
	// the record. A record of a newer format is left as it is.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Format int64 `json:"format,omitempty"`
	// Attempt is the attempt that runs, or ran last.
	Attempt Attempt `json:"attempt"`
	// Previous is the attempt before.
	// +optional
	Previous *Attempt `json:"previous,omitempty"`
	// Launch is the launch of that attempt. It is written before anything is created, and absent while the
	// attempt waits for its start.
	// +optional
	Launch *Launch `json:"launch,omitempty"`
	// Sequence is the number of the last transition. The first has 1.
	Sequence int64 `json:"sequence"`
	// Acknowledged is the number of the last transition that the sink has taken, and with it all before.
	Acknowledged int64 `json:"acknowledged"`
	// Transitions are those of the current and the previous attempt, and all that the sink has not taken.
	// +optional
	Transitions []Transition `json:"transitions,omitempty"`
	// Verdict is a handler's answer to the question whether an ended attempt is followed by another.
	// +optional
	Verdict *Verdict `json:"verdict,omitempty"`
	// Rejected is the number of transitions that the sink refused for good.
	// +optional
	Rejected int64 `json:"rejected,omitempty"`
}

// Attempt numbers an attempt, from 0, and holds the counters that restart limits are measured with.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Attempt struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	ID      int64         `json:"id"`
	// Since is when the attempt began to wait for its launch.
	Since metav1.MicroTime `json:"since"`
	// Restarts counts the attempts after the first, since the counters were last reset.
	// +optional
	Restarts int64 `json:"restarts,omitempty"`
	// FailureRestarts counts the restarts after consecutive failures.
	// +optional
	FailureRestarts int64 `json:"failureRestarts,omitempty"`
	// SchedulingFailureRestarts counts the restarts after consecutive scheduling failures.
	// +optional
	SchedulingFailureRestarts int64 `json:"schedulingFailureRestarts,omitempty"`
	// Executions counts the earlier attempts whose driver was launched, since an edit of the spec last had the
	// application run anew.
	// +optional
	Executions int64 `json:"executions,omitempty"`
	// Spec identifies the spec that the attempt is of; absent if it is not known.
	// +optional
	Spec *AttemptSpec `json:"spec,omitempty"`
	// SpecHash is the hash of that spec in a record of an earlier version of Firesteel. It is read if Spec is absent, and not
	// written any more: an earlier version would take a hash that it did not make for an edit.
	// +optional
	SpecHash string `json:"specHash,omitempty"`
	// ActiveSince is when the time began that counts against the active deadline and still runs. It is unset while no
	// time counts: before the first driver's start, and while the application is suspended or between attempts.
	// +optional
	ActiveSince *metav1.MicroTime `json:"activeSince,omitempty"`
	// ActiveMillis is the time before that counts against the active deadline, in milliseconds, over all attempts since
	// an edit of the spec last had the application run anew.
	// +optional
	ActiveMillis int64 `json:"activeMillis,omitempty"`
}

// AttemptSpec identifies the spec that an attempt is of.
//
// +kubebuilder:pruning:PreserveUnknownFields
type AttemptSpec struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// Hash is the hash of the fields whose edit matters.
	Hash string `json:"hash"`
	// HashVersion is the version of the encoding that was hashed.
	HashVersion int64 `json:"hashVersion"`
	// Generation is the metadata.generation of that spec.
	Generation int64 `json:"generation"`
}

// Launch says what was launched and what came of it.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Launch struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// ID is a hash of the object's uid, the attempt and the plan. Every object of the attempt carries it as
	// the label firesteel.dev/launch-id.
	ID string `json:"id"`
	// SpecHash is the attempt's where an earlier version of Firesteel launched it: that version wrote it here. It is
	// read where the attempt has none, and not written any more.
	// +optional
	SpecHash string `json:"specHash,omitempty"`
	// ApplicationID is spark.app.id.
	// +optional
	ApplicationID string `json:"applicationID,omitempty"`
	// DriverPod is the name of the driver Pod.
	DriverPod string `json:"driverPod"`
	// DriverUID is the uid of the driver Pod; empty until it is known to exist.
	// +optional
	DriverUID types.UID `json:"driverUID,omitempty"`
	// ExecutorsReady says that as many executors as the application asks for to begin with were ready at once. Their start is no
	// longer awaited from then on, however many are lost.
	// +optional
	ExecutorsReady bool `json:"executorsReady,omitempty"`
	// Warnings are sentences about what of the launch is not as the spec asks.
	// +optional
	Warnings []string `json:"warnings,omitempty"`
	// Released says that the driver is gone, or that it ended and its deletion was accepted.
	// +optional
	Released bool `json:"released,omitempty"`
}

// Transition is one step of the lifecycle. Its event is made from it alone, so that a re-sent event is the
// same to the byte.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Transition struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// Sequence counts the transitions of an application, over all attempts, from 1.
	Sequence int64 `json:"sequence"`
	// Time is when the transition was decided.
	Time metav1.MicroTime `json:"time"`
	// Attempt is the attempt that it belongs to.
	Attempt int64 `json:"attempt"`
	// State is the state that began.
	State string `json:"state"`
	// Message is for people.
	// +optional
	Message string `json:"message,omitempty"`
	// DriverPod is the name of the driver Pod.
	// +optional
	DriverPod string `json:"driverPod,omitempty"`
	// ApplicationID is spark.app.id.
	// +optional
	ApplicationID string `json:"applicationID,omitempty"`
	// End is set where this transition ends an attempt.
	// +optional
	End *AttemptEnd `json:"end,omitempty"`
	// Outcome is set on one transition only, the one by which the application came to its true end: Succeeded,
	// Failed, or Deleted where it was deleted before. Where an edit of the spec has an ended application run again, it
	// comes to another end.
	// +optional
	Outcome string `json:"outcome,omitempty"`
	// DriverStatus is the driver Pod's last status, where the API shows it. It is no part of the event.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	DriverStatus *corev1.PodStatus `json:"driverStatus,omitempty"`
}

// Final says whether the application came to its true end by the transition. What follows, if anything, is the
// release of what was retained.
func (t Transition) Final() bool { return t.Outcome != "" }

// The outcomes of an attempt and of an application.
const (
	OutcomeSucceeded = "Succeeded"
	OutcomeFailed    = "Failed"
	OutcomeDeleted   = "Deleted"
)

// AttemptEnd says how an attempt ended and why, for programs.
//
// +kubebuilder:pruning:PreserveUnknownFields
type AttemptEnd struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// Outcome is Succeeded or Failed.
	Outcome string `json:"outcome"`
	// RestartAllowed says that the spec allows another attempt; then a handler gives the verdict.
	// +optional
	RestartAllowed bool `json:"restartAllowed,omitempty"`
	// Class of the failure: application, infrastructure, eviction, scheduling or timeout; empty after success.
	// +optional
	Class string `json:"class,omitempty"`
	// ExitCode is the driver container's.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Reason is a word in CamelCase: the container's or the Pod's, or the API server's.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message is for people.
	// +optional
	Message string `json:"message,omitempty"`
	// EventMessage is what the event says in place of Message, and of the transition's, if those quote the driver and
	// failure-messages in config-events was off. If it is empty, the event says what they say.
	// +optional
	EventMessage string `json:"eventMessage,omitempty"`
}

// Verdict is a handler's answer: whether an attempt is followed by another, and not before when.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Verdict struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// Attempt is the attempt that ended.
	Attempt int64 `json:"attempt"`
	// Restart says whether another is to start.
	Restart bool `json:"restart"`
	// NotBefore is the earliest start of the next attempt.
	// +optional
	NotBefore *metav1.MicroTime `json:"notBefore,omitempty"`
	// Reason is for people.
	// +optional
	Reason string `json:"reason,omitempty"`
}
