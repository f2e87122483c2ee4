package cluster

import (
	"time"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Observation is what was seen of the world. All of it is about the record's attempt.
type Observation struct {
	// Ensured says that the effect Ensure was carried out on this spec: the objects are as the spec has them, but for
	// what was Refused.
	Ensured bool
	// Refused says why an object can never be had; nil where none was refused.
	Refused *lifecycle.Cause
	// Awaited says what has the name of an object and is on its way out, so that Ensure could not be carried out; nil where
	// nothing is. It is to be tried again at an instant.
	Awaited  *lifecycle.Cause
	TryAgain time.Time
	// Created is when the master's StatefulSet was created; zero while there is none.
	Created time.Time
	// Master is what the master tells; nil where it has not been asked yet.
	Master *Master
	// ReadyWorkers is the number of workers whose Pods are ready. It is asked only where the master does not tell.
	ReadyWorkers int32
	// Obstacle says what keeps Pods from starting; nil where nothing is known to.
	Obstacle *lifecycle.Cause
	// Told is what the status says of the readiness so far; zero where it says nothing.
	Told Readiness
	// ReleaseAccepted says that the API server accepted the deletion of all that there was.
	ReleaseAccepted bool
	// Released says that nothing of the cluster is left.
	Released bool
	// Left names what is left of a cluster that the user deleted.
	Left []string
	// Deleted is when the user deleted the cluster; zero where nobody did.
	Deleted time.Time
}

// Master is what the master's page tells, or why it does not.
type Master struct {
	// FailingSince is since when the master does not answer; zero where it answered last time.
	FailingSince time.Time
	// Problem says why it does not answer, or does not tell, in words that do not change while that lasts.
	Problem string
	// Closed says that it answers, and does not tell: a filter before its page keeps Firesteel out.
	Closed bool
	// Alive says that it leads: it does not stand by, nor recover.
	Alive bool
	// Workers is the number of workers that are registered and alive.
	Workers int32
}

// Effect is what is to be done once the record is persisted.
type Effect string

// The effects.
const (
	// NoEffect waits: for a change or for the instant to look again.
	NoEffect Effect = ""
	// Ensure creates what there is not and has what there is as the spec says.
	Ensure Effect = "Ensure"
	// Release deletes all that there is.
	Release Effect = "Release"
)

// Decision is what Decide makes of it all.
type Decision struct {
	// Changed says that the record has news, to be persisted before the effect.
	Changed bool
	Effect  Effect
	// Ask is how often the master's page is to be asked; zero says not to.
	Ask time.Duration
	// LookAgain is the instant of the next deadline; zero where there is none.
	LookAgain time.Time
	// Held says what the cluster waits for that it cannot bring about itself; empty otherwise.
	Held lifecycle.Held
	// Ready says whether jobs can be submitted.
	Ready Readiness
	// Refused says why a cluster that runs does not become what its spec says now; nil where it does.
	Refused *lifecycle.Cause
	// Obstacle says what keeps a cluster that runs from being as its spec says now, and may pass; nil where nothing is known to.
	Obstacle *lifecycle.Cause
	// Warnings are sentences about what is not as the spec, or its reader, would have it.
	Warnings []string
	// SpecAdopted says that nobody can tell whether the spec was edited, since another version of Firesteel noted it.
	SpecAdopted bool
}

// HeldReleasing waits for objects to go whose deletion was accepted. Beside it clusters know HeldSuspended and
// HeldEventsUndelivered of applications.
const HeldReleasing lifecycle.Held = "Releasing"

// Readiness says whether jobs can be submitted to a cluster, and why not.
type Readiness struct {
	Ready bool
	// Reason is a word in CamelCase, and Message says it for people. Neither changes while the cause lasts.
	Reason, Message string
}
