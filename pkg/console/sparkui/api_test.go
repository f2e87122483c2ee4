package sparkui_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/sparkui"
	"github.com/firesteel-dev/firesteel/pkg/history"
)

// Running calls a function for each application that runs in a namespace with the right "list".
func (e *env) Running(_ context.Context, reader console.Reader, each func(sparkui.Run) bool) error {
	for _, run := range e.runs {
		if slices.Contains(e.rights[reader.Name()], "list "+run.Namespace) && !each(run) {
			return nil
		}
	}
	return nil
}

// Named returns an application that runs.
func (e *env) Named(namespace string, fits func(sparkui.Run) bool) (sparkui.Run, bool) {
	for _, run := range e.runs {
		if run.Namespace == namespace && fits(run) {
			return run, true
		}
	}
	return sparkui.Run{}, false
}

// idOf returns the ID of the first attempt of an application of a namespace.
func idOf(ref sparkui.Ref, namespace, uid types.UID) string {
	return history.SentID(archive.EventLog{ID: archive.ID{
		Namespace: archive.Namespace{Name: ref.Namespace, UID: namespace}, Resource: ref.Resource + "." + ref.Group, Name: ref.Name, UID: uid,
	}})
}

var (
	runningEtl, runningOther = idOf(etl, "ns", "uid-1"), idOf(other, "ns", "uid-2")
	gone                     = sparkui.Ref{Resource: etl.Resource, Group: etl.Group, Namespace: "team-a", Name: "gone"}
	goneID                   = idOf(gone, "ns", "uid-3")
	ofAnEarlierNamespace     = idOf(gone, "made-before", "uid-3")
	written                  = history.WrittenIDs("team-a", "spark-9")[0]
)

// withAPI lets both applications run, and a History Server have several event logs.
func withAPI(t *testing.T) *env {
	t.Helper()
	e := newEnv(t)
	e.server, e.namespace = historyServer, "ns"
	for ref, driver := range e.drivers {
		driver.ApplicationID = "spark-" + ref.Name
		e.runs = append(e.runs, sparkui.Run{Ref: ref, UID: driver.UID, User: "grace", Started: e.clock.Now().Add(-time.Minute)})
	}
	slices.SortFunc(e.runs, func(a, b sparkui.Run) int { return strings.Compare(a.Name, b.Name) })
	e.rights["ann"] = []string{"get team-a", "list team-a", "logs team-a", "get team-b", "list team-b"}
	e.rights["bob"] = []string{"get team-a"}
	e.serve = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Host == "history.firesteel-system" && r.URL.Path == "/api/v1/applications" {
			var all []map[string]any
			ids := []string{runningEtl, goneID, ofAnEarlierNamespace, written, idOf(other, "ns", "uid-9"), "", "-", "odd"}
			if r.URL.RawQuery == "" {
				ids = append(ids, history.WrittenIDs("team-a", "spark-etl")...) // the driver that runs writes it
			}
			for _, id := range ids {
				all = append(all, map[string]any{"id": id, "name": "name of " + id, "attempts": []any{map[string]any{"completed": true}}})
			}
			_ = json.NewEncoder(w).Encode(all)
			return
		}
		fmt.Fprintf(w, "%q", r.Method+" "+r.Host+r.URL.RequestURI())
	}
	return e
}

// api asks the API with a user's token.
func (b *browser) api(path string, headers ...string) answer {
	b.t.Helper()
	return b.send(http.MethodGet, b.console.URL+"/api/v1/"+path, append([]string{"Authorization", "Bearer " + b.name}, headers...)...)
}

func (b *browser) listed(parameters string) []string {
	b.t.Helper()
	got := b.api("applications" + parameters)
	var apps []struct {
		ID       string
		Attempts []struct{ Completed bool }
	}
	if err := json.Unmarshal([]byte(got.body), &apps); err != nil || got.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %d %s (%v)", parameters, got.StatusCode, got.body, err)
	}
	ids := []string{}
	for _, app := range apps {
		ids = append(ids, app.ID)
	}
	return ids
}

