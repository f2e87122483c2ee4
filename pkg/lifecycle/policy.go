package lifecycle

import (
	"math"
	"slices"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// Policy is what an application's spec says about its lifecycle.
type Policy struct {
	Restart Restart
	// Timeouts bound the waits; zero or less switches one off.
	Timeouts Timeouts
	// ActiveDeadline bounds the time that all attempts may take together; zero or less switches it off.
	ActiveDeadline time.Duration
	// Sources name what sets these bounds.
	Sources Sources
	// Executors says how many executors make the application healthy.
	Executors Executors
	// ReportNoExecutorsAfter is how long a driver that is ready may be without any executor before that is worth telling; zero where
	// it may be so for ever.
	ReportNoExecutorsAfter time.Duration
	// Retain says after which end the driver is kept.
	Retain Retain
	// ExecutorsFromStart reports that the executors' start timeout counts from the driver's start if its Pod is not ready:
	// a sidecar may never be.
	ExecutorsFromStart bool
	// ReleasesTimedOut reports that a driver is released if a start timeout ended its attempt, whatever Retain says.
	ReleasesTimedOut bool
	// RetainFor bounds the retention; below zero there is no bound.
	RetainFor time.Duration
	// TTL is the time after the end at which the application is deleted; below zero never.
	TTL time.Duration
	// MainContainer is the container of the driver Pod whose end is the attempt's; empty for all of them.
	MainContainer string
	// Suspend holds the next launch; where the API interrupts, it also stops the driver that runs.
	Suspend bool
	// Spec is what the application asks for now, where the API interrupts: an edit has it run anew.
	Spec spec.Spec
	// Interrupts says that a suspension and an edit of the spec stop an attempt that runs, as in
	// sparkoperator.k8s.io: then there are the states Suspending, Suspended, Resuming and Invalidating.
	Interrupts bool
	// PersistsEachState says that what lasts no time is persisted too, each before what follows it, since clients of the API expect
	// to see it: the end of an attempt before the application's, and that it is being suspended or invalidated.
	PersistsEachState bool
	// HasUnknown says that there is the state Unknown, for a driver of which its node tells nothing any more.
	HasUnknown bool
	// Refused says why the spec can never run; nil where it can.
	Refused *Cause
}

// allows says that an application with this policy can come into a state.
func (p Policy) allows(state State) bool {
	switch state {
	case Suspending, Suspended, Resuming, Invalidating:
		return p.Interrupts
	case Unknown:
		return p.HasUnknown
	default:
		return slices.Contains(States, state)
	}
}

// Timeouts bound how long an attempt may wait in a state.
type Timeouts struct {
	DriverStart, DriverReady, ExecutorStart time.Duration
	// ForceTermination is how long after its deletion was accepted a driver's Pod may take to go, before it is given
	// up as lost and force-deleted.
	ForceTermination time.Duration
	// Deletion is how long the deletion of an application may wait for a driver Pod that does not go.
	Deletion time.Duration
}

// Sources name, for people, the annotation or the setting that sets a bound. Empty stands for the API's own field and for
// its default.
type Sources struct {
	DriverStart, ExecutorStart, ActiveDeadline string
}

// Retain says after which end the driver is kept.
type Retain string

// The retain policies.
const (
	RetainNever     Retain = "Never"
	RetainOnFailure Retain = "OnFailure"
	RetainAlways    Retain = "Always"
)

func (r Retain) after(outcome string) bool {
	return r == RetainAlways || r == RetainOnFailure && outcome != outcomeSucceeded
}

// RestartPolicy says after which ends of an attempt another is started.
type RestartPolicy string

// The restart policies.
const (
	RestartNever                   RestartPolicy = "Never"
	RestartAlways                  RestartPolicy = "Always"
	RestartOnFailure               RestartPolicy = "OnFailure"
	RestartOnInfrastructureFailure RestartPolicy = "OnInfrastructureFailure"
)

func (p RestartPolicy) covers(state State) bool {
	switch p {
	case RestartAlways:
		return true
	case RestartOnFailure:
		return state.Failure()
	case RestartOnInfrastructureFailure:
		return state.InfrastructureFailure()
	default:
		return false
	}
}

// Unlimited is a limit that no number of restarts exceeds.
const Unlimited = math.MaxInt64

// Restart says when and how often an application is restarted. Limits count restarts, so that a limit of 3
// means four attempts.
type Restart struct {
	Policy      RestartPolicy
	MaxAttempts int64
	Backoff     time.Duration
	// Linear says that the back-off after a failure is multiplied by the number of consecutive failures of its kind.
	Linear bool
	// CountsApart says that a scheduling failure does not count among the failures, nor ends their row: each kind has
	// its own limit. Otherwise it is one of them, as in the Apache operator.
	CountsApart bool
	// ResetAfter is the length of an attempt from which on the counters start anew; below zero never.
	ResetAfter time.Duration
	// OnFailure bounds the restarts after consecutive failures.
	OnFailure Limit
	// OnSchedulingFailure bounds those after consecutive scheduling failures, in place of OnFailure.
	OnSchedulingFailure Limit
}

// Limit bounds the restarts after one kind of failure. What is nil falls back to the general setting.
type Limit struct {
	MaxAttempts *int64
	Backoff     *time.Duration
}
