package dialect

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// AnnotationEventLogs chooses whether the drivers of one application write Spark's event log into the archive of their namespace.
const AnnotationEventLogs = "firesteel.dev/event-logs"

const (
	eventLogsOff   = "off"
	eventLogsImage = "image"
)

// ParseEventLogs reads how Spark's event logs get into the archive: not at all, or by the file system of the driver's image.
func ParseEventLogs(text string) (image, ok bool) {
	text = strings.TrimSpace(text)
	return text == eventLogsImage, text == eventLogsImage || text == eventLogsOff
}

// EventLogs is where drivers write Spark's event logs.
type EventLogs struct {
	// Image makes drivers write them, unless an application's annotation chooses otherwise.
	Image bool
	// Folders holds the folder of each namespace that has one, as a URL that Hadoop's file systems read.
	Folders map[string]string
}

// eventLogPrefix begins the properties of Spark's event log.
const eventLogPrefix = "spark.eventLog."

// eventLogFolder returns the folder into which the drivers of an application write; empty if they write nothing there.
func eventLogFolder(app metav1.Object, settings EventLogs) string {
	image := settings.Image
	if chosen, ok := ParseEventLogs(app.GetAnnotations()[AnnotationEventLogs]); ok {
		image = chosen
	}
	if !image {
		return ""
	}
	return settings.Folders[app.GetNamespace()]
}

// setEventLog adds the properties of the event log to a plan. Each that the plan has already wins. A plan with a folder of its own, or
// without event log, gets none.
func setEventLog(plan *submission.Plan, folder string) {
	_, own := plan.Properties[eventLogPrefix+"dir"]
	if enabled := plan.Properties[eventLogPrefix+"enabled"]; folder == "" || own || enabled != "" && !strings.EqualFold(strings.TrimSpace(enabled), "true") {
		return
	}
	if plan.Properties == nil {
		plan.Properties = map[string]string{}
	}
	for key, value := range map[string]string{
		"enabled": "true", "dir": folder,
		// In object storage a file exists when it is complete. So a driver that is killed loses at most the last file: the smallest that Spark allows.
		"rolling.enabled": "true", "rolling.maxFileSize": "10m",
		// The History Server's view gives each log an ID of its own. It cannot change a compressed one.
		"compress": "false",
	} {
		if _, set := plan.Properties[eventLogPrefix+key]; !set {
			plan.Properties[eventLogPrefix+key] = value
		}
	}
}

// eventLogWarnings warns of a value of the annotation that has no effect.
func eventLogWarnings(app metav1.Object, settings EventLogs) finding.List {
	var found finding.List
	value, set := app.GetAnnotations()[AnnotationEventLogs]
	field := finding.Entry("metadata.annotations", AnnotationEventLogs)
	image, ok := ParseEventLogs(value)
	switch {
	case set && !ok:
		found.Warn(field, clippedValue(value), fmt.Sprintf("has no effect, it is neither %s nor %s", eventLogsOff, eventLogsImage), "write one of them, or leave it out")
	case image && settings.Folders[app.GetNamespace()] == "":
		found.Warn(field, clippedValue(value), "has no effect, the namespace has no archive", "have it added to namespaces of the ConfigMap config-archive, or set spark.eventLog.dir")
	}
	return found
}
