package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Record is what Firesteel knows about an application or a cluster: its lifecycle, and which of its transitions were published.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Record struct {
	// The record is written with the state itself, in one write, so that no transition exists without its event. The fields that
	// the users of an API read are made from it.

	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// format is the format of the record. Default: 1. An older version of Firesteel leaves a record of a newer format, and the
	// object, alone.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Format int64 `json:"format,omitempty"`
	// attempt is the attempt that runs, or ran last.
	Attempt Attempt `json:"attempt"`
	// previous is the attempt before.
	// +optional
	Previous *Attempt `json:"previous,omitempty"`
	// launch is the launch of the attempt. It is written before anything is created, and absent while the attempt waits.
	// +optional
	Launch *Launch `json:"launch,omitempty"`
	// quota is what the attempt asks of the quotas of its namespace. It is absent if the controller compares nothing with them.
	// +optional
	Quota *QuotaClaim `json:"quota,omitempty"`
	// sequence is the number of the last transition. The first has 1.
	Sequence int64 `json:"sequence"`
	// acknowledged is the number of the last transition that the event sink accepted. It accepted all before, too.
	Acknowledged int64 `json:"acknowledged"`
	// transitions are those of the current and the previous attempt, and all that the event sink has not accepted.
	// +optional
	Transitions []Transition `json:"transitions,omitempty"`
	// verdict is a handler's answer whether another attempt follows one that ended. A handler of your own writes it here.
	// +optional
	Verdict *Verdict `json:"verdict,omitempty"`
	// rejected is how many transitions the event sink refused for good.
	// +optional
	Rejected int64 `json:"rejected,omitempty"`
	// usage is what the Pods of the application used, as of the last write of the status. It is absent before the first driver.
	// +optional
	Usage *ApplicationUsage `json:"usage,omitempty"`
}

// ApplicationUsage is what the Pods of an application used.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ApplicationUsage struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// total is what the Pods of all attempts used.
	Total Usage `json:"total"`
	// attempts are the last attempts with a driver, at most two. The Pods of an earlier one may outlive it.
	// +optional
	Attempts []AttemptUsage `json:"attempts,omitempty"`
}

// AttemptUsage is what the Pods of an attempt used, and which of them were counted.
//
// +kubebuilder:pruning:PreserveUnknownFields
type AttemptUsage struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// attempt is the number of the attempt.
	Attempt int64 `json:"attempt"`
	// applicationID is the ID that Spark gives the run: spark.app.id.
	ApplicationID string `json:"applicationID"`
	// driverPod is the name of the driver Pod.
	DriverPod string `json:"driverPod"`
	// driverUID is the UID of the driver Pod.
	DriverUID types.UID `json:"driverUID"`
	// countedAt is until when the Pods are counted, in whole seconds.
	CountedAt metav1.Time `json:"countedAt"`
	// ended is what the Pods used that have ended.
	Ended Usage `json:"ended"`
	// running is what the Pods that had not ended used until countedAt.
	Running Usage `json:"running"`
	// driverEnded is true if the driver Pod has ended.
	// +optional
	DriverEnded bool `json:"driverEnded,omitempty"`
	// endedExecutors are the IDs of the executors that have ended, as ranges: 1-7,9.
	// +optional
	EndedExecutors string `json:"endedExecutors,omitempty"`
	// runningExecutors are the IDs of the executors that had not ended, as ranges.
	// +optional
	RunningExecutors string `json:"runningExecutors,omitempty"`
	// approximate is true if there were too many ranges. Then neighbours were joined, and a restart of the controller is counted as a gap.
	// +optional
	Approximate bool `json:"approximate,omitempty"`
}

// Usage is what Pods requested, for the time from their scheduling to the end of their containers.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Usage struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// driver is what driver Pods used.
	// +optional
	Driver *PodUsage `json:"driver,omitempty"`
	// executors is what executor Pods used.
	// +optional
	Executors *PodUsage `json:"executors,omitempty"`
	// peakExecutors is how many executor Pods of one attempt ran at once, at most.
	// +optional
	PeakExecutors int64 `json:"peakExecutors,omitempty"`
	// runningPods is how many of the Pods had not ended. They are counted up to this moment.
	// +optional
	RunningPods int64 `json:"runningPods,omitempty"`
	// gapSeconds is for how many seconds Pods may have run that are not counted, since no controller saw them, or saw their end.
	// +optional
	GapSeconds int64 `json:"gapSeconds,omitempty"`
}

// PodUsage is what Pods used.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PodUsage struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// seconds is the sum of the times of the Pods.
	Seconds int64 `json:"seconds"`
	// coreMilliseconds is their requested CPU by time: 1000 for one core in one second.
	// +optional
	CoreMilliseconds int64 `json:"coreMilliseconds,omitempty"`
	// mebibyteSeconds is their requested memory by time: 1024 for one GiB in one second.
	// +optional
	MebibyteSeconds int64 `json:"mebibyteSeconds,omitempty"`
	// gpuSeconds is their requested GPUs by time: 1 for one GPU in one second.
	// +optional
	GPUSeconds int64 `json:"gpuSeconds,omitempty"`
}

