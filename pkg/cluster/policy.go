package cluster

import (
	"time"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// Policy is what a cluster's spec asks of its lifecycle.
type Policy struct {
	// NeededWorkers is the number of workers that must be registered for the cluster to be ready; see Needed.
	NeededWorkers int32
	// MasterStartTimeout is how long the master may take to answer. Zero or less means no bound.
	MasterStartTimeout time.Duration
	// DeletionGrace is how long the deletion of a cluster waits for objects that stay. Zero or less means no bound.
	DeletionGrace time.Duration
	// Suspend holds the creation. It does not affect existing objects.
	Suspend bool
	// Spec is the current spec, without Suspend.
	Spec spec.Spec
	// Refused is why the spec can never run; nil if it can.
	Refused *lifecycle.Cause
}

// Needed returns the number of workers that must be registered: the minimum, at least one, and at most the number
// asked for. A cluster that was scaled below its minimum is ready with the number it was scaled to; one with no
// workers is ready without any.
func Needed(minimum, asked int32) int32 { return min(max(minimum, 1), asked) }
