package invariants

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// StoredLog is a log that the archive has, with timestamps.
type StoredLog struct {
	archive.Log
	Content string
}

// ArchivedAsRecorded checks that an attempt is archived as far as its record says: "every ended attempt's log is there as far as promised, or named as
// missed". manifest is nil if the archive has none. written returns what the container of a log wrote.
func ArchivedAsRecorded(how lifecycle.Archived, manifest *archive.Manifest, logs []StoredLog, written func(archive.LogID) string) error {
	if how != lifecycle.ArchivedWhole && how != lifecycle.ArchivedPartly {
		return nil // the record says that it is not archived
	}
	if manifest == nil {
		return fmt.Errorf("it is recorded as archived %s, and the archive has no manifest of it", how)
	}
	missed := len(manifest.Missing) > 0
	var violations []error
	for _, log := range logs {
		want := written(log.LogID)
		switch {
		case log.Content != want && log.Missing == "":
			violations = append(violations, fmt.Errorf("%d bytes of the log %+v are archived, %d were written, and the manifest does not say so", len(log.Content), log.LogID, len(want)))
		case !strings.HasPrefix(want, log.Content):
			violations = append(violations, fmt.Errorf("what is archived of the log %+v was not written: %.200q", log.LogID, log.Content))
		}
		missed = missed || log.Missing != ""
	}
	if missed && how == lifecycle.ArchivedWhole {
		violations = append(violations, errors.New("it is recorded as archived whole, and the manifest names what is missing"))
	}
	return errors.Join(violations...)
}
