package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
)

const startLine = `{"Event":"SparkListenerApplicationStart","App Name":"pi","App ID":"spark-0123456789abcdef0123456789abcdef","Timestamp":7,"User":"spark"}` + "\n"

// env is a view of two namespaces, over HTTP.
type env struct {
	t       *testing.T
	view    View
	sources []Source
	buckets map[string]*blob.Bucket
	url     string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{t: t, buckets: map[string]*blob.Bucket{}}
	for _, namespace := range []string{"a", "b"} {
		bucket := memblob.OpenBucket(nil)
		t.Cleanup(func() { _ = bucket.Close() })
		e.buckets[namespace] = bucket
		e.sources = append(e.sources, &Bucket{Namespace: namespace, Bucket: bucket})
	}
	server := httptest.NewServer(&e.view)
	t.Cleanup(server.Close)
	e.url = server.URL + prefix
	return e
}

func (e *env) store(namespace, key, text string) {
	e.t.Helper()
	if err := e.buckets[namespace].WriteAll(e.t.Context(), key, []byte(text), nil); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) refresh() {
	e.t.Helper()
	if err := e.view.Refresh(e.t.Context(), e.sources); err != nil {
		e.t.Fatal(err)
	}
}

// request returns the status and the body of a response. Redirects are followed.
func (e *env) request(method, path string) (status int, body string) {
	e.t.Helper()
	request, err := http.NewRequestWithContext(e.t.Context(), method, e.url+path, http.NoBody)
	if err != nil {
		e.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	if kind := response.Header.Get("Content-Type"); strings.Contains(kind, "json") || strings.HasPrefix(kind, "text/") {
		e.t.Errorf("%s has the content type %q, which Spark's client of WebHDFS cannot parse", path, kind)
	}
	return response.StatusCode, string(text)
}

// list returns the names in a folder, each with its type and length.
func (e *env) list(path string) (names []string) {
	e.t.Helper()
	status, body := e.request(http.MethodGet, path+"?op=LISTSTATUS&user.name=spark")
	var list struct {
		FileStatuses struct {
			FileStatus []struct {
				PathSuffix, Type string
				Length           int64
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK {
		e.t.Fatalf("%s: %d %s", path, status, body)
	}
	for _, s := range list.FileStatuses.FileStatus {
		names = append(names, fmt.Sprintf("%s %s %d", s.Type, s.PathSuffix, s.Length))
	}
	return names
}

func (e *env) expectList(path string, want ...string) {
	e.t.Helper()
	slices.Sort(want)
	if got := e.list(path); !slices.Equal(got, want) {
		e.t.Errorf("%s holds %q, want %q", path, got, want)
	}
}

func TestLogsOfTenantsDoNotMeet(t *testing.T) {
	e := newEnv(t)
	for _, namespace := range []string{"a", "b"} {
		e.store(namespace, "eventlog_v2_same/events_1_same", startLine)
		e.store(namespace, "eventlog_v2_same/events_2_same", "{}\n")
		e.store(namespace, "eventlog_v2_same/appstatus_same.inprogress", "")
	}
	e.store("a", "eventlog_v2_same/appstatus_same", "")
	e.refresh()
	a, b := newID("a", "eventlog_v2_same"), newID("b", "eventlog_v2_same")
	e.expectList("/", "DIRECTORY eventlog_v2_"+a+" 0", "DIRECTORY eventlog_v2_"+b+" 0")
	events := []string{fmt.Sprintf("FILE events_1_%%s %d", len(startLine)+growth), fmt.Sprintf("FILE events_2_%%s %d", len("{}\n")+growth)}
	e.expectList("/eventlog_v2_"+a, fmt.Sprintf(events[0], a), fmt.Sprintf(events[1], a), "FILE appstatus_"+a+" 0")
	e.expectList("/eventlog_v2_"+b, fmt.Sprintf(events[0], b), fmt.Sprintf(events[1], b), "FILE appstatus_"+b+".inprogress 0")
	for _, id := range []string{a, b} {
		if _, text := e.request(http.MethodGet, "/eventlog_v2_"+id+"/events_1_"+id+"?op=OPEN"); !strings.Contains(text, `"App ID":"`+id+`"`) {
			t.Errorf("the log of %s is %s", id, text)
		}
	}
}

func TestOnlyWholeLogsWithoutCompressionAreShown(t *testing.T) {
	e := newEnv(t)
	for _, key := range []string{
		"eventlog_v2_begins/appstatus_begins.inprogress", "eventlog_v2_broken/events_1_broken", "eventlog_v2_zstd/events_1_zstd.zstd",
		"eventlog_v2_zstd/appstatus_zstd", "packed.lz4", ".hidden", "folder/file", "eventlog_v2_x/other/events_1_x", "eventlog_v2_x/notes",
	} {
		e.store("a", key, startLine)
	}
	e.store("a", "single", startLine)
	e.store("a", "running.inprogress", startLine)
	e.store("b", "both", startLine)
	e.store("b", "both.inprogress", "")
	e.refresh()
	size := len(startLine) + growth
	e.expectList("/", fmt.Sprintf("FILE %s %d", newID("a", "single"), size), fmt.Sprintf("FILE %s.inprogress %d", newID("a", "running"), size),
		fmt.Sprintf("FILE %s %d", newID("b", "both"), size))
}

func TestEachOffsetOfAFileIsReadAlike(t *testing.T) {
	const logStart = `{"Event":"SparkListenerLogStart","Spark Version":"4.1.4"}` + "\n"
	jobs := strings.Repeat("x", 9<<10) + "\n"
	for name, test := range map[string]struct{ stored, shown string }{
		"a file with a start": {
			logStart + startLine + startLine + jobs + startLine[:60],
			logStart + strings.Replace(startLine, `"App Name":"pi","App ID":"spark-0123456789abcdef0123456789abcdef"`, `"App ID":"ID","App Name":"pi"`, 1) +
				string(remove([]byte(startLine))) + jobs + string(remove([]byte(startLine[:60]))),
		},
		"a file without a start": {jobs + logStart, jobs + logStart},
		"an empty file":          {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.store("a", "log", test.stored)
			e.refresh()
			id := newID("a", "log")
			path := "/" + id + "?op=OPEN"
			_, whole := e.request(http.MethodGet, path)
			if test.stored != "" {
				first, rest, _ := strings.Cut(whole, "\n")
				if strings.TrimRight(first, " ") != removed || rest != strings.Replace(test.shown, `"ID"`, `"`+id+`"`, 1) || len(whole) != len(test.stored)+growth {
					t.Fatalf("%d bytes are shown: %q", len(whole), whole)
				}
			}
			for offset := 0; offset <= len(whole); offset += 7 {
				status, rest := e.request(http.MethodGet, fmt.Sprintf("%s&offset=%d", path, offset))
				if status != http.StatusOK || rest != whole[offset:] {
					t.Fatalf("from offset %d: %d %q, want %q", offset, status, rest, whole[offset:])
				}
			}
			for _, offset := range []string{fmt.Sprint(len(whole) + 1), "-1", "x"} {
				if status, body := e.request(http.MethodGet, path+"&offset="+offset); status == http.StatusOK {
					t.Errorf("offset %s is accepted: %q", offset, body)
				}
			}
		})
	}
}

func TestNothingElseIsServed(t *testing.T) {
	e := newEnv(t)
	e.store("a", "log", startLine)
	e.refresh()
	file := "/" + newID("a", "log")
	for _, test := range []struct {
		method, path string
		want         int
		class        string
	}{
		{http.MethodGet, file + "?op=getfilestatus", http.StatusOK, ""},
		{http.MethodGet, file + "?op=CHECKACCESS&fsaction=r--", http.StatusOK, ""},
		{http.MethodGet, "/?op=CHECKACCESS&fsaction=rw-", http.StatusForbidden, "org.apache.hadoop.security.AccessControlException"},
		{http.MethodGet, "/log?op=OPEN", http.StatusNotFound, "java.io.FileNotFoundException"},
		{http.MethodGet, "/%2e%2e/a/log?op=OPEN", http.StatusNotFound, "java.io.FileNotFoundException"},
		{http.MethodGet, file + "/x?op=GETFILESTATUS", http.StatusNotFound, "java.io.FileNotFoundException"},
		{http.MethodGet, "/?op=OPEN", http.StatusNotFound, "java.io.FileNotFoundException"},
		{http.MethodGet, file + "?op=GETXATTRS", http.StatusBadRequest, "java.lang.IllegalArgumentException"},
		{http.MethodPut, file + "?op=CREATE", http.StatusForbidden, "org.apache.hadoop.security.AccessControlException"},
		{http.MethodDelete, file + "?op=DELETE", http.StatusForbidden, "org.apache.hadoop.security.AccessControlException"},
	} {
		status, body := e.request(test.method, test.path)
		if status != test.want || !strings.Contains(body, test.class) {
			t.Errorf("%s %s: %d %s, want %d %s", test.method, test.path, status, body, test.want, test.class)
		}
	}
	if err := e.buckets["a"].Delete(t.Context(), "log"); err != nil {
		t.Fatal(err)
	}
	if status, body := e.request(http.MethodGet, file+"?op=OPEN"); status != http.StatusNotFound {
		t.Errorf("a file that was deleted: %d %s", status, body)
	}
}

// failing is a source that cannot be listed.
type failing struct{ Source }

func (failing) Logs(context.Context) ([]Log, error) { return nil, errors.New("storage is gone") }

func TestSourceThatCannotBeListedShowsWhatItHeld(t *testing.T) {
	e := newEnv(t)
	e.expectList("/")
	e.store("a", "log", startLine)
	e.refresh()
	e.store("a", "new", startLine)
	e.store("b", "log", startLine)
	e.sources[0] = failing{e.sources[0]}
	if err := e.view.Refresh(t.Context(), e.sources); err == nil {
		t.Error("no error")
	}
	size := len(startLine) + growth
	e.expectList("/", fmt.Sprintf("FILE %s %d", newID("a", "log"), size), fmt.Sprintf("FILE %s %d", newID("b", "log"), size))
	// A namespace that is not an archive any more shows nothing.
	e.sources = e.sources[1:]
	e.refresh()
	e.expectList("/", fmt.Sprintf("FILE %s %d", newID("b", "log"), size))
}
