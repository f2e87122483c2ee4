// Package invariants checks what must hold in every run of Firesteel, whatever fails. Each invariant is a function that returns
// nil if it holds. Its comment names the promise of the design that it checks.
//
//	records    RecordNotLost, RecordMovesForward, TransitionPersisted, TransitionUnchanged, LegalTransition, OneOutcome
//	drivers    OneLiveDriver, NoDriverAfterObject, NoDriverAfterRelease
//	events     Contract, SameBytes, EventOfTransition, InOrder, Delivered, EventPersisted
//	deletions  DeletionDue
//	clients    package clientview: what clients of the Kubeflow operator may see
//
// A [History] is fed with the revisions of applications and driver Pods and with the events that reached the sink. It checks
// all invariants for each application, and knows what a restore of the API server undoes. It talks to no server.
package invariants