// Attempt is the number of an attempt and the counters that the limits of restarts are compared with.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Attempt struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// id is the number of the attempt, from 0.
	ID int64 `json:"id"`
	// since is when the attempt began to wait for its launch.
	Since metav1.MicroTime `json:"since"`
	// restarts is how many restarts there were, up to this attempt, since the counters were last set back.
	// +optional
	Restarts int64 `json:"restarts,omitempty"`
	// failureRestarts is how many of the last restarts followed consecutive failures.
	// +optional
	FailureRestarts int64 `json:"failureRestarts,omitempty"`
	// schedulingFailureRestarts is how many of the last restarts followed consecutive scheduling failures.
	// +optional
	SchedulingFailureRestarts int64 `json:"schedulingFailureRestarts,omitempty"`
	// executions is how many earlier attempts launched a driver, since an edit of the spec last began the application anew.
	// +optional
	Executions int64 `json:"executions,omitempty"`
	// spec identifies the spec of the attempt. It is absent if that is not known.
	// +optional
	Spec *AttemptSpec `json:"spec,omitempty"`
	// specHash is the hash of the spec in a record of an earlier version of Firesteel. It is not written any more.
	// +optional
	SpecHash string `json:"specHash,omitempty"` // An earlier version would take a hash that it did not make for an edit.
	// withoutEventLogs is why the driver of the attempt has no sidecar that sends its event log to the archive: the sidecar held it up, or it was
	// refused with the sidecar.
	// +optional
	WithoutEventLogs string `json:"withoutEventLogs,omitempty"`
	// activeSince is since when time counts against the active deadline. It is absent while none does: before the first start,
	// between attempts and while suspended.
	// +optional
	ActiveSince *metav1.MicroTime `json:"activeSince,omitempty"`
	// activeMillis is the time before activeSince that counts against the active deadline. Unit: milliseconds. It is that of
	// all attempts since an edit of the spec last began the application anew.
	// +optional
	ActiveMillis int64 `json:"activeMillis,omitempty"`
}

// AttemptSpec identifies the spec of an attempt.
//
// +kubebuilder:pruning:PreserveUnknownFields
type AttemptSpec struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// hash is the hash of the fields whose edit matters.
	Hash string `json:"hash"`
	// hashVersion is the version of the encoding that was hashed.
	HashVersion int64 `json:"hashVersion"`
	// generation is the metadata.generation of the spec.
	Generation int64 `json:"generation"`
}

// Launch is what was launched, and what became of it.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Launch struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// id is a hash of UID, attempt and plan. Every object of the attempt carries it as the label firesteel.dev/launch-id.
	ID string `json:"id"`
	// specHash is the hash of the spec in a record of an earlier version of Firesteel. It is not written any more.
	// +optional
	SpecHash string `json:"specHash,omitempty"`
	// applicationID is the ID that Spark gives the run: spark.app.id.
	// +optional
	ApplicationID string `json:"applicationID,omitempty"`
	// driverPod is the name of the driver Pod.
	DriverPod string `json:"driverPod"`
	// driverUID is the UID of the driver Pod. It is absent until the Pod is known to exist.
	// +optional
	DriverUID types.UID `json:"driverUID,omitempty"`
	// uiPort is the port of the driver's UI: that of its Service, or the node port. It is absent without a Service for the UI.
	// +optional
	UIPort int32 `json:"uiPort,omitempty"`
	// uiHost is the host of that port. That of a node port may be the IP of the driver's node, and is then absent until the driver runs.
	// +optional
	UIHost string `json:"uiHost,omitempty"`
	// uiURL is the URL of an Ingress or a route in front of the Service.
	// +optional
	UIURL string `json:"uiURL,omitempty"`
	// byUser is true if the user started the driver. Nothing but the deletion of the application deletes it.
	// +optional
	ByUser bool `json:"byUser,omitempty"`
	// executorsReady is true once as many executors as the application begins with were ready at once. Their start timeout has
	// no effect from then on.
	// +optional
	ExecutorsReady bool `json:"executorsReady,omitempty"`
	// heldUp is why another driver is launched in the place of this one, within the attempt. It is absent unless the sidecar for event logs held
	// it up.
	// +optional
	HeldUp string `json:"heldUp,omitempty"`
	// warnings are sentences about what of the launch is not as the spec asks.
	// +optional
	Warnings []string `json:"warnings,omitempty"`
	// archived is how much of the attempt is in the archive: whole, partly or not. It is absent before that is known, and without an archive.
	// +optional
	Archived string `json:"archived,omitempty"`
	// released is true once the driver is gone, or has ended and its deletion was accepted.
	// +optional
	Released bool `json:"released,omitempty"`
}