func TestAPIListsWhatTheUserMayRead(t *testing.T) {
	e := withAPI(t)
	ann := e.browser("ann")
	for parameters, want := range map[string][]string{
		"": {runningEtl, runningOther, goneID, written}, "?status=running&limit=1": {runningEtl}, "?limit=3": {runningEtl, runningOther, goneID},
		"?status=COMPLETED":   {runningEtl, goneID, written}, // the driver has written its end, and the object does not show it yet
		"?minDate=2099-01-01": {runningEtl, goneID, written}, "?maxEndDate=2020-01-01T00:00:00.000GMT": {runningEtl, goneID, written},
	} {
		if got := ann.listed(parameters); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", parameters, got, want)
		}
	}
	if slices.ContainsFunc(e.dialed, func(to string) bool { return to != "history.firesteel-system:80" }) {
		t.Errorf("the list asked %v", e.dialed)
	}
	if got := e.browser("bob").listed(""); len(got) != 0 {
		t.Errorf("who may list nothing gets %v", got)
	}
	e.server = ""
	if got := ann.listed(""); !slices.Equal(got, []string{runningEtl, runningOther}) {
		t.Errorf("without a History Server: %v", got)
	}
	for parameters, want := range map[string]string{"?limit=0": "limit", "?status=odd": "status", "?minDate=now": "minDate"} {
		if got := ann.api("applications" + parameters); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", parameters, got.StatusCode, got.body)
		}
	}
}

func TestAPIDescribesWhatRuns(t *testing.T) {
	e := withAPI(t)
	got := e.browser("ann").api("applications/" + runningEtl)
	started := e.runs[0].Started
	for _, want := range []string{
		`"id":"` + runningEtl + `"`, `"name":"etl"`, `"endTime":"1969-12-31T23:59:59.999GMT"`, `"duration":60000`, `"completed":false`, `"sparkUser":"grace"`,
		`"startTime":"` + started.UTC().Format("2006-01-02T15:04:05.000") + `GMT"`, `"endTimeEpoch":-1`,
	} {
		if !strings.Contains(got.body, want) {
			t.Errorf("%s lacks %s", got.body, want)
		}
	}
}

