package v1alpha1

// GetSchedule returns what schedules of all kinds have in common.
func (s *ScheduledSparkApplication) GetSchedule() *ScheduleSpec { return &s.Spec.ScheduleSpec }

// GetScheduleStatus returns the status.
func (s *ScheduledSparkApplication) GetScheduleStatus() *ScheduleStatus { return &s.Status }

// GetStartingDeadlineSeconds returns how late a run may start; nil for no bound.
func (s *ScheduledSparkApplication) GetStartingDeadlineSeconds() *int64 {
	return s.Spec.StartingDeadlineSeconds
}

// GetUndecodable returns why all but the metadata could not be decoded; empty if it could.
func (s *ScheduledSparkApplication) GetUndecodable() string { return s.Undecodable }
