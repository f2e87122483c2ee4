package history

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"gocloud.dev/blob/memblob"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/archive"
)

// sent stores an event log as the service does.
func sent(ctx context.Context, t *testing.T, stored *archive.Archive, namespace, uid string, attempt int64, files ...string) {
	t.Helper()
	app := archive.Application{
		Namespace: namespace, NamespaceUID: "n", Resource: "sparkapplications.spark.apache.org", Name: "pi", UID: types.UID(uid),
	}
	if err := stored.AnnounceEventLog(ctx, app, attempt); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		content := ""
		if strings.HasPrefix(name, "events_1_") {
			content = startLine
		}
		if err := stored.Attempt(app.ID(), attempt).File(archive.EventLogFolder, name).Append(ctx, 0, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLogsThatSidecarsSentAreShown(t *testing.T) {
	e := newEnv(t)
	stored := archive.New(memblob.OpenBucket(nil))
	killed, complete := archive.EventLog{}, archive.EventLog{}
	killed.ID = archive.ID{Namespace: archive.Namespace{Name: "a", UID: "n"}, Resource: "sparkapplications.spark.apache.org", Name: "pi", UID: "1"}
	complete.ID, complete.Attempt = killed.ID, 1
	sent(t.Context(), t, stored, "a", "1", 0, "events_1_same", "appstatus_same.inprogress")
	sent(t.Context(), t, stored, "a", "1", 1, "events_1_same", "appstatus_same.inprogress", "appstatus_same")
	sent(t.Context(), t, stored, "b", "2", 0, "events_1_same", "appstatus_same")
	source := NewArchived("a", stored)
	e.sources = append(e.sources, source)
	e.refresh()
	first, second := SentID(killed), SentID(complete)
	e.expectList("/", "DIRECTORY eventlog_v2_"+first+" 0", "DIRECTORY eventlog_v2_"+second+" 0")
	e.expectList("/eventlog_v2_"+second, "FILE appstatus_"+second+" 0", "FILE events_1_"+second+" "+strconv.Itoa(len(startLine)+growth))
	e.expectList("/eventlog_v2_"+first, "FILE appstatus_"+first+".inprogress 0", "FILE events_1_"+first+" "+strconv.Itoa(len(startLine)+growth))
	status, text := e.request(http.MethodGet, "/eventlog_v2_"+first+"/events_1_"+first+"?op=OPEN")
	if status != http.StatusOK || !strings.Contains(text, `"App ID":"`+first+`"`) || strings.Contains(text, "0123456789abcdef") {
		t.Errorf("the event log is %d %s", status, text)
	}
	if !source.known[complete].complete || source.known[killed].complete {
		t.Errorf("complete are %+v", source.known)
	}
}