func TestAPIPassesPartsOn(t *testing.T) {
	e := withAPI(t)
	ann := e.browser("ann")
	for path, want := range map[string]string{
		"applications/" + runningEtl + "/jobs?status=running": "GET 10.1.2.3:4040/api/v1/applications/spark-etl/jobs?status=running",
		"applications/" + runningOther + "/stages/1/0":        "GET 10.1.2.4:4041/api/v1/applications/spark-other/stages/1/0",
		"applications/" + goneID:                              "GET history.firesteel-system/api/v1/applications/" + goneID,
		"applications/" + goneID + "/jobs":                    "GET history.firesteel-system/api/v1/applications/" + goneID + "/jobs",
		"applications/" + written + "/logs":                   "GET history.firesteel-system/api/v1/applications/" + written + "/logs",
		"version":                                             "GET history.firesteel-system/api/v1/version",
	} {
		if got := ann.api(path, "Cookie", "a=secret"); got.StatusCode != http.StatusOK || got.body != fmt.Sprintf("%q", want) || got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
	}
	for _, path := range []string{
		"applications/" + ofAnEarlierNamespace + "/jobs", "applications/" + idOf(other, "ns", "uid-9") + "/jobs", "applications/odd", "applications/" + runningOther + "/logs",
		"applications/" + runningEtl + "/../x", "applications/" + runningEtl + "/%2e%2e/x", "applications//jobs", "applications/x;y/jobs", "nothing", "",
	} {
		if got := ann.api(path); got.StatusCode != http.StatusNotFound && got.StatusCode != http.StatusTemporaryRedirect { // to a clean path
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
	}
	if got := ann.api("applications/" + runningEtl + "/jobs/job/kill"); got.StatusCode != http.StatusForbidden {
		t.Errorf("a kill: %d", got.StatusCode)
	}
	bob := e.browser("bob")
	for path, want := range map[string]int{
		"applications/" + runningEtl + "/jobs": http.StatusOK, "applications/" + runningEtl + "/logs": http.StatusNotFound, "applications/" + runningOther: http.StatusNotFound,
		"applications/" + goneID: http.StatusNotFound, "applications/" + goneID + "/jobs": http.StatusNotFound,
	} {
		if got := bob.api(path); got.StatusCode != want {
			t.Errorf("%s for another user: %d %s, want %d", path, got.StatusCode, got.body, want)
		}
	}
}

func TestAPITakesTokensAlone(t *testing.T) {
	e := withAPI(t)
	b := e.browser("ann")
	list := b.console.URL + "/api/v1/applications"
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("token:ann"))
	if got := b.send(http.MethodGet, list, "Authorization", basic); got.StatusCode != http.StatusOK {
		t.Errorf("a token as a password: %d %s", got.StatusCode, got.body)
	}
	for name, headers := range map[string][]string{
		"nothing": nil, "a cookie": {"Cookie", "firesteel-session=x", "Sec-Fetch-Site", "same-origin"}, "a forged token": {"Authorization", "Bearer forged"},
		"no password": {"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("ann:"))},
	} {
		if got := b.send(http.MethodGet, list, headers...); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
	if got := b.send(http.MethodPost, list, "Authorization", "Bearer ann"); got.StatusCode != http.StatusMethodNotAllowed && got.StatusCode != http.StatusNotFound {
		t.Errorf("a POST: %d", got.StatusCode)
	}
}

func TestNoBrowserRunsWhatADriverAnswersTheAPI(t *testing.T) {
	e := withAPI(t)
	ann := e.browser("ann")
	e.serve = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Content-Security-Policy", "script-src *")
		fmt.Fprint(w, "<script>alert(1)</script>")
	}
	got := ann.api("applications/" + runningEtl + "/jobs")
	if got.Header.Get("Content-Type") != "text/plain; charset=utf-8" || got.Header.Get("Set-Cookie") != "" || got.Header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.Contains(got.Header.Get("Content-Security-Policy"), "sandbox") || len(got.Header.Values("Content-Security-Policy")) != 1 {
		t.Errorf("the header is %v", got.Header)
	}
	e.serve = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://evil.example")
		w.WriteHeader(http.StatusFound)
	}
	if got := ann.api("applications/" + runningEtl + "/jobs"); got.StatusCode != http.StatusBadGateway || got.Header.Get("Location") != "" {
		t.Errorf("a redirection: %d %v", got.StatusCode, got.Header)
	}
}

func TestDriverChoosesNoDownload(t *testing.T) {
	e := withAPI(t)
	ann := e.browser("ann")
	e.serve = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", strings.TrimPrefix(r.URL.RawQuery, "type="))
		w.Header().Set("Content-Disposition", `attachment; filename="update.exe"`)
		fmt.Fprint(w, "MZ")
	}
	for _, kind := range []string{"application/octet-stream", "application/zip"} {
		got := ann.api("applications/" + runningEtl + "/jobs?type=" + kind)
		if got.StatusCode != http.StatusOK || got.Header.Get("Content-Type") != "text/plain; charset=utf-8" || got.Header.Get("Content-Disposition") != "" {
			t.Errorf("%s of a driver: %d %v", kind, got.StatusCode, got.Header)
		}
		got = ann.api("applications/" + goneID + "/logs?type=" + kind)
		if got.StatusCode != http.StatusOK || got.Header.Get("Content-Type") != kind || got.Header.Get("Content-Disposition") == "" {
			t.Errorf("%s of the History Server: %d %v", kind, got.StatusCode, got.Header)
		}
	}
}

