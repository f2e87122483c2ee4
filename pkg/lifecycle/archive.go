package lifecycle

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

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

// ToArchive returns the end of the attempt that the archive handler has to archive; nil if there is none.
func ToArchive(record *v1alpha1.Record) *v1alpha1.Transition {
	if record == nil || !CurrentState(record).AttemptEnded() || record.Launch == nil || record.Launch.DriverUID == "" || record.Launch.Archived != "" {
		return nil
	}
	return outbox.LastEnd(record)
}

// archiveWaitRunning bounds the wait for the archive while the driver runs: after a stop by the user, the active deadline or a start that timed out. Its
// release is what stops it, so until then it does and costs what it should not any more.
const archiveWaitRunning = 10 * time.Second

// ArchiveDue returns until when what follows the end of an attempt waits for the archive. driver is nil if there is none.
func ArchiveDue(ended *v1alpha1.Transition, wait time.Duration, driver *Driver) time.Time {
	if driver != nil && driver.End == nil && !driver.Stopped { // with an end, only sidecars run
		wait = min(wait, archiveWaitRunning)
	}
	return ended.Time.Add(wait)
}

// awaitArchive reports whether what follows the end of an attempt has to wait until the attempt is archived. It records how much is archived, which is
// written before the driver is released.
func (m *machine) awaitArchive(ended *v1alpha1.Transition) bool {
	launch, driver := m.record.Launch, m.seen.Driver
	if m.policy.ArchiveWait <= 0 || launch == nil || launch.DriverUID == "" || launch.Archived != "" {
		return false
	}
	due := ArchiveDue(ended, m.policy.ArchiveWait, driver)
	how := ArchivedNot
	switch {
	case driver != nil && driver.Archived != "":
		how = driver.Archived
	case driver != nil && !m.seen.DriverGone && !launch.Released && m.now.Before(due):
		m.awaits = AwaitsArchive
		m.requeueAt(due)
		return true
	}
	launch.Archived, m.changed = string(how), true
	return false
}
