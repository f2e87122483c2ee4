package lifecycle

import (
	"math"
	"slices"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// Policy is what an application's spec asks of its lifecycle.
type Policy struct {
	Restart Restart
	// Timeouts bound the waits. Zero or less means no bound.
	Timeouts Timeouts
	// ActiveDeadline bounds the time of all attempts together. Zero or less means no bound.
	ActiveDeadline time.Duration
	// Sources name the fields or settings that set these bounds.
	Sources Sources
	// Executors holds how many executors make the application healthy.
	Executors Executors
	// ReportNoExecutorsAfter is how long a ready driver may have no executor before that is reported; zero means
	// never.
	ReportNoExecutorsAfter time.Duration
	// Retain decides after which ends the driver is retained.
	Retain Retain
	// ExecutorsFromStart reports whether the executors' start timeout counts from the driver's start, even if its Pod
	// is not ready: a sidecar may never become ready.
	ExecutorsFromStart bool
	// ReleasesTimedOut reports whether a driver is released after a start timeout, whatever Retain says.
	ReleasesTimedOut bool
	// RetainFor bounds the retention. Below zero means no bound.
	RetainFor time.Duration
	// TTL is the time from the end to the deletion of the application. Below zero means never.
	TTL time.Duration
	// ArchiveWait is how long what follows an attempt waits until the attempt is archived. Zero or less if attempts are not archived.
	ArchiveWait time.Duration
	// MainContainer is the container of the driver Pod whose end ends the attempt. Empty means all containers.
	MainContainer string
	// Stop is why a user stopped the application; nil if none did. It stops a running driver, and nothing is launched while it is set.
	Stop *Cause
	// Suspend holds the next launch. If the API interrupts, it also stops a running driver.
	Suspend bool
	// Spec is the current spec, if the API interrupts: then an edit restarts the application.
	Spec spec.Spec
	// Interrupts reports whether a suspension or an edit of the spec stops a running attempt, as in
	// sparkoperator.k8s.io. Such an API has the states Suspending, Suspended, Resuming and Invalidating.
	Interrupts bool
	// PersistsEachState reports whether states that last no time are persisted one by one, because clients of the API
	// expect to see them. These are the end of an attempt, before the application's end, and Suspending and
	// Invalidating.
	PersistsEachState bool
	// HasUnknown reports whether the API has the state Unknown, for a driver whose node does not report its state.
	HasUnknown bool
	// Refused is why the spec can never run; nil if it can. The admin's rules are left out once it has run.
	Refused *Cause
}

// allows reports whether an application with this policy can enter a state.
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
	// DriverStart, DriverReady and ExecutorStart bound the states in which a driver has not started, is not ready, and has no or not enough
	// executors. Zero is no limit.
	DriverStart, DriverReady, ExecutorStart time.Duration
	// ForceTermination is how long a driver's Pod may stay after its deletion was accepted. Then it counts as lost
	// and is deleted by force. Zero never forces it.
	ForceTermination time.Duration
	// Deletion is how long the deletion of an application waits for a driver Pod that stays terminating. Zero waits for ever.
	Deletion time.Duration
}

// Sources name, in messages, the annotation or setting that sets a bound. Empty stands for the API's own field or its
// default.
type Sources struct {
	DriverStart, ExecutorStart, ActiveDeadline string
}

// Retain decides after which ends the driver is retained.
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

// RestartPolicy decides after which ends of an attempt another follows.
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

// Restart decides when and how often an application is restarted. Limits count restarts: a limit of 3 means four
// attempts.
type Restart struct {
	Policy RestartPolicy
	// MaxAttempts bounds the restarts after the first attempt. Zero or less allows none; Unlimited is no bound.
	MaxAttempts int64
	// Backoff is the time between the end of an attempt and the start of the next.
	Backoff time.Duration
	// Linear multiplies the back-off after a failure by the number of consecutive failures of its kind.
	Linear bool
	// CountsApart counts scheduling failures separately: they neither count as failures nor end a row of failures.
	// Otherwise they are failures, as in the Apache operator.
	CountsApart bool
	// ResetAfter is the length of an attempt after which the counters start at zero. Below zero means never.
	ResetAfter time.Duration
	// OnFailure bounds the restarts after consecutive failures.
	OnFailure Limit
	// OnSchedulingFailure bounds the restarts after consecutive scheduling failures, in place of OnFailure.
	OnSchedulingFailure Limit
}

// Limit bounds the restarts after one kind of failure. A nil field falls back to the general setting.
type Limit struct {
	MaxAttempts *int64
	Backoff     *time.Duration
}
