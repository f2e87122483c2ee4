package cluster

import (
	"time"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// Policy is what a cluster's spec says about its lifecycle.
type Policy struct {
	// NeededWorkers is the number of workers that have to be registered for the cluster to be ready; see Needed.
	NeededWorkers int32
	// MasterStartTimeout is how long the master may take to answer; zero or less has it take as long as it likes.
	MasterStartTimeout time.Duration
	// DeletionGrace is how long the deletion of a cluster may wait for objects that do not go; zero or less is for ever.
	DeletionGrace time.Duration
	// Suspend holds the creation. Nothing that exists is touched by it.
	Suspend bool
	// Spec is what the cluster asks for now, but for Suspend.
	Spec spec.Spec
	// Refused says why the spec can never run; nil where it can.
	Refused *lifecycle.Cause
}

// Needed is the number of workers that have to be registered: the minimum, but one at least, and no more than are asked
// for. A cluster that was scaled below its minimum is ready with what it was scaled to, one of no workers without any.
func Needed(minimum, asked int32) int32 { return min(max(minimum, 1), asked) }
