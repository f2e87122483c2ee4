package v1beta2

import firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"

// GetScheduleStatus returns the status.
func (s *ScheduledSparkApplication) GetScheduleStatus() *firesteelv1alpha1.ScheduleStatus {
	return &s.Status
}

// GetStartingDeadlineSeconds returns nil: this API has no bound of how late a run may start.
func (s *ScheduledSparkApplication) GetStartingDeadlineSeconds() *int64 { return nil }

// GetUndecodable returns why all but the metadata could not be decoded; empty if it could.
func (s *ScheduledSparkApplication) GetUndecodable() string { return s.Undecodable }
