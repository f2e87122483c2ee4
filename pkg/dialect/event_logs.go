package dialect

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// AnnotationEventLogs chooses how Spark's event logs of one application get into the archive.
const AnnotationEventLogs = "firesteel.dev/event-logs"

// EventLogMode is how Spark's event logs get into the archive.
type EventLogMode string

// How Spark's event logs get into the archive.
const (
	// EventLogsOff is not at all.
	EventLogsOff EventLogMode = "off"
	// EventLogsImage is by the file system of the driver's image.
	EventLogsImage EventLogMode = "image"
	// EventLogsSidecar is by a sidecar of the driver.
	EventLogsSidecar EventLogMode = "sidecar"
)

// ParseEventLogs reads how Spark's event logs get into the archive.
func ParseEventLogs(text string) (EventLogMode, bool) {
	switch mode := EventLogMode(strings.TrimSpace(text)); mode {
	case EventLogsOff, EventLogsImage, EventLogsSidecar:
		return mode, true
	default:
		return EventLogsOff, false
	}
}

// EventLogs is how Spark's event logs get into the archives.
type EventLogs struct {
	// Mode is how they get there, unless an application's annotation chooses otherwise. Empty is off.
	Mode EventLogMode
	// Folders holds the folder of each namespace that has an archive for itself, as a URL that Hadoop's file systems read.
	Folders map[string]string
	// Sidecar sends them. Its image is empty if there is none.
	Sidecar submission.EventLogSidecar
	// AllArchived reports whether all namespaces have an archive, and Archived holds those that have one anyway.
	AllArchived bool
	Archived    map[string]bool
}

// modeOf returns how the event logs of an application get into the archive, if it can be so.
func (e EventLogs) modeOf(app metav1.Object) EventLogMode {
	mode := e.Mode
	if chosen, ok := ParseEventLogs(app.GetAnnotations()[AnnotationEventLogs]); ok {
		mode = chosen
	}
	if e.lacks(mode, app.GetNamespace()) != "" || mode == EventLogsSidecar && e.Sidecar.Image == "" {
		return EventLogsOff
	}
	return mode
}

// lacks returns the remedy for what a mode lacks in a namespace; empty if it lacks nothing.
func (e EventLogs) lacks(mode EventLogMode, namespace string) string {
	switch {
	case mode == EventLogsImage && e.Folders[namespace] == "":
		return "have it added to namespaces of the ConfigMap config-archive, or set spark.eventLog.dir"
	case mode == EventLogsSidecar && !e.AllArchived && !e.Archived[namespace]:
		return "have url or namespaces set in the ConfigMap config-archive"
	default:
		return ""
	}
}

// Properties of Spark's event log.
const (
	eventLogPrefix      = "spark.eventLog."
	eventLogEnabledKey  = eventLogPrefix + "enabled"
	eventLogDirKey      = eventLogPrefix + "dir"
	eventLogRollingKey  = eventLogPrefix + "rolling.enabled"
	eventLogSizeKey     = eventLogPrefix + "rolling.maxFileSize"
	eventLogCompressKey = eventLogPrefix + "compress"
)

// eventLogProperties returns what a driver needs to write an event log into a folder.
func eventLogProperties(folder string) map[string]string {
	return map[string]string{
		eventLogEnabledKey: "true", eventLogDirKey: folder,
		// In object storage a file exists when it is complete. So a driver that is killed loses at most the last file: the smallest that Spark allows. A sidecar
		// deletes files that are complete, so that few fit into its folder.
		eventLogRollingKey: "true", eventLogSizeKey: "10m",
		// The History Server's view gives each log an ID of its own. It cannot change a compressed one.
		eventLogCompressKey: "false",
	}
}

// setEventLog makes a plan's driver write its event log for the archive. Each property that the plan has already wins. A plan with a folder of its own, or
// without event log, gets nothing.
func setEventLog(plan *submission.Plan, app metav1.Object, attempt v1alpha1.Attempt, settings EventLogs) {
	if hasOwnEventLog(*plan) {
		return
	}
	switch settings.modeOf(app) {
	case EventLogsImage:
		setEventLogProperties(plan, settings.Folders[app.GetNamespace()])
	case EventLogsSidecar:
		if attempt.WithoutEventLogs != "" || len(eventLogConflicts(*plan)) > 0 {
			return
		}
		setEventLogProperties(plan, "file://"+submission.EventLogFolder)
		sidecar := settings.Sidecar
		sidecar.Attempt = attempt.ID
		plan.EventLogs = &sidecar
	}
}

func setEventLogProperties(plan *submission.Plan, folder string) {
	if plan.Properties == nil {
		plan.Properties = map[string]string{}
	}
	for key, value := range eventLogProperties(folder) {
		if _, set := plan.Properties[key]; !set {
			plan.Properties[key] = value
		}
	}
}

// hasOwnEventLog reports whether the application says itself where its event log is written, or that there is none.
func hasOwnEventLog(plan submission.Plan) bool {
	_, own := plan.Properties[eventLogDirKey]
	enabled := plan.Properties[eventLogEnabledKey]
	return own || enabled != "" && !strings.EqualFold(strings.TrimSpace(enabled), "true")
}

// eventLogConflicts returns the properties of an application with which a sidecar cannot send its event log.
func eventLogConflicts(plan submission.Plan) (keys []string) {
	want := eventLogProperties("")
	for _, key := range []string{eventLogCompressKey, eventLogRollingKey, eventLogSizeKey} {
		if given, set := plan.Properties[key]; set && !strings.EqualFold(strings.TrimSpace(given), want[key]) {
			keys = append(keys, key)
		}
	}
	return keys
}

// sidecarWarnings warns of properties with which a sidecar cannot send the event log.
func sidecarWarnings(app metav1.Object, plan submission.Plan, settings EventLogs) (found finding.List) {
	if settings.modeOf(app) != EventLogsSidecar || hasOwnEventLog(plan) {
		return nil
	}
	for _, key := range eventLogConflicts(plan) {
		found.Add(finding.Finding{
			Severity: finding.Warning, Property: key, Field: key, Value: plan.Properties[key],
			Message: "keeps the event log from being sent to the archive: the sidecar needs " + eventLogProperties("")[key],
			Remedy:  fmt.Sprintf("remove it, or set the annotation %s to %s", AnnotationEventLogs, EventLogsOff),
		})
	}
	return found
}

// eventLogWarnings warns of a value of the annotation that has no effect.
func eventLogWarnings(app metav1.Object, settings EventLogs) finding.List {
	var found finding.List
	value, set := app.GetAnnotations()[AnnotationEventLogs]
	field := finding.Entry("metadata.annotations", AnnotationEventLogs)
	mode, ok := ParseEventLogs(value)
	remedy := settings.lacks(mode, app.GetNamespace())
	switch {
	case set && !ok:
		found.Warn(field, clippedValue(value), fmt.Sprintf("has no effect, it is none of %s, %s and %s", EventLogsOff, EventLogsImage, EventLogsSidecar),
			"write one of them, or leave it out")
	case set && mode == EventLogsSidecar && settings.Sidecar.Image == "":
		found.Warn(field, clippedValue(value), "has no effect, no image of the sidecar is set", "have event-logs-image set in the ConfigMap config-archive")
	case set && remedy != "":
		found.Warn(field, clippedValue(value), "has no effect, the namespace has no archive", remedy)
	}
	return found
}
