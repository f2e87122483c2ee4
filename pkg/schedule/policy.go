package schedule

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Object is a schedule of any kind.
type Object interface {
	metav1.Object
	// GetSchedule returns what schedules of all kinds have in common.
	GetSchedule() *v1alpha1.ScheduleSpec
	// GetScheduleStatus returns the status.
	GetScheduleStatus() *v1alpha1.ScheduleStatus
	// GetStartingDeadlineSeconds returns how late a run may start; nil for no bound.
	GetStartingDeadlineSeconds() *int64
}

// Policy is what a schedule asks for.
type Policy struct {
	// Clock computes the instants; nil if the spec is refused.
	Clock *Clock
	// Refusals are why there is no clock.
	Refusals finding.List
	// Suspended keeps runs from starting.
	Suspended bool
	// Concurrency is Allow if the spec has none.
	Concurrency v1alpha1.ConcurrencyPolicy
	// StartingDeadline is how late a run may start. Below zero means no bound.
	StartingDeadline time.Duration
	// KeepSuccessful and KeepFailed are the numbers of ended runs to retain: 1 if the spec has none.
	KeepSuccessful, KeepFailed int
}

// maxDeadline is the longest deadline that a duration can hold, in seconds.
const maxDeadline = int64(1<<63-1) / int64(time.Second)

// PolicyOf reads a schedule's spec at an instant.
func PolicyOf(object Object, now time.Time) Policy {
	spec := object.GetSchedule()
	policy := Policy{
		Suspended:      spec.Suspend != nil && *spec.Suspend,
		Concurrency:    spec.ConcurrencyPolicy,
		KeepSuccessful: limit(spec.SuccessfulRunHistoryLimit), KeepFailed: limit(spec.FailedRunHistoryLimit),
		StartingDeadline: -1,
	}
	if seconds := object.GetStartingDeadlineSeconds(); seconds != nil && *seconds <= maxDeadline {
		policy.StartingDeadline = time.Duration(*seconds) * time.Second
	}
	switch policy.Concurrency {
	case "":
		policy.Concurrency = v1alpha1.ConcurrencyAllow
	case v1alpha1.ConcurrencyAllow, v1alpha1.ConcurrencyForbid, v1alpha1.ConcurrencyReplace:
	default:
		policy.Refuse(*refuse("InvalidConcurrencyPolicy", "spec.concurrencyPolicy", string(policy.Concurrency),
			fmt.Sprintf("write %s, %s or %s", v1alpha1.ConcurrencyAllow, v1alpha1.ConcurrencyForbid, v1alpha1.ConcurrencyReplace)))
	}
	clock, refusal := clockOf(object, now)
	switch {
	case refusal != nil:
		policy.Refuse(*refusal)
	case len(policy.Refusals) == 0:
		policy.Clock = clock
	}
	return policy
}

// Refuse refuses the spec: there is no clock.
func (p *Policy) Refuse(refusal finding.Finding) {
	p.Clock = nil
	p.Refusals.Add(refusal)
}

// Refusal returns the first reason for which there is no clock; nil if there is one.
func (p Policy) Refusal() *finding.Finding {
	if len(p.Refusals) == 0 {
		return nil
	}
	return &p.Refusals[0]
}

// clockOf reads the schedule. @every counts from the record's beginning if the schedule is unchanged.
func clockOf(object Object, now time.Time) (*Clock, *finding.Finding) {
	spec := object.GetSchedule()
	clock, refusal := Parse(spec.Schedule, spec.TimeZone, now, now)
	if refusal != nil {
		return nil, refusal
	}
	since := beginning(object, clock, now)
	if record := object.GetScheduleStatus().Firesteel; record != nil && record.Clock == clock.String() {
		since = record.Since.Time
	}
	return Parse(spec.Schedule, spec.TimeZone, since, now)
}

// limit returns a number of runs to retain, at least zero.
func limit(asked *int32) int {
	if asked == nil {
		return 1
	}
	return int(max(*asked, 0))
}
