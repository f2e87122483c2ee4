package lifecycle

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// ArchivedAnnotation is the annotation of a driver Pod whose attempt is archived. Its value is ArchivedValue.
const ArchivedAnnotation = "firesteel.dev/archived"

// Archived is how much of an attempt is archived.
type Archived string

// How much of an attempt is archived. The record has the same values.
const (
	ArchivedWhole  Archived = "whole"
	ArchivedPartly Archived = "partly"
	// ArchivedNot: the archive handler did not finish in time.
	ArchivedNot Archived = "not"
	// ArchivedGone: the driver Pod was gone before the archive handler could show that it is done.
	ArchivedGone Archived = "gone"
)

// ArchivedValue returns the value of the annotation. It has the uid of the Pod, since a template may have any annotation.
func ArchivedValue(how Archived, pod *corev1.Pod) string { return string(how) + "." + string(pod.UID) }

// archived reads the annotation of a driver Pod.
func archived(pod *corev1.Pod) Archived {
	how, uid, _ := strings.Cut(pod.Annotations[ArchivedAnnotation], ".")
	if uid != string(pod.UID) || Archived(how) != ArchivedWhole && Archived(how) != ArchivedPartly {
		return ""
	}
	return Archived(how)
}

// ToArchive returns the transition that makes an attempt due for the archive handler; nil if there is none. That is the end of the attempt, or what stops
// its driver before that. deleted is when the application was deleted; nil if it was not.
func ToArchive(record *v1alpha1.Record, deleted *metav1.Time) *v1alpha1.Transition {
	if record == nil || record.Launch == nil || record.Launch.DriverUID == "" {
		return nil
	}
	archived, state := Archived(record.Launch.Archived), CurrentState(record)
	switch {
	case state.Terminated():
		if archived == ArchivedNot || archived == ArchivedGone { // late
			return outbox.LastEnd(record)
		}
		return nil
	case archived != "":
		return nil
	case state.AttemptEnded():
		return outbox.LastEnd(record)
	case state == Suspending || state == Invalidating:
		current := outbox.Current(record)
		return &current
	case deleted != nil && !record.Launch.Released:
		due := outbox.Current(record)
		due.Time, due.Message = metav1.NewMicroTime(deleted.Time), "The application was deleted before its driver ended."
		return &due
	}
	return nil
}

const (
	// archiveWaitRunning bounds the wait for the archive while the driver still runs although it must stop: after a stop by the user, the active deadline
	// or a start that timed out. Only its release stops it, so the wait is short.
	archiveWaitRunning = 10 * time.Second
	// archiveWaitGone bounds the wait for the archive if the driver Pod is gone. Without the Pod, nothing shows when the archive handler is done. What is
	// left to archive is not deleted by what follows, so it is enough that the handler has begun.
	archiveWaitGone = 3 * time.Second
	// ArchiveLate is for how long after the end an attempt is archived that was not archived in time. Nothing waits for it. A storage may be away for an
	// hour. The archive handler is asked while the driver Pod is retained, and it tries again by itself.
	ArchiveLate = 2 * time.Hour
)

// ArchiveDue returns until when what follows waits for the archive. since is when the attempt became due for it, and driver is nil if its Pod is gone.
func ArchiveDue(since time.Time, wait time.Duration, driver *Driver) time.Time {
	switch {
	case driver == nil:
		wait = min(wait, archiveWaitGone)
	case driver.End == nil && !driver.Stopped: // with an end, only sidecars run
		wait = min(wait, archiveWaitRunning)
	}
	return since.Add(wait)
}

// archives reports whether the attempt of the record is one for the archive.
func (m *machine) archives() bool {
	return m.policy.ArchiveWait > 0 && m.record.Launch != nil && m.record.Launch.DriverUID != ""
}

// awaitArchive reports whether what follows has to wait until the attempt is archived. since is when the attempt became due for that.
func (m *machine) awaitArchive(since time.Time) bool {
	driver := m.seen.Driver
	if !m.archives() || m.record.Launch.Archived != "" || driver != nil && driver.Archived != "" {
		return false
	}
	if m.driverGone() {
		driver = nil
	} else if driver == nil {
		return false // it is not known yet
	}
	due := ArchiveDue(since, m.policy.ArchiveWait, driver)
	if !m.now.Before(due) {
		return false
	}
	m.awaits = AwaitsArchive
	m.requeueAt(due)
	return true
}

// driverGone reports whether the driver Pod is gone. If it was lost, the record says so from its end on.
func (m *machine) driverGone() bool { return m.seen.DriverGone || m.record.Launch.Released }

// awaitInterruptedArchive is awaitArchive for an attempt that is stopped before its end. No transition asks the handler then.
func (m *machine) awaitInterruptedArchive(since time.Time) bool {
	if !m.awaitArchive(since) {
		return false
	}
	m.awaitsSince = since
	return true
}

// awaitArchiveOfDeleted is awaitArchive for an application that the user deleted.
func (m *machine) awaitArchiveOfDeleted(state State) bool {
	ended := outbox.LastEnd(m.record)
	switch {
	case state.Terminated():
		return false
	case state.AttemptEnded():
		return ended != nil && m.awaitArchive(ended.Time.Time)
	case state == Suspending || state == Invalidating:
		return m.awaitInterruptedArchive(outbox.Current(m.record).Time.Time)
	default:
		return m.awaitInterruptedArchive(m.seen.Deleted)
	}
}

// recordArchived records how much of the attempt is archived, with a status write that happens for another reason. Until then, the annotation of the Pod
// has the same information.
func (m *machine) recordArchived() {
	if !m.archives() {
		return
	}
	launch, driver := m.record.Launch, m.seen.Driver
	how := ArchivedNot
	switch {
	case driver != nil && driver.Archived != "":
		how = driver.Archived
	case m.driverGone():
		how = ArchivedGone
	}
	if launch.Archived == "" || how == ArchivedWhole || how == ArchivedPartly {
		m.changed = m.changed || launch.Archived != string(how)
		launch.Archived = string(how)
	}
}

// recordArchivedUnlessStopped is recordArchived for a driver whose containers still run: its Pod, and with it the annotation, may be gone long before the
// next status write.
func (m *machine) recordArchivedUnlessStopped() {
	if driver := m.seen.Driver; driver == nil || !driver.Stopped {
		m.recordArchived()
	}
}

// archiveRetained asks for the archive of a retained attempt that was not archived in time, and records that it is archived.
func (m *machine) archiveRetained() {
	driver, ended := m.seen.Driver, outbox.LastEnd(m.record)
	if !m.archives() || Archived(m.record.Launch.Archived) != ArchivedNot || driver == nil || m.seen.DriverGone || ended == nil {
		return
	}
	until := ended.Time.Add(ArchiveLate)
	switch {
	case driver.Archived != "":
		m.recordArchived()
	case m.now.Before(until):
		m.awaits = AwaitsArchive
		m.requeueAt(until)
	}
}
