package diagnosis

import (
	"fmt"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Archived explains how much of an attempt is in the archive.
func Archived(record *v1alpha1.Record) Explanation {
	how := lifecycle.Archived("")
	if record.Launch != nil {
		how = lifecycle.Archived(record.Launch.Archived)
	}
	switch how {
	case lifecycle.ArchivedWhole:
		return conditionTrue("Archived", fmt.Sprintf("Attempt %d is in the archive.", record.Attempt.ID))
	case lifecycle.ArchivedPartly:
		return conditionFalse("ArchivedPartly", fmt.Sprintf("Attempt %d is in the archive, but something could not be read any more: its manifest there names it.", record.Attempt.ID))
	case lifecycle.ArchivedGone:
		explanation := conditionFalse("DriverPodGone", fmt.Sprintf("The driver Pod of attempt %d was gone before the attempt was archived: the archive has only what was left", record.Attempt.ID))
		explanation.Remedy = "set driver-logs and executor-logs of config-archive to follow: logs are then stored while the containers run."
		return explanation
	default:
		explanation := conditionFalse("NotArchivedInTime", fmt.Sprintf("Attempt %d was not archived in time, and nothing waits for that any more", record.Attempt.ID))
		explanation.Remedy = "look for errors of the handler archive in the log of the controller, or of the handler's own Pod. " +
			"The controller has no libraries of gs:// and azblob://: such an archive needs archive: external in config-handlers."
		return explanation
	}
}
