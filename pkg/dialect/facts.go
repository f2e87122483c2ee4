package dialect

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Facts are what a status shows besides the record.
type Facts struct {
	// Now is the time of the status write.
	Now time.Time
	// Policy is that of the spec as it is now. An attempt may have been launched with an earlier one.
	Policy lifecycle.Policy
	// Obstacle is what keeps the driver or its executors from starting; nil if none is known.
	Obstacle *lifecycle.Cause
	// Held is what the application waits for.
	Held lifecycle.Held
	// HeldBy names the driver Pod whose deletion is awaited, and what holds it up. It is empty if that is not known.
	HeldBy string
	// Warnings are sentences about what is not done as the spec asks, each with field, value and remedy; empty if there are none.
	Warnings []string
	// ChangedLabels explains how the labels and the owner of the driver Pod were changed. It is nil if they were not.
	ChangedLabels *diagnosis.Explanation
	// SilentHandler names a handler whose answer is overdue. It is empty if there is none.
	SilentHandler string
	diagnosis.Delivery
	// Executors are the known executors of the current launch by the names of their Pods, if the API shows them. It is nil
	// while they are not known yet. It includes an executor for a while after its Pod is gone. Changes are collected: they
	// are written once a second, and with every transition.
	Executors map[string]Executor
}

// Executor is the last known state of an executor Pod.
type Executor struct {
	// ID is the number that the driver gave it, Spark's label spark-exec-id.
	ID    string
	Phase corev1.PodPhase
	// Gone reports whether the Pod does not exist any more.
	Gone bool
	// ExitCode and Reason are those of the Spark container after its end; nil and empty before.
	ExitCode *int32
	Reason   string
}
