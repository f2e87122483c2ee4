package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Observation is what was observed. All of it is about the record's launch, except HasOrphan, OrphanDriver and
// Deleted: they are about the application.
type Observation struct {
	// Driver is the driver Pod of the record's launch; nil if none was seen.
	Driver *Driver
	// DriverGone reports whether this Pod is proven to be gone. Not seeing it proves nothing.
	DriverGone bool
	// Launched is the uid of the driver Pod that the launch effect created or found.
	Launched types.UID
	// LaunchRefused is why the launch can never work. Launched is set too if a Pod was created nevertheless.
	LaunchRefused *Cause
	// RefusedWithEventLogs is why the launch was refused whose driver has a sidecar for event logs. Nothing was created then.
	RefusedWithEventLogs *Cause
	// HasOrphan reports whether the application has a living driver Pod that no launch knows: a late create made it.
	HasOrphan bool
	// OrphanDriver is that Pod, or one of several; nil if it is unknown.
	OrphanDriver *Driver
	// LaunchWarnings are sentences about what the launch did differently from the spec.
	LaunchWarnings []string
	// UI is where the UI of the launched driver is reached.
	UI UI
	// LaunchHeld is why the launch has to wait; nil if it need not, or if it is too early to report it.
	LaunchHeld *Cause
	// RetryLaunchAt is when to try a launch again that has to wait; zero if a watch wakes it.
	RetryLaunchAt time.Time
	// ReleaseAccepted reports whether the API server accepted the deletion of the driver Pod.
	ReleaseAccepted bool
	// ReadyExecutors is the number of the launch's running and ready executors.
	ReadyExecutors int
	// NoExecutorSeen reports whether no executor of the launch was ever seen.
	NoExecutorSeen bool
	// ExecutorsComplete reports whether Spark changes the number of executors, and all for which room was reserved existed at once.
	ExecutorsComplete bool
	// ExecutorsRefused is why executors that are missing cannot be created; nil if that is not known.
	ExecutorsRefused *Cause
	// Deleted is when the user deleted the application; zero if it is not deleted.
	Deleted time.Time
}

// Driver is what the lifecycle reads of a driver Pod.
type Driver struct {
	// UID is the Pod's uid. If it differs from the record's launch, the Pod is ignored.
	UID types.UID
	// Node is empty if the Pod is not scheduled.
	Name, Node string
	// Host is the IP of its node; empty if it is not known.
	Host string
	// Finalizers are the Pod's finalizers.
	Finalizers []string
	Started    bool
	Ready      bool
	// End is set if the driver's main container has ended or can never start.
	End *End
	// Unknown reports whether the driver's node does not report its state any more.
	Unknown bool
	// RunningSince is when its main container started, in whole seconds; zero if that is not known.
	RunningSince time.Time
	// Waiting is why the driver does not start; nil if no reason is known.
	Waiting *Cause
	// PreparingSince is since when the Pod's node prepares its volumes and network; zero if it does not.
	PreparingSince time.Time
	// HeldUpSince is since when the Pod waits for nothing but the start of its sidecar for event logs; zero if it does not.
	HeldUpSince time.Time
	// Disruption is what the cluster did to the Pod: preempted it, evicted it, or gave up its node; nil for nothing.
	Disruption *Cause
	// Stopped reports whether no container of the driver runs any more. End does not imply that: it may be about the
	// first of several containers, or about one that was restarted.
	Stopped bool
	// Archived is how much of the attempt is archived; empty until the archive handler is done.
	Archived Archived
	// Terminating reports whether the Pod's deletion was accepted.
	Terminating bool
	// NoGraceLeft reports whether the grace period is zero: the Pod disappears at once, unless a finalizer keeps it
	// or its deletion was interrupted.
	NoGraceLeft bool
	// TerminatingSince is when the deletion was accepted, and TerminatingUntil when the Pod's grace period is over.
	TerminatingSince, TerminatingUntil time.Time
	// Status is the Pod's status, which is stored with the end of the attempt.
	Status *corev1.PodStatus
}

