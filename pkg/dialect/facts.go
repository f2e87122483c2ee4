package dialect

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Facts are what a status says beyond the record.
type Facts struct {
	// Now is when it is said.
	Now time.Time
	// Policy is the application's.
	Policy lifecycle.Policy
	// Obstacle says what keeps the driver from starting, or executors from it; nil where nothing is known to.
	Obstacle *lifecycle.Cause
	// Held says what the application waits for.
	Held lifecycle.Held
	// HeldBy names the driver Pod that is awaited to go, and says what keeps it; empty where that is not known.
	HeldBy string
	// Warnings are sentences about what is not done as the spec asks.
	Warnings []string
	// ChangedLabels says how the labels and the owner of the driver Pod were changed; empty if they were not.
	ChangedLabels string
	// SilentHandler names a handler that was asked for too long; empty where none was.
	SilentHandler string
	diagnosis.Delivery
	// Created are the objects of the launch as the API server has them, the driver Pod among them. They are known in the
	// write that records the launch, and in no other.
	Created []submission.Object
	// Executors are those of the current launch that are known of, by the names of their Pods, where the API shows them;
	// nil while they are not known yet. One that is gone is among them for a while. They are gathered: news of them comes
	// once a second, and with every transition.
	Executors map[string]Executor
}

// Executor is what was last seen of an executor Pod.
type Executor struct {
	// ID is the number that the driver gave it, Spark's label spark-exec-id.
	ID    string
	Phase corev1.PodPhase
	// Gone says that the Pod exists no more.
	Gone bool
	// ExitCode and Reason are the Spark container's, once it has ended; nil and empty before.
	ExitCode *int32
	Reason   string
}