// QuotaClaim is what an attempt asks of the quotas of its namespace, and its place among those that wait for room.
//
// +kubebuilder:pruning:PreserveUnknownFields
type QuotaClaim struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// priority is the value of the driver's priority class.
	// +optional
	Priority int32 `json:"priority,omitempty"`
	// since is when the attempt began to wait.
	Since metav1.MicroTime `json:"since"`
	// reserved is when room was reserved for the attempt. It is absent while the attempt waits.
	// +optional
	Reserved *metav1.MicroTime `json:"reserved,omitempty"`
	// pods are the Pods of the attempt: the driver and its executors.
	Pods []QuotaPods `json:"pods"`
	// elastic is true if Spark itself changes the number of executors, by dynamic allocation.
	// +optional
	Elastic bool `json:"elastic,omitempty"`
	// complete is true once an elastic attempt has had all of its executors at once. What it gives back from then on is not reserved.
	// +optional
	Complete bool `json:"complete,omitempty"`
}

// QuotaPods are Pods that take the same of a quota.
//
// +kubebuilder:pruning:PreserveUnknownFields
type QuotaPods struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// count is how many there are.
	Count int64 `json:"count"`
	// usage is what each takes, by the names that a quota uses: requests.cpu, limits.memory, pods. Unit: thousandths.
	Usage map[string]int64 `json:"usage"`
	// priorityClass is the name of their priority class.
	// +optional
	PriorityClass string `json:"priorityClass,omitempty"`
	// bestEffort is true if they request nothing.
	// +optional
	BestEffort bool `json:"bestEffort,omitempty"`
	// terminating is true if they have an active deadline.
	// +optional
	Terminating bool `json:"terminating,omitempty"`
	// crossNamespaceAffinity is true if their affinity names Pods of other namespaces.
	// +optional
	CrossNamespaceAffinity bool `json:"crossNamespaceAffinity,omitempty"`
}

// Transition is one step of the lifecycle. Its event is made from it alone, so that an event that is sent again has the same
// bytes.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Transition struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// sequence is the number of the transition, over all attempts, from 1.
	Sequence int64 `json:"sequence"`
	// time is when the transition was decided.
	Time metav1.MicroTime `json:"time"`
	// attempt is the number of the attempt.
	Attempt int64 `json:"attempt"`
	// state is the state that began.
	State string `json:"state"`
	// message explains the transition to people.
	// +optional
	Message string `json:"message,omitempty"`
	// driverPod is the name of the driver Pod.
	// +optional
	DriverPod string `json:"driverPod,omitempty"`
	// applicationID is the ID that Spark gives the run: spark.app.id.
	// +optional
	ApplicationID string `json:"applicationID,omitempty"`
	// uiAddress is where Spark's UI answers: a URL, or a host and a port. It is absent without a Service for the UI, and unless
	// the driver runs.
	// +optional
	UIAddress string `json:"uiAddress,omitempty"`
	// end is how the attempt ended, of a transition that ends one.
	// +optional
	End *AttemptEnd `json:"end,omitempty"`
	// outcome is how the application ended, of the one transition that ends it: Succeeded, Failed or Deleted.
	// +optional
	Outcome string `json:"outcome,omitempty"`
	// usage is what was used: of a transition that ends an attempt that of the attempt until the driver's end, of one that ends the
	// application that of all attempts.
	// +optional
	Usage *Usage `json:"usage,omitempty"`
	// driverStatus is the last status of the driver Pod, if the API shows it. It is no part of the event.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	DriverStatus *corev1.PodStatus `json:"driverStatus,omitempty"`
}

// Final reports whether the application ended with this transition. If anything follows, it is the release of what was
// retained.
func (t Transition) Final() bool { return t.Outcome != "" }

// The outcomes of an attempt and of an application.
const (
	OutcomeSucceeded = "Succeeded"
	OutcomeFailed    = "Failed"
	OutcomeDeleted   = "Deleted"
)

// AttemptEnd is how an attempt ended and why, for programs.
//
// +kubebuilder:pruning:PreserveUnknownFields
type AttemptEnd struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// outcome is Succeeded or Failed.
	Outcome string `json:"outcome"`
	// restartAllowed is true if the spec allows another attempt. A handler then gives the verdict.
	// +optional
	RestartAllowed bool `json:"restartAllowed,omitempty"`
	// class is the kind of failure: application, infrastructure, eviction, scheduling, timeout or stopped. It is absent after success.
	// +optional
	Class string `json:"class,omitempty"`
	// exitCode is the exit code of the driver container.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
	// reason is a word in CamelCase: that of the container, of the Pod or of the API server.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message explains the end to people.
	// +optional
	Message string `json:"message,omitempty"`
	// eventMessage is what the event says in place of the messages, if those quote the driver and failure-messages in the
	// ConfigMap config-events was disabled.
	// +optional
	EventMessage string `json:"eventMessage,omitempty"`
}

// Verdict is a handler's answer whether another attempt follows one that ended.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Verdict struct {
	// Unknown are the fields that this version of Firesteel does not know.
	Unknown UnknownFields `json:"-"`
	// attempt is the number of the attempt that ended.
	Attempt int64 `json:"attempt"`
	// restart is whether another attempt is to start.
	Restart bool `json:"restart"`
	// notBefore is the earliest start of the next attempt. Default: at once.
	// +optional
	NotBefore *metav1.MicroTime `json:"notBefore,omitempty"`
	// reason explains the verdict to people.
	// +optional
	Reason string `json:"reason,omitempty"`
}
