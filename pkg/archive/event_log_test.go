package archive_test

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/archive"
)

func TestEventLogsAreFoundByTheirNamespace(t *testing.T) {
	onEach(t, func(t *testing.T, a *archive.Archive) {
		old, again, other := id("team-a", "old"), id("team-a", "new"), id("team-b", "new")
		for range 2 { // it is announced again and again
			for _, log := range []archive.EventLog{{ID: old}, {ID: again}, {ID: again, Attempt: 1}, {ID: other}} {
				created := begin
				if log.ID == old {
					created = begin.Add(-time.Hour)
				}
				if err := a.AnnounceEventLog(t.Context(), application(log.ID, created), log.Attempt); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := []archive.EventLog{{ID: again}, {ID: again, Attempt: 1}, {ID: old}}
		if got, truncated, err := a.EventLogs(t.Context(), "team-a", 3); err != nil || truncated || !reflect.DeepEqual(got, want) {
			t.Errorf("the event logs are %v, %t, %v, want %v", got, truncated, err, want)
		}
		if got, truncated, err := a.EventLogs(t.Context(), "team-a", 2); err != nil || !truncated || !reflect.DeepEqual(got, want[:2]) {
			t.Errorf("the first event logs are %v, %t, %v", got, truncated, err)
		}
		if app, err := a.Application(t.Context(), again); err != nil || app.UID != again.UID {
			t.Errorf("the application is %+v, %v", app, err)
		}
	})
}

func TestRetentionDeletesWhatIsKnownOfAnEventLog(t *testing.T) {
	onEach(t, func(t *testing.T, a *archive.Archive) {
		gone := id("team-a", "pi")
		if err := a.AnnounceEventLog(t.Context(), application(gone, begin), 0); err != nil {
			t.Fatal(err)
		}
		if err := a.Attempt(gone, 0).File(archive.EventLogFolder, "events_1_a").Append(t.Context(), 0, []byte("{}\n")); err != nil {
			t.Fatal(err)
		}
		deleted, err := a.Sweep(t.Context(), time.Now().Add(48*time.Hour), archive.Retention{Age: time.Hour}, "team-a")
		if err != nil || deleted.Applications != 1 {
			t.Errorf("deleted %+v, %v", deleted, err)
		}
		if logs, _, err := a.EventLogs(t.Context(), "team-a", 9); err != nil || len(logs) > 0 {
			t.Errorf("the event logs are %v, %v", logs, err)
		}
	})
}

func TestAChunkThatGrowsIsOneChunk(t *testing.T) {
	onEach(t, func(t *testing.T, a *archive.Archive) {
		app := id("team-a", "pi")
		write(t, a, application(app, begin))
		file := a.Attempt(app, 0).File(archive.EventLogFolder, "events_1_a")
		content := strings.Repeat("0123456789", 10)
		for before, size := range []int64{10, 20, 20, 5} { // the last two are old news
			if err := file.Extend(t.Context(), 0, []byte(content[:size]), int64(before*10)); err != nil {
				t.Fatal(err)
			}
		}
		if err := file.Extend(t.Context(), 20, []byte(content[20:]), 0); err != nil {
			t.Fatal(err)
		}
		info, err := file.Stat(t.Context())
		offset, length := info.Last()
		if err != nil || info.Size != 100 || offset != 20 || length != 80 {
			t.Errorf("the file is %+v, its last chunk is at %d and has %d bytes: %v", info, offset, length, err)
		}
		reader, err := file.Open(t.Context(), 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(reader); err != nil || string(got) != content {
			t.Errorf("the content is %q, %v", got, err)
		}
		files, err := a.Attempt(app, 0).Files(t.Context(), archive.EventLogFolder)
		if err == nil && len(files) != 1 {
			err = fmt.Errorf("there are %d files", len(files))
		}
		if err != nil {
			t.Error(err)
		}
	})
}