func TestNoPageIsADrivers(t *testing.T) {
	e := withAPI(t)
	ann := e.browser("ann")
	driver, past := "applications/"+runningEtl+"/jobs", "applications/"+goneID+"/logs"
	for name, row := range map[string]struct {
		path, site, mode string
		want             int
	}{
		"an address that is typed":                {"applications", "none", "navigate", http.StatusOK},
		"an application that runs":                {"applications/" + runningEtl, "none", "navigate", http.StatusOK},
		"a download of the History Server":        {past, "same-origin", "navigate", http.StatusOK},
		"a driver by an address that is typed":    {driver, "none", "navigate", http.StatusForbidden},
		"a driver by a link of the console":       {driver, "same-origin", "navigate", http.StatusForbidden},
		"a driver by a script of the console":     {driver, "same-origin", "cors", http.StatusOK},
		"a driver by a program":                   {driver, "", "", http.StatusOK},
		"a driver by a link of another site":      {driver, "cross-site", "navigate", http.StatusForbidden},
		"a driver by an image of another site":    {driver, "cross-site", "no-cors", http.StatusForbidden},
		"the list by a link of another site":      {"applications", "cross-site", "navigate", http.StatusForbidden},
		"a download by a page of the Spark UIs":   {past, "same-site", "navigate", http.StatusForbidden},
		"the version by a script of another host": {"version", "same-site", "cors", http.StatusForbidden},
	} {
		headers := []string{}
		if row.site != "" {
			headers = []string{"Sec-Fetch-Site", row.site, "Sec-Fetch-Mode", row.mode}
		}
		if got := ann.api(row.path, headers...); got.StatusCode != row.want {
			t.Errorf("%s: %d %s, want %d", name, got.StatusCode, got.body, row.want)
		}
	}
}

func TestListLeavesOutWhatIsTooLarge(t *testing.T) {
	e := withAPI(t)
	e.runs = nil
	first := `{ "id" : "` + goneID + `", "name" : "<a> ]}\"" }`
	e.serve = func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `[ %s, {"id":%q,"name":%q}, {"id":%q} ]`, first, written, strings.Repeat("x", 1<<20), runningEtl)
	}
	if got := e.browser("ann").api("applications"); got.body != "["+first+",\n"+`{"id":"`+runningEtl+`"}]`+"\n" || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("the list is %.500s", got.body)
	}
}

func TestFewListsOfAUserAreMadeAtOnce(t *testing.T) {
	const atOnce = 2
	e := withAPI(t)
	asked, release := make(chan struct{}), make(chan struct{})
	var count atomic.Int32
	e.serve = func(w http.ResponseWriter, _ *http.Request) {
		if count.Add(1) <= atOnce {
			asked <- struct{}{}
			<-release
		}
		fmt.Fprint(w, "[]")
	}
	ann := e.browser("ann")
	done := make(chan error, atOnce)
	for range atOnce {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.console.URL+"/api/v1/applications", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer ann")
		go func() {
			answer, err := ann.client.Do(request)
			if err == nil {
				_, err = io.Copy(io.Discard, answer.Body) // its end is that of the request
				err = errors.Join(err, answer.Body.Close())
			}
			done <- err
		}()
	}
	for range atOnce {
		<-asked
	}
	if got := ann.api("applications"); got.StatusCode != http.StatusTooManyRequests || got.Header.Get("Retry-After") == "" {
		t.Errorf("another list: %d %v", got.StatusCode, got.Header)
	}
	if got := e.browser("bob").api("applications"); got.StatusCode != http.StatusOK {
		t.Errorf("a list of another user: %d %s", got.StatusCode, got.body)
	}
	close(release)
	for range atOnce {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := ann.api("applications"); got.StatusCode != http.StatusOK {
		t.Errorf("a list afterwards: %d %s", got.StatusCode, got.body)
	}
}

func TestRightsOfTheAPIAreAskedAnew(t *testing.T) {
	e := withAPI(t)
	ann := e.browser("ann")
	e.drivers[etl].Runs = false
	if got := ann.api("applications/" + runningEtl + "/jobs"); !strings.Contains(got.body, "history.firesteel-system") {
		t.Errorf("after the driver's end: %d %s", got.StatusCode, got.body)
	}
	delete(e.rights, "ann")
	if got := ann.api("applications"); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("after the token's end: %d", got.StatusCode)
	}
}
