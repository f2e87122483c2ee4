package schedule

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// begin creates the record of a schedule that has none, or whose record is about another clock.
func begin(object Object, policy Policy, now time.Time) *v1alpha1.ScheduleRecord {
	record := &v1alpha1.ScheduleRecord{}
	if before := object.GetScheduleStatus().Firesteel; before != nil {
		record = before.DeepCopy()
	}
	record.Held, record.Begun = nil, nil
	if policy.Clock == nil {
		record.Clock = ""
		return record
	}
	since := beginning(object, policy.Clock, now)
	record.Clock = policy.Clock.String()
	record.Since, record.SettledUntil = seconds(since), seconds(since)
	return record
}

// beginning returns from when on a schedule without a matching record counts. For a new schedule that is its
// creation, since the controller may have been down. For an edited one it is now. A schedule that the Kubeflow
// operator left continues with its next run.
func beginning(object Object, clock *Clock, now time.Time) time.Time {
	status := object.GetScheduleStatus()
	switch {
	case status.Firesteel != nil:
		return now
	case status.ScheduleState == v1alpha1.ScheduleStateNew && status.LastRun.IsZero() && status.NextRun.IsZero():
		return object.GetCreationTimestamp().Time
	case status.NextRun.IsZero():
		return now
	}
	next := status.NextRun.Time
	if period, periodic := clock.Period(); periodic {
		if next.After(now.Add(period)) {
			return now // the schedule was edited after that
		}
		return next.Add(-period)
	}
	if next.After(now) {
		return now
	}
	return next.Add(-time.Second)
}

// seconds returns an instant with the precision of a record.
func seconds(at time.Time) metav1.Time { return metav1.NewTime(at.UTC().Truncate(time.Second)) }