// End is how a driver ended.
type End struct {
	State State
	Cause Cause
}

// ReasonDriverLost is the reason of an attempt whose driver Pod vanished, so that its end is unknown.
const ReasonDriverLost = "DriverLost"

// The classes of failure.
const (
	ClassApplication    = "application"
	ClassInfrastructure = "infrastructure"
	ClassEviction       = "eviction"
	ClassScheduling     = "scheduling"
	ClassTimeout        = "timeout"
	ClassStopped        = "stopped"
)

// Cause is why an attempt ended.
type Cause struct {
	Class    string
	Reason   string
	ExitCode *int32
	// Message is a sentence. Detail is the evidence: text that the driver left behind.
	Message, Detail string
	// Unquoted is Message without quotes of the driver. It is empty if neither Message nor Detail quotes the driver,
	// or if events may carry the quotes.
	Unquoted string
	// Log is the end of the driver's log.
	Log string
}

// Effect is what to do once the record is persisted.
type Effect string

// The effects.
const (
	// NoEffect waits for a change, or for the requeue time.
	NoEffect Effect = ""
	// Persist only persists the record. What follows is decided after that.
	Persist Effect = "Persist"
	// Launch fences the attempt in the record and creates its objects.
	Launch Effect = "Launch"
	// Release deletes the driver Pod.
	Release Effect = "Release"
	// ForceRelease deletes the driver Pod without waiting for its node.
	ForceRelease Effect = "ForceRelease"
)

// Awaited names what a handler is to do.
type Awaited string

// What handlers are asked for. The values are the handlers' names.
const (
	AwaitsNothing Awaited = ""
	// AwaitsVerdict asks the restart handler whether another attempt follows.
	AwaitsVerdict Awaited = "restart"
	// AwaitsDeletion asks the ttl handler to delete the application.
	AwaitsDeletion Awaited = "ttl"
	// AwaitsArchive asks the archive handler to archive an attempt that has ended.
	AwaitsArchive Awaited = "archive"
)

// Decision is the result of Decide.
type Decision struct {
	// Changed reports whether the record must be persisted before the effect. Dropping old, acknowledged transitions
	// does not count.
	Changed bool
	Effect  Effect
	// Seen is the part of the observation that is true for the new record: nothing of an earlier attempt or of
	// another driver. The caller adds the result of the effect, and decides again.
	Seen Observation
	// ReleaseCanWait reports whether nothing waits for the effect Release: the application is over, and its driver has stopped.
	ReleaseCanWait bool
	// RequeueAt is the instant of the next deadline; zero if there is none.
	RequeueAt time.Time
	Awaits    Awaited
	// AwaitsSince is the instant of the awaited clock event; zero for a transition.
	AwaitsSince time.Time
	// Held is what the application waits for and cannot bring about itself; empty otherwise.
	Held Held
	// HeldBy names the driver Pod that has to disappear, and what keeps it; empty if that is unknown.
	HeldBy string
	// Obstacle is what keeps the driver, or its executors, from starting; nil if nothing is known.
	Obstacle *Cause
	// SpecAdopted reports whether it is unknown if the spec was edited, because another version of Firesteel recorded
	// it.
	SpecAdopted bool
}

// Held is what an application waits for and cannot bring about itself.
type Held string

// What an application may wait for.
const (
	// HeldSuspended waits for the user to resume the application. In an API that does not interrupt, only the next
	// launch waits.
	HeldSuspended Held = "Suspended"
	// HeldDriverTerminating waits for a driver Pod to disappear whose deletion was accepted.
	HeldDriverTerminating Held = "DriverTerminating"
	// HeldEventsUndelivered waits for the sink to acknowledge events, so that the record has room for another
	// attempt.
	HeldEventsUndelivered Held = "EventsUndelivered"
	// HeldNotUnderstood waits for a version of Firesteel that understands the record.
	HeldNotUnderstood Held = "NotUnderstood"
)
