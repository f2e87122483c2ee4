package lifecycle

// followsUser reports whether the user started the driver of the attempt.
func (m *machine) followsUser() bool { return m.record.Launch != nil && m.record.Launch.ByUser }

// OfUserDriver returns the policy for a driver that the user started. No limit stops it and no attempt follows, so that it is deleted with
// the application only. How many executors it asked for is not known.
func (p Policy) OfUserDriver() Policy {
	p.Restart = Restart{Policy: RestartNever}
	p.Timeouts.DriverStart, p.Timeouts.DriverReady, p.Timeouts.ExecutorStart, p.ActiveDeadline = 0, 0, 0, 0
	p.Executors, p.ReportNoExecutorsAfter = Executors{}, 0
	p.Retain, p.RetainFor = RetainAlways, -1
	return p
}

// following returns the policy while the driver that the user started is followed: Firesteel does not delete it by force. Before, and
// after an edit, an application may have a driver of its own, for which the limit holds.
func (p Policy) following() Policy {
	p = p.OfUserDriver()
	p.Timeouts.ForceTermination = 0
	return p
}
