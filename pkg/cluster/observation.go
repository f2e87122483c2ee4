package cluster

import (
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Observation is what was observed. All of it is about the record's attempt.
type Observation struct {
	// Ensured reports whether the effect Ensure was carried out for this spec: the objects match it, except what was
	// Refused.
	Ensured bool
	// Refused is why an object can never be created; nil if none was refused.
	Refused *lifecycle.Cause
	// Awaited is why Ensure could not finish and is tried again: a terminating object has the name of a wanted one, or a quota
	// refused an object. It is nil if Ensure finished. RetryAt is when to try again.
	Awaited *lifecycle.Cause
	RetryAt time.Time
	// Room is what the quotas of the namespace say; nil if the cluster is not about to be created, or if a StatefulSet exists.
	Room *Room
	// Complete reports whether all Pods exist that the StatefulSets ask for.
	Complete bool
	// Created is when the master's StatefulSet was created; zero while there is none.
	Created time.Time
	// Master is the last answer of the master; nil if it was not asked yet.
	Master *Master
	// ReadyWorkers is the number of workers whose Pods are ready. It is used only if the master does not show its
	// workers.
	ReadyWorkers int32
	// Obstacle is what keeps Pods from starting; nil if nothing is known.
	Obstacle *lifecycle.Cause
	// Reported is the readiness in the current status; zero if the status has none.
	Reported Readiness
	// ReleaseAccepted reports whether the API server accepted the deletion of all objects.
	ReleaseAccepted bool
	// Released reports whether no object of the cluster is left.
	Released bool
	// Left names the objects that are left of a deleted cluster.
	Left []string
	// Deleted is when the user deleted the cluster; zero if it is not deleted.
	Deleted time.Time
}

// Room is what the quotas of the namespace say about a cluster of which no StatefulSet exists. Nothing is created while it is held or refused,
// or before the reservation of the claim is confirmed.
type Room struct {
	// Claim is what the cluster asks of the quotas, reserved if there is room; nil if nothing is compared with them.
	Claim *v1alpha1.QuotaClaim
	// Confirmed reports whether the objects may be created.
	Confirmed bool
	// Waiting is why the cluster waits; nil if that is not reported yet. Refused is why it is never created.
	Waiting, Refused *lifecycle.Cause
	// RetryAt is when to compare again; zero if a watch wakes the cluster.
	RetryAt time.Time
}

// Master is what the master's page shows, or why it does not.
type Master struct {
	// FailingSince is since when the master does not answer; zero if its last answer was good.
	FailingSince time.Time
	// Problem says why the master does not answer or does not show its page. The text stays the same while the
	// problem lasts.
	Problem string
	// Closed reports whether the master answers without showing its page: it requires authentication.
	Closed bool
	// Alive reports whether the master leads: it is neither in standby nor recovering.
	Alive bool
	// Workers is the number of registered workers that are alive.
	Workers int32
}

// Effect is what to do once the record is persisted.
type Effect string

// The effects.
const (
	// NoEffect waits for a change, or for the requeue time.
	NoEffect Effect = ""
	// Ensure creates missing objects and updates those that differ from the spec.
	Ensure Effect = "Ensure"
	// Release deletes all objects.
	Release Effect = "Release"
)

// Decision is the result of Decide.
type Decision struct {
	// Changed reports whether the record must be persisted before the effect.
	Changed bool
	Effect  Effect
	// PollInterval is how often to poll the master's page; zero means never.
	PollInterval time.Duration
	// RequeueAt is the instant of the next deadline; zero if there is none.
	RequeueAt time.Time
	// Held is what the cluster waits for and cannot bring about itself; empty otherwise.
	Held lifecycle.Held
	// Ready reports whether jobs can be submitted.
	Ready Readiness
	// Refused is why a running cluster cannot be changed to its spec; nil if it can.
	Refused *lifecycle.Cause
	// Obstacle is what currently keeps a running cluster from matching its spec; nil if nothing is known.
	Obstacle *lifecycle.Cause
	// Warnings are sentences about what differs from the spec or from what readers expect.
	Warnings []string
	// SpecAdopted reports whether it is unknown if the spec was edited, because another version of Firesteel recorded
	// it.
	SpecAdopted bool
}

// HeldReleasing waits for objects to disappear whose deletion was accepted. Clusters also use HeldSuspended and
// HeldEventsUndelivered of applications.
const HeldReleasing lifecycle.Held = "Releasing"

// Readiness reports whether jobs can be submitted to a cluster, and why not.
type Readiness struct {
	Ready bool
	// Reason is a word in CamelCase, and Message a sentence. Neither changes while the cause lasts.
	Reason, Message string
}
