package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Observation is what was observed. All of it is about the record's launch, but for HasOrphan and Deleted, which are
// about the application.
type Observation struct {
	// Driver is the driver Pod of the record's launch; nil where none was seen.
	Driver *Driver
	// DriverGone says that this Pod is proven to exist no more. Not seeing it proves nothing.
	DriverGone bool
	// Launched is the uid of the driver Pod that the launch effect created or found.
	Launched types.UID
	// LaunchRefused says why the launch can never work; Launched is set beside it where a Pod came of it
	// nevertheless.
	LaunchRefused *Cause
	// HasOrphan says that a driver Pod of the application lives that no launch knows of: a create that came late made it.
	HasOrphan bool
	// OrphanDriver is that Pod, or one of several; nil where it is not known.
	OrphanDriver *Driver
	// LaunchWarnings are sentences about what the launch did not do as the spec asks.
	LaunchWarnings []string
	// LaunchHeld says why the launch has to wait; nil where it need not, or that is not worth telling yet.
	LaunchHeld *Cause
	// RetryLaunchAt is when a launch that has to wait is to be tried again; zero where what it waits for is watched.
	RetryLaunchAt time.Time
	// ReleaseAccepted says that the API server accepted the deletion of the driver Pod.
	ReleaseAccepted bool
	// ReadyExecutors is the number of the launch's executors that run and are ready.
	ReadyExecutors int
	// NoExecutorSeen says that the launch's driver never had an executor, as far as that is known.
	NoExecutorSeen bool
	// Deleted is when the user deleted the application; zero where nobody did.
	Deleted time.Time
}

// Driver is what the lifecycle reads of a driver Pod.
type Driver struct {
	// UID is the Pod's; where it is another than the record's launch has, the Pod is ignored.
	UID types.UID
	// Name and Node are where it is found; Node is empty where it is on none.
	Name, Node string
	// Finalizers are those that the Pod has.
	Finalizers []string
	Started    bool
	Ready      bool
	// End is set where the driver's main container ended, or never will begin.
	End *End
	// Unknown says that the driver's node does not tell any more what the driver does.
	Unknown bool
	// RunningSince is when its main container started, in whole seconds; zero if that is not known.
	RunningSince time.Time
	// WaitingCause says why the driver does not start; nil where nothing is known to hold it.
	Waiting *Cause
	// PreparingSince is since when the Pod's node makes its volumes and its network ready; zero where it does not.
	PreparingSince time.Time
	// Disruption says what the cluster did to the Pod: preempted it, evicted it, gave up its node; nil for nothing.
	Disruption *Cause
	// Stopped says that nothing of the driver runs any more. End does not say that: it may stand for the first of
	// several containers that ended, or for one that ended and was started anew.
	Stopped bool
	// Terminating says that the Pod's deletion was accepted.
	Terminating bool
	// NoGraceLeft says that no grace is left to wait for: the Pod goes at once, unless its finalizers keep it or its deletion was
	// interrupted.
	NoGraceLeft bool
	// TerminatingSince is when that was, and TerminatingUntil when the Pod's grace is over.
	TerminatingSince, TerminatingUntil time.Time
	// Status is the Pod's status, kept at the end of the attempt.
	Status *corev1.PodStatus
}

// End is how a driver ended.
type End struct {
	State State
	Cause Cause
}

// ReasonDriverLost is the reason of an attempt whose driver Pod vanished, so that nobody can tell how it ended.
const ReasonDriverLost = "DriverLost"

// The classes of failure.
const (
	ClassApplication    = "application"
	ClassInfrastructure = "infrastructure"
	ClassEviction       = "eviction"
	ClassScheduling     = "scheduling"
	ClassTimeout        = "timeout"
)

// Cause says why an attempt ended.
type Cause struct {
	Class    string
	Reason   string
	ExitCode *int32
	// Message is a sentence, and Detail the evidence: what the driver left behind for people to read.
	Message, Detail string
	// Unquoted is Message without what it quotes of the driver. It is empty if neither Message nor Detail quotes the
	// driver, or if events may carry the quotes.
	Unquoted string
	// Log is the end of the driver's log.
	Log string
}

// Effect is what is to be done once the record is persisted.
type Effect string

// The effects.
const (
	// NoEffect waits: for a change or for the instant to look again.
	NoEffect Effect = ""
	// Persist does nothing more: what follows is decided once this much is persisted.
	Persist Effect = "Persist"
	// Launch fences the attempt in the record and creates its objects.
	Launch Effect = "Launch"
	// Release deletes the driver Pod.
	Release Effect = "Release"
	// ForceRelease deletes the driver Pod without waiting for its node.
	ForceRelease Effect = "ForceRelease"
)

// Awaited is what a handler is asked for.
type Awaited string

// What handlers are asked for; the values are the handlers' names.
const (
	AwaitsNothing Awaited = ""
	// AwaitsVerdict asks the restart handler whether another attempt follows.
	AwaitsVerdict Awaited = "restart"
	// AwaitsDeletion asks the ttl handler to delete the application.
	AwaitsDeletion Awaited = "ttl"
)

// Decision is what Decide makes of it all.
type Decision struct {
	// Changed says that the record has news, to be persisted before the effect. What was dropped from it because
	// nobody needs it any more is no news.
	Changed bool
	Effect  Effect
	// Seen is what of the observation is true of the record as it is now: nothing of an earlier attempt, or of another
	// driver. What came of the effect is added to it, and the next decision made of both.
	Seen Observation
	// RequeueAt is the instant of the next deadline; zero where there is none.
	RequeueAt time.Time
	Awaits    Awaited
	// AwaitsSince is the instant of the clock event that is awaited to be acted on; zero for a transition.
	AwaitsSince time.Time
	// Held says what the application waits for that it cannot bring about itself; empty otherwise.
	Held Held
	// HeldBy names the driver Pod that is awaited to go, and says what keeps it; empty where that is not known.
	HeldBy string
	// Obstacle says what keeps the driver from starting, or executors from it; nil where nothing is known to.
	Obstacle *Cause
	// SpecAdopted says that nobody can tell whether the spec was edited, since another version of Firesteel noted it.
	SpecAdopted bool
}

// Held is what an application waits for that it cannot bring about itself.
type Held string

// What an application may wait for.
const (
	// HeldSuspended waits for the user to resume the application. Nothing of it runs, but where the API does not
	// interrupt: there it is the next launch that waits.
	HeldSuspended Held = "Suspended"
	// HeldDriverTerminating waits for a driver Pod to go whose deletion was accepted.
	HeldDriverTerminating Held = "DriverTerminating"
	// HeldEventsUndelivered waits for the sink to take events, so that the record has room for another attempt.
	HeldEventsUndelivered Held = "EventsUndelivered"
	// HeldNotUnderstood waits for a version of Firesteel that understands the record.
	HeldNotUnderstood Held = "NotUnderstood"
)
