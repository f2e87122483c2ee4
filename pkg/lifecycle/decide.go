package lifecycle

import (
	"fmt"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

const (
	outcomeSucceeded = v1alpha1.OutcomeSucceeded
	outcomeFailed    = v1alpha1.OutcomeFailed
	outcomeDeleted   = v1alpha1.OutcomeDeleted
)

// Decide advances an application as far as the observation allows. It never changes the given record, which is nil
// for an application that was never reconciled. The returned record is never nil.
func Decide(record *v1alpha1.Record, policy Policy, seen Observation, now time.Time) (*v1alpha1.Record, Decision) {
	m := machine{policy: policy, seen: seen, now: now}
	if record == nil {
		m.submit()
	} else {
		m.record = record.DeepCopy()
		if !Understands(record, policy) && seen.Deleted.IsZero() {
			return m.record, Decision{Seen: seen, Held: HeldNotUnderstood}
		}
		outbox.Repair(m.record)
	}
	m.recordSpec()
	m.launchWithout()
	m.recordLaunch()
	if m.followsUser() {
		m.policy = policy.following()
	}
	m.ignoreOtherPods()
	for m.advance() {
		m.effect, m.awaits, m.held, m.obstacle, m.requeue, m.over = NoEffect, AwaitsNothing, "", nil, time.Time{}, false
		if policy.PersistsEachState && CurrentState(m.record).transient() {
			m.effect = Persist
			break
		}
	}
	outbox.Prune(m.record)
	return m.record, Decision{
		Changed: m.changed, Effect: m.effect, Seen: m.seen, RequeueAt: m.requeue,
		ReleaseCanWait: m.over && m.effect == Release && m.seen.Driver != nil && m.seen.Driver.Stopped,
		Awaits:         m.awaits, AwaitsSince: m.awaitsSince, Held: m.held, HeldBy: m.heldBy(), Obstacle: m.obstacle,
		SpecAdopted: m.specAdopted,
	}
}

// Begin returns the record of an application whose first launch was fenced before a record was stored. since is when its first attempt
// began.
func Begin(policy Policy, launch *v1alpha1.Launch, since time.Time) *v1alpha1.Record {
	m := machine{policy: policy, now: since}
	m.submit()
	m.record.Launch = launch
	return m.record
}

// submit begins the record of a new application.
func (m *machine) submit() {
	m.record = &v1alpha1.Record{Attempt: v1alpha1.Attempt{Since: outbox.RecordTime(m.now)}}
	m.enter(Submitted, "Spark application has been created on Kubernetes Cluster.")
}

// Understands reports whether this version of Firesteel can work with a record. If it cannot, a newer version wrote
// the record, or a user edited it. Then a running driver is left alone until the application is deleted.
func Understands(record *v1alpha1.Record, policy Policy) bool {
	return !record.HasNewerFormat() && policy.allows(CurrentState(record))
}

// CurrentState returns the state of a record; empty if there is no record.
func CurrentState(record *v1alpha1.Record) State { return State(outbox.Current(record).State) }

// machine holds the state of one call of Decide.
type machine struct {
	record *v1alpha1.Record
	policy Policy
	seen   Observation
	now    time.Time

	changed     bool
	effect      Effect
	requeue     time.Time
	awaits      Awaited
	awaitsSince time.Time
	held        Held
	obstacle    *Cause
	specAdopted bool
	// over reports whether the application ends with the release of its driver.
	over bool
}

// advance takes one step and reports whether another may follow.
func (m *machine) advance() bool {
	state := CurrentState(m.record)
	switch {
	case !m.seen.Deleted.IsZero() && state != ResourceReleased:
		return m.shutDown(state)
	case m.specEdited(state):
		return m.enter(Invalidating, "The spec was edited: what runs the old one is stopped.")
	case m.mustSuspend(state):
		return m.enter(Suspending, "The application is suspended: its driver is stopped.")
	case state.Initializing():
		return m.decideLaunch()
	case m.replaces(state):
		return m.replace()
	case state.Starting(), state.Running(), state == Unknown:
		return m.follow(state)
	case state.AttemptEnded():
		return m.conclude()
	case state == TerminatedWithoutReleaseResources:
		return m.retain()
	case state == ResourceReleased:
		return m.expire()
	case state == Suspending:
		return m.suspend()
	case state == Suspended:
		return m.resume()
	default: // Invalidating: Understands rejects all others
		return m.invalidate()
	}
}

// failNotUnderstood fails an application whose record is contradictory. A driver may be running, so nothing else is
// started.
func (m *machine) failNotUnderstood(reason string) bool {
	m.append(m.ended(End{State: Failed, Cause: Cause{
		Class: ClassInfrastructure, Reason: reason, Message: "Cannot process application status.",
	}}))
	return true
}

// shutDown stops the driver of an application that the user deleted, in any state. A driver Pod that stays
// terminating delays the deletion only for a bounded time.
func (m *machine) shutDown(state State) bool {
	message := "Spark application has been shutdown as requested."
	if m.awaitArchiveOfDeleted(state) {
		return false
	}
	m.recordArchivedUnlessStopped()
	if !m.released(m.seen.Deleted) || m.orphanAlive() {
		if !m.deletionTimedOut() {
			return false
		}
		message = fmt.Sprintf("%s Its driver Pod is left terminating: %s.", message, orElse(m.heldBy(), "it is not gone yet"))
	}
	outcome := outcomeDeleted
	if end := outbox.LastEnd(m.record); end != nil && state != Invalidating { // in Invalidating, another run was to follow
		outcome = orElse(end.End.Outcome, outcome)
	}
	if state == TerminatedWithoutReleaseResources {
		outcome = "" // the outcome is in an earlier transition
	}
	return m.terminate(ResourceReleased, message, outcome)
}

func (m *machine) decideLaunch() bool {
	switch {
	case m.policy.Refused != nil:
		return m.fail(Failed, *m.policy.Refused)
	case m.seen.LaunchRefused != nil:
		return m.fail(SchedulingFailure, *m.seen.LaunchRefused)
	case m.seen.Launched != "":
		return m.enter(DriverRequested, "Requested driver from resource scheduler.")
	case m.orphanAlive():
		return false
	case m.mustStop():
		return m.fail(Failed, *m.policy.Stop)
	case m.deadlineOver():
		return m.fail(Failed, m.deadlineExceeded())
	}
	if m.obstacle = m.seen.LaunchHeld; m.obstacle != nil || m.seen.RetryLaunchAt.After(m.now) {
		if !m.seen.RetryLaunchAt.IsZero() {
			m.requeueAt(m.seen.RetryLaunchAt)
		}
		return false
	}
	if m.record.Launch == nil && m.launchHeld() {
		return false
	}
	m.effect = Launch
	return false
}

// recordLaunch records the result of a launch, whatever is decided next: either a driver, or proof that there is
// none.
func (m *machine) recordLaunch() {
	driver, launch := m.seen.Launched, m.record.Launch
	found := launch != nil && launch.DriverUID == "" && driver != "" // the effect was a release
	switch {
	case !CurrentState(m.record).Initializing() && !found, driver == "" && m.seen.LaunchRefused == nil:
		return
	case launch == nil && driver == "":
		return // refused before anything was created
	case launch == nil:
		launch = &v1alpha1.Launch{}
		m.record.Launch = launch
	case launch.DriverUID == driver && launch.Released == (driver == ""):
		return
	}
	launch.DriverUID, launch.Released, m.changed = driver, driver == "", true
	launch.Warnings = append(launch.Warnings, m.seen.LaunchWarnings...)
	launch.UIPort, launch.UIHost, launch.UIURL = m.seen.UI.Port, m.seen.UI.Host, m.seen.UI.URL
	m.seen.DriverGone, m.seen.ReleaseAccepted = false, false // these were about another driver
}

// ignoreOtherPods ignores a Pod of another launch: an earlier attempt's Pod may have the same name.
func (m *machine) ignoreOtherPods() {
	driver, launch := m.seen.Driver, m.record.Launch
	if driver != nil && launch != nil && driver.UID != "" && launch.DriverUID != "" && driver.UID != launch.DriverUID {
		m.seen.Driver = nil
	}
}

// launchHeld reports whether the launch has to wait.
func (m *machine) launchHeld() bool {
	if m.policy.Suspend {
		m.held = HeldSuspended
		if m.record.Quota != nil {
			m.record.Quota, m.changed = nil, true // once it is resumed, it begins to wait
		}
		return true
	}
	verdict := m.record.Verdict
	ours := verdict != nil && verdict.Attempt == m.record.Attempt.ID-1
	if ours && verdict.NotBefore != nil && m.now.Before(verdict.NotBefore.Time) {
		m.requeueAt(verdict.NotBefore.Time)
		return true
	}
	return false
}

// conclude decides what follows an ended attempt.
func (m *machine) conclude() bool {
	ended := outbox.LastEnd(m.record)
	if ended == nil {
		return m.failNotUnderstood("UnknownEnd")
	}
	if m.awaitArchive(ended.Time.Time) { // before the verdict, which may be later than the wait is long
		return false
	}
	if !ended.End.RestartAllowed || m.policy.Stop != nil {
		return m.finish(ended, m.noRestart(ended))
	}
	verdict := m.record.Verdict
	if verdict == nil || verdict.Attempt != m.record.Attempt.ID {
		m.awaits = AwaitsVerdict
		return false
	}
	if !verdict.Restart {
		return m.finish(ended, verdict.Reason)
	}
	m.recordArchived()
	// Only one driver may live: release this attempt's driver first, even if it is retained.
	if !m.released(terminationStart(ended)) {
		return false
	}
	if m.recordFull() {
		return false
	}
	return m.restart(ended)
}

// noRestart returns why no attempt follows an end; empty if the restart policy does not cover it.
func (m *machine) noRestart(ended *v1alpha1.Transition) string {
	_, active := endedByTimeout(ended)
	switch {
	case active:
		return "No attempt follows: the active deadline is over."
	case wasStopped(ended), ended.End.RestartAllowed: // stopped after its end
		return neverAfterStop
	default:
		return restartDenied(m.policy.Restart, m.record.Attempt, *ended)
	}
}

// recordFull reports whether the record has no room for another attempt.
func (m *machine) recordFull() bool {
	if !outbox.IsFull(m.record) {
		return false
	}
	m.held = HeldEventsUndelivered
	return true
}

// finish ends the application.
func (m *machine) finish(ended *v1alpha1.Transition, message string) bool {
	outcome := orElse(ended.End.Outcome, outcomeFailed)
	start, active := endedByTimeout(ended)
	retained := m.policy.Retain.after(outcome) && !active && !wasStopped(ended) && !(start && m.policy.ReleasesTimedOut)
	halfLaunched := State(ended.State) == SchedulingFailure // never retained: useless, and its driver might still start
	m.recordArchivedUnlessStopped()
	if (!retained || halfLaunched) && !m.released(terminationStart(ended)) {
		m.over = true
		return false
	}
	if retained {
		return m.terminate(TerminatedWithoutReleaseResources,
			orElse(message, "Application is terminated without releasing resources as configured."), outcome)
	}
	return m.terminate(ResourceReleased, message, outcome)
}

func (m *machine) restart(ended *v1alpha1.Transition) bool {
	message := ""
	if m.policy.Retain.after(ended.End.Outcome) {
		message = "Application is configured to restart, resources created in current attempt would be force released."
	}
	next := nextAttempt(m.policy.Restart, m.record.Attempt, *ended, m.now)
	next.Executions, next.ActiveMillis = Executions(m.record), m.record.Attempt.ActiveMillis
	return m.begin(next, ScheduledToRestart, message)
}

// begin starts the next attempt, in a state that waits for its launch.
func (m *machine) begin(next v1alpha1.Attempt, state State, message string) bool {
	previous := m.record.Attempt
	next.Since = outbox.RecordTime(m.now)
	next.TakeUnknown(previous)
	m.record.Previous, m.record.Attempt, m.record.Launch, m.record.Quota = &previous, next, nil, nil
	m.policy.Spec.Note(m.record)
	m.seen = Observation{Deleted: m.seen.Deleted, HasOrphan: m.seen.HasOrphan, OrphanDriver: m.seen.OrphanDriver} // the rest is about the previous attempt
	return m.enter(state, message)
}

func (m *machine) requeueAt(at time.Time) {
	if m.requeue.IsZero() || at.Before(m.requeue) {
		m.requeue = at
	}
}
