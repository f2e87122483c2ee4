package adoption

import (
	"time"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// OtherOperatorQuiet is how long another operator must not have written the status before Firesteel adopts the application again.
const OtherOperatorQuiet = 5 * time.Minute

// maxLosses is how often in succession a record is lost until the other writer counts as an operator, even if the status shows the same:
// the Kubeflow operator drops the record with each of its writes. Restoring it each time would make both write without end.
const maxLosses = 3

// LostRecord is what is known of a record that another writer removed. The zero value stands for none.
type LostRecord struct {
	// Last is the application as it was last seen with its record, nil if no record was lost.
	Last dialect.Application
	// At is when another writer last wrote a status without the record.
	At time.Time
	// Times is how often in succession the record was lost.
	Times int
	// Pruned reports whether the API server did not store the record when Firesteel wrote it.
	Pruned bool
	// Version is the resourceVersion with which the loss was seen.
	Version string
}

// Situation is what the decision depends on.
type Situation struct {
	App     dialect.Application
	Dialect dialect.Dialect
	Policy  lifecycle.Policy
	Lost    LostRecord
	// LossPending reports whether the application had a record, and the event of its loss was not handled yet.
	LossPending bool
	// PrunedFor is how long to wait before the record is written again, because the API server did not store it. Zero means
	// no wait.
	PrunedFor time.Duration
	// New reports whether no controller, of any operator, has reconciled the application.
	New bool
	// Fenced reports whether the first launch of the application was fenced, and no driver but that of this launch may run.
	Fenced bool
	Now    time.Time
}

// Step is what to do next.
type Step string

// The steps.
const (
	// LeaveUnknown does nothing: a newer version wrote the record, or someone edited it.
	LeaveUnknown Step = "LeaveUnknown"
	// ReportUndecodable reports why the application cannot be decoded.
	ReportUndecodable Step = "ReportUndecodable"
	// AwaitLoss waits for the event of the loss.
	AwaitLoss Step = "AwaitLoss"
	// Release deletes the drivers of a deleted application that cannot have a record.
	Release Step = "Release"
	// AwaitDefinition waits for another CustomResourceDefinition.
	AwaitDefinition Step = "AwaitDefinition"
	// AwaitOtherOperator waits until the other operator is quiet.
	AwaitOtherOperator Step = "AwaitOtherOperator"
	// Restore writes the lost record again. Without it a second driver could be launched.
	Restore Step = "Restore"
	// Begin starts a new application, or continues its first launch. The first transition writes its record.
	Begin Step = "Begin"
	// LeaveFinished does nothing: the application finished with another operator.
	LeaveFinished Step = "LeaveFinished"
	// Adopt takes over the application, with its driver if there is one.
	Adopt Step = "Adopt"
)

// Decide returns the next step for an application without a usable record.
func Decide(s Situation) Step {
	record := s.App.GetRecord()
	deleted, lost := s.App.GetDeletionTimestamp() != nil, s.Lost.Last != nil
	foreignStatus := s.Dialect.HasForeignStatus(s.App)
	overwritten := lost && foreignStatus && !s.Lost.Pruned
	contested := overwritten && !s.Dialect.SameVisibleStatus(s.App, s.Lost.Last)
	again := overwritten && !deleted && s.Lost.Times >= maxLosses
	switch {
	case record.HasNewerFormat(), record != nil && !deleted && !lifecycle.Understands(record, s.Policy):
		return LeaveUnknown // also if the spec cannot be decoded: a newer version may decode it
	case s.App.GetUndecodable() != "":
		return ReportUndecodable
	case s.LossPending:
		return AwaitLoss
	case deleted && (s.Lost.Pruned || contested):
		return Release
	case s.PrunedFor > 0:
		return AwaitDefinition
	case (contested || again) && s.Now.Sub(s.Lost.At) < OtherOperatorQuiet:
		return AwaitOtherOperator
	case lost && !contested:
		return Restore
	case !foreignStatus && (s.New || s.Fenced):
		return Begin
	case s.Dialect.FinishedElsewhere(s.App):
		return LeaveFinished
	default:
		return Adopt
	}
}
