package pages_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"golang.org/x/net/html"
	testclock "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console/act"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/pages"
	"github.com/firesteel-dev/firesteel/test/harness/consolepages"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

const prefix = "/spark"

// serve returns the handler of the pages of a sample, whose requests have no prefix.
func serve(source pages.Source, viewer *consolepages.Viewer) http.Handler {
	return serveAt(testclock.NewFakeClock(consolepages.Now), source, viewer)
}

func serveAt(clock *testclock.FakeClock, source pages.Source, viewer *consolepages.Viewer) http.Handler {
	server := pages.New(pages.Options{
		Source: source, Viewers: func(*http.Request) (pages.Viewer, error) { return viewer, nil }, Prefix: func() string { return prefix },
		Clock:  clock,
		Logger: zap.NewNop().Sugar(),
	})
	mux := http.NewServeMux()
	mux.Handle("/assets/", server.Assets())
	mux.Handle("/", server.Handler())
	return mux
}

func get(handler http.Handler, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer
}

func pathOf(ref live.Ref) string {
	return "/applications/" + ref.Namespace + "/" + ref.Resource + "/" + ref.Name
}

// goneQuery is the page of the application that only the archive has.
const goneQuery = "?uid=uid-daily-revenue-20260301"

// archivedPages are the pages of the archive that the tests look at, by the names of their golden files.
func archivedPages() map[string]string {
	gone := pathOf(consolepages.Gone)
	return map[string]string{
		"archive": "/archive?namespace=reports", "archive-empty": "/archive?namespace=reports&state=Odd", "archive-namespaces": "/archive",
		"gone": gone, "gone-executors": gone + goneQuery + "&tab=executors", "gone-pods": gone + goneQuery + "&tab=pods&attempt=0", "gone-events": gone + goneQuery + "&tab=events",
		"gone-logs": gone + goneQuery + "&tab=logs&lines=2", "gone-logs-found": gone + goneQuery + "&tab=logs&find=ERROR&attempt=0", "gone-yaml": gone + goneQuery + "&tab=yaml",
		"logs-archived": pathOf(consolepages.Failed) + "?tab=logs&lines=3",
		"gone-cluster":  goneCluster, "gone-cluster-events": goneCluster + "?tab=events", "gone-cluster-logs": goneCluster + "?tab=logs", "gone-cluster-yaml": goneCluster + "?tab=yaml",
		"compare-gone":     "/compare?a=reports/sparkapplications.spark.apache.org/" + consolepages.Failed.Name + "&b=reports/sparkapplications.spark.apache.org/" + consolepages.Gone.Name + "/uid-" + consolepages.Gone.Name,
		"archive-clusters": "/archive?namespace=ml&resource=sparkclusters.spark.apache.org", "clusters-archived": "/clusters", "cluster-archived": "/clusters/ml/shared-notebooks",
	}
}

const goneCluster = "/clusters/ml/nightly-lab"

// withArchive returns a viewer of an installation with an archive.
func withArchive() *consolepages.Viewer {
	return &consolepages.Viewer{Archived: consolepages.Attic("")}
}

// shown are the pages that the tests look at, by the names of their golden files.
func shown() map[string]string {
	failed := pathOf(consolepages.Failed)
	return map[string]string{
		"overview": "/", "list": "/applications?namespace=features&kind=application", "list-empty": "/applications?text=nothing",
		"application": failed, "executors": failed + "?tab=executors", "pods": failed + "?tab=pods", "events": failed + "?tab=events",
		"action": failed + "?action=rerun", "done": failed + "?did=stop",
		"logs": failed + "?tab=logs&lines=3", "logs-found": failed + "?tab=logs&find=error", "yaml": failed + "?tab=yaml",
		"schedules": "/schedules", "schedule": "/schedules/reports/scheduledsparkapplications.sparkoperator.k8s.io/daily-revenue",
		"clusters": "/clusters", "cluster": "/clusters/ml/shared-notebooks",
		"cluster-logs": "/clusters/ml/shared-notebooks?tab=logs&lines=3", "cluster-events": "/clusters/ml/shared-notebooks?tab=events", "cluster-yaml": "/clusters/ml/shared-notebooks?tab=yaml",
		"plan": failed + "?tab=plan", "plan-of-another-operator": "/applications/legacy/sparkapplications.sparkoperator.k8s.io/old-operator-job?tab=plan",
		"executors-gpu":  "/applications/features/sparkapplications.sparkoperator.k8s.io/clickstream-sessions?tab=executors",
		"compare":        "/compare?a=reports/sparkapplications.spark.apache.org/" + consolepages.Failed.Name + "&b=ingest/sparkapplications.spark.apache.org/hourly-rollup-001",
		"compare-choose": "/compare?a=ingest/sparkapplications.spark.apache.org/hourly-rollup-037",
		"not-found":      "/applications/reports/sparkapplications.spark.apache.org/absent",
	}
}

var hash = regexp.MustCompile(`/assets/[0-9a-f]{16}/`)

func TestPagesAreAsBefore(t *testing.T) {
	handler := serve(consolepages.Morning(), &consolepages.Viewer{})
	for name, path := range shown() {
		t.Run(name, func(t *testing.T) {
			golden.Want(t, filepath.Join("testdata", name+".html"), hash.ReplaceAllString(get(handler, path).Body.String(), "/assets/HASH/"))
		})
	}
}

func TestPagesOfTheArchiveAreAsBefore(t *testing.T) {
	handler := serve(consolepages.Morning(), withArchive())
	for name, path := range archivedPages() {
		t.Run(name, func(t *testing.T) {
			answer := get(handler, path)
			checkPolicy(t, answer.Body.String())
			golden.Want(t, filepath.Join("testdata", name+".html"), hash.ReplaceAllString(answer.Body.String(), "/assets/HASH/"))
		})
	}
}

func TestHostileTextsOfTheArchiveAreShownAndNotRun(t *testing.T) {
	for _, text := range hostile {
		handler := serve(consolepages.Morning(), &consolepages.Viewer{Archived: consolepages.Attic(text)})
		for _, path := range archivedPages() {
			answer := get(handler, path)
			if answer.Code != http.StatusOK {
				t.Errorf("%q: %s: %d", text, path, answer.Code)
			}
			checkPolicy(t, answer.Body.String())
		}
	}
}

func TestArchivedAttemptsHaveWhatIsStoredOfThem(t *testing.T) {
	handler := serve(consolepages.Morning(), withArchive())
	gone := pathOf(consolepages.Gone)
	for path, wanted := range map[string][]string{
		gone:                                      {"The object is gone", "Attempt 0</h2>", "Attempt 1</h2>", "Missing in the archive", "DriverRequested"},
		gone + goneQuery + "&tab=pods":            {"daily-revenue-20260301-1-driver", "node-c"},
		gone + "?attempt=0&tab=pods":              {"daily-revenue-20260301-0-driver"},
		gone + "?tab=logs":                        {"No space left on device", "&lt;b&gt;ready", "not whole"},
		gone + "?tab=logs&find=INFO":              {"2 lines with the text"},
		gone + "?tab=yaml":                        {"kind: SparkApplication", "spark.executor.instances"},
		gone + "?tab=events":                      {"Error: exit code 1"},
		gone + "?tab=executors":                   {"Core-hours"},
		pathOf(consolepages.Failed) + "?tab=logs": {"In the archive", "from=archive&amp;tab=logs"},
		"/applications":                           {"/spark/archive\""},
		"/archive?namespace=reports":              {"daily-revenue-20260301", "daily-revenue-20260228", "continue="},
		"/archive?namespace=reports&name=" + consolepages.Gone.Name: {consolepages.Gone.Name},
	} {
		body := get(handler, path).Body.String()
		for _, want := range wanted {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
	}
	if body := get(handler, gone+"?tab=yaml").Body.String(); strings.Contains(body, "abc12") {
		t.Error("the object has the value of a secret")
	}
	answer := get(handler, gone+"/log?from=archive&uid=uid-"+consolepages.Gone.Name+"&attempt=0&log="+url.QueryEscape(consolepages.Gone.Name+"-0-driver/d/spark-kubernetes-driver/0"))
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "Running Spark version") || !strings.HasPrefix(answer.Header().Get("Content-Disposition"), "attachment") {
		t.Errorf("the file is %d %v", answer.Code, answer.Header())
	}
}

func TestArchivedClustersHaveWhatIsStoredOfThem(t *testing.T) {
	handler := serve(consolepages.Morning(), withArchive())
	for path, wanted := range map[string][]string{
		goneCluster:                     {"The object is gone", "It was archived", "Gone, was RunningHealthy", "Existed for", "Cluster has reached ready state.", "Missing in the archive", "nightly-lab-worker-2", ">Clusters</a>"},
		goneCluster + "?tab=events":     {"insufficient memory"},
		goneCluster + "?tab=logs":       {"master: nightly-lab-master-0", "worker: nightly-lab-worker-1 / worker, 2 MiB, not whole", "Running Spark version", "/clusters/ml/nightly-lab/log?"},
		goneCluster + "?tab=yaml":       {"kind: SparkCluster", "initWorkers: 3"},
		"/clusters":                     {"/spark/archive?resource=sparkclusters.spark.apache.org\""},
		"/clusters/ml/shared-notebooks": {"Archived logs"},
		"/archive?namespace=ml&resource=sparkclusters.spark.apache.org": {"Archived clusters", goneCluster + "?uid=uid-nightly-lab", "Gone, was RunningHealthy"},
		"/clusters/ml/shared-notebooks?from=archive":                    {"The archive has nothing of this cluster. It has clusters if"},
		"/clusters/ml/absent": {"There is no such cluster, and the archive has nothing of one that is gone."},
	} {
		body := get(handler, path).Body.String()
		for _, want := range wanted {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
		if strings.Contains(body, "abc12") || strings.Contains(body, `name="attempt"`) {
			t.Errorf("%s has the value of a secret, or the choice of an attempt", path)
		}
	}
	answer := get(handler, goneCluster+"/log?from=archive&uid=uid-nightly-lab&attempt=0&log="+url.QueryEscape("nightly-lab-master-0/p/master/0"))
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "Running Spark version") || !strings.HasPrefix(answer.Header().Get("Content-Disposition"), "attachment") {
		t.Errorf("the file is %d %v", answer.Code, answer.Header())
	}
	if body := get(serve(consolepages.Morning(), &consolepages.Viewer{}), goneCluster).Body.String(); !strings.Contains(body, "This installation has no archive") {
		t.Error("without an archive the page does not say so")
	}
	for _, path := range []string{goneCluster, goneCluster + "?from=archive", goneCluster + "/log?from=archive&uid=uid-nightly-lab&attempt=0&log=a/b/c/0", "/clusters/ml/absent"} {
		answer := get(serve(consolepages.Morning(), withArchive().Hide("ml")), path)
		if answer.Code != http.StatusNotFound || !strings.Contains(answer.Body.String(), "There is nothing at this address, or you may not see it.") {
			t.Errorf("who may not read it gets %d for %s", answer.Code, path)
		}
	}
}

func TestArchivedApplicationsOfOthersLookAsIfTheyWereAbsent(t *testing.T) {
	viewer := withArchive()
	viewer.Hide("reports")
	handler := serve(consolepages.Morning(), viewer)
	absent := "/applications/reports/sparkapplications.spark.apache.org/absent"
	want := strings.ReplaceAll(get(handler, absent).Body.String(), absent, "")
	gone := pathOf(consolepages.Gone)
	for _, path := range []string{gone, gone + "?from=archive", gone + goneQuery, pathOf(consolepages.Failed) + "?from=archive", gone + "/log?from=archive&attempt=0&log=a/b/c/0"} {
		if answer := get(handler, path); answer.Code != http.StatusNotFound || strings.ReplaceAll(answer.Body.String(), path, "") != want {
			t.Errorf("%s: %d, or another page than for what is absent", path, answer.Code)
		}
	}
	if body := get(handler, "/archive?namespace=reports").Body.String(); strings.Contains(body, "daily-revenue") {
		t.Error("the archive names what may not be seen")
	}
}

func TestWithoutAnArchiveWhatIsGoneIsAbsent(t *testing.T) {
	handler := serve(consolepages.Morning(), &consolepages.Viewer{})
	if answer := get(handler, pathOf(consolepages.Gone)); answer.Code != http.StatusNotFound {
		t.Errorf("got %d", answer.Code)
	}
	if body := get(handler, "/archive?namespace=reports").Body.String(); !strings.Contains(body, "has no archive") {
		t.Error("the page does not say that there is no archive")
	}
}

func parse(t *testing.T, text string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// checkPolicy fails if a page has something that its Content-Security-Policy forbids.
func checkPolicy(t *testing.T, text string) {
	t.Helper()
	for node := range parse(t, text).Descendants() {
		if node.Type != html.ElementNode {
			continue
		}
		switch node.Data {
		case "style", "iframe", "object", "embed", "base", "img":
			t.Errorf("the page has an element %s", node.Data)
		case "script":
			if !strings.HasPrefix(attribute(node, "src"), prefix+"/assets/") || node.FirstChild != nil {
				t.Errorf("the page has a script that is not one of the console: %v", node.Attr)
			}
		}
		for _, a := range node.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Key, "hx-") || strings.HasPrefix(a.Key, "data-hx-on") {
				t.Errorf("the element %s has the attribute %s", node.Data, a.Key)
			}
			if (a.Key == "href" || a.Key == "src" || a.Key == "action") && !strings.HasPrefix(a.Val, prefix+"/") && !strings.HasPrefix(a.Val, "#") {
				t.Errorf("the element %s leads to %q", node.Data, a.Val)
			}
		}
	}
}

func TestPagesHaveNoInlineScriptsOrStyles(t *testing.T) {
	handler := serve(consolepages.Morning(), &consolepages.Viewer{})
	for name, path := range shown() {
		t.Run(name, func(t *testing.T) { checkPolicy(t, get(handler, path).Body.String()) })
	}
}

// hostile are texts that a hostile user may write.
var hostile = []string{
	`"><script>alert(1)</script>`, `'><img src=x onerror=alert(1)>`, "javascript:alert(1)", `</title></textarea><svg onload=alert(1)>`, "{{.}}\u202e\x00\xff", `" data-hx-get="/evil`,
	"../../../etc", "a/b?c#d&e=f",
}

func TestHostileTextsAreShownAndNotRun(t *testing.T) {
	for _, text := range hostile {
		sample := consolepages.Hostile(text)
		handler := serve(sample, &consolepages.Viewer{})
		for _, path := range []string{"/", "/applications", "/schedules", "/clusters"} {
			answer := get(handler, path)
			if answer.Code != http.StatusOK {
				t.Errorf("%q: %s: %d", text, path, answer.Code)
			}
			checkPolicy(t, answer.Body.String())
		}
		for _, tab := range []string{"timeline", "executors", "pods", "events"} {
			row := sample.Rows[0]
			path := "/applications/" + url.PathEscape(row.Namespace) + "/" + url.PathEscape(row.Resource) + "/" + url.PathEscape(row.Name) + "?tab=" + tab
			request := httptest.NewRequest(http.MethodGet, "/", nil)
			var err error
			if request.URL, err = url.Parse(path); err != nil {
				t.Fatal(err)
			}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			checkPolicy(t, answer.Body.String())
		}
	}
}

func TestEveryLinkResolves(t *testing.T) {
	handler := serve(consolepages.Morning(), withArchive())
	const most = 600
	queue, seen := []string{"/"}, map[string]bool{"/": true}
	for len(queue) > 0 && len(seen) < most {
		path := queue[0]
		queue = queue[1:]
		answer := get(handler, path)
		if answer.Code != http.StatusOK {
			t.Errorf("%s: %d", path, answer.Code)
		}
		if !strings.HasPrefix(answer.Header().Get("Content-Type"), "text/html") {
			continue
		}
		for node := range parse(t, answer.Body.String()).Descendants() {
			to := attribute(node, "href")
			if node.Data == "script" {
				to = attribute(node, "src")
			}
			to, _, _ = strings.Cut(to, "#")
			to, ok := strings.CutPrefix(to, prefix)
			if ok && !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d pages are linked", len(seen))
	}
}

func TestWhatMayNotBeSeenLooksAsIfItWereAbsent(t *testing.T) {
	handler := serve(consolepages.Morning(), new(consolepages.Viewer).Hide("reports", "ml"))
	absent := "/applications/reports/sparkapplications.spark.apache.org/absent"
	want := strings.ReplaceAll(get(handler, absent).Body.String(), absent, "")
	for _, path := range []string{pathOf(consolepages.Failed), "/clusters/ml/shared-notebooks", "/schedules/reports/scheduledsparkapplications.sparkoperator.k8s.io/daily-revenue"} {
		answer := get(handler, path)
		if answer.Code != http.StatusNotFound || strings.ReplaceAll(answer.Body.String(), path, "") != want {
			t.Errorf("%s: %d, or another page than for what is absent", path, answer.Code)
		}
	}
	for _, path := range []string{"/", "/applications", "/schedules", "/clusters", "/applications?format=csv"} {
		if strings.Contains(get(handler, path).Body.String(), "daily-revenue") {
			t.Errorf("%s names what may not be seen", path)
		}
	}
}

func TestYAMLHasNoSecrets(t *testing.T) {
	body := get(serve(consolepages.Morning(), &consolepages.Viewer{}), pathOf(consolepages.Failed)+"?tab=yaml").Body.String()
	for _, secret := range []string{"abc12", "correct-horse-battery", "managedFields"} {
		if strings.Contains(body, secret) {
			t.Errorf("the page has %s", secret)
		}
	}
	if !strings.Contains(body, "spark.executor.instances: &#34;4&#34;") {
		t.Error("the page lacks a property that is no secret")
	}
}

func TestLongLogsAreBounded(t *testing.T) {
	handler := serve(consolepages.Morning(), &consolepages.Viewer{})
	const most = 3 << 20
	for _, query := range []string{"lines=99999999", "find=info"} {
		if size := get(handler, pathOf(consolepages.Failed)+"?tab=logs&"+query).Body.Len(); size > most {
			t.Errorf("%s: the page has %d bytes", query, size)
		}
	}
	if body := get(handler, pathOf(consolepages.Failed)+"?tab=logs&find=ERROR").Body.String(); !strings.Contains(body, "20 lines with the text") {
		t.Error("the page does not say how many lines have the text")
	}
}

func TestLogsOfOtherPodsAreNotServed(t *testing.T) {
	handler := serve(consolepages.Morning(), &consolepages.Viewer{})
	if answer := get(handler, pathOf(consolepages.Failed)+"/log?pod=kube-apiserver"); answer.Code != http.StatusNotFound {
		t.Errorf("got %d", answer.Code)
	}
	answer := get(handler, pathOf(consolepages.Failed)+"/log?pod=daily-revenue-20260304-driver")
	if answer.Code != http.StatusOK || !strings.HasPrefix(answer.Header().Get("Content-Type"), "text/plain") || !strings.HasPrefix(answer.Header().Get("Content-Disposition"), "attachment") {
		t.Errorf("got %d, %v", answer.Code, answer.Header())
	}
}

func TestClustersHaveTheLogsOfTheirPods(t *testing.T) {
	const cluster = "/clusters/ml/shared-notebooks"
	handler := serve(consolepages.Morning(), withArchive())
	for path, wanted := range map[string][]string{
		cluster:                    {"spark://shared-notebooks-master-svc.ml:7077", "2 running, 1 pending of 3 asked", "Applications that use it"},
		cluster + "?tab=logs":      {`<option value="shared-notebooks-master-0" selected>`, "worker 0: shared-notebooks-worker-0", "TaskSetManager", "from=archive&amp;tab=logs&amp;uid=uid-ml-shared-notebooks"},
		cluster + "?tab=events":    {"Back-off pulling image of shared-notebooks-worker-0"},
		cluster + "?tab=yaml":      {"as it was when the page was opened", "spark.executor.instances"},
		cluster + "?tab=executors": {"Applications that use it"},
	} {
		body := get(handler, path).Body.String()
		for _, want := range wanted {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
		if strings.Contains(body, "abc12") {
			t.Errorf("%s has the value of a secret", path)
		}
	}
	for query, want := range map[string]int{"?pod=shared-notebooks-master-0": http.StatusOK, "?pod=" + consolepages.Failed.Name + "-driver": http.StatusNotFound, "": http.StatusNotFound} {
		if answer := get(handler, cluster+"/log"+query); answer.Code != want {
			t.Errorf("the log of %s: %d, want %d", query, answer.Code, want)
		}
	}
	for _, path := range []string{cluster + "?tab=logs", cluster + "/log?pod=shared-notebooks-master-0"} {
		if answer := get(serve(consolepages.Morning(), withArchive().Hide("ml")), path); answer.Code != http.StatusNotFound {
			t.Errorf("who may not read it gets %d for %s", answer.Code, path)
		}
	}
}

func TestPageSaysWhyThereAreNoTransitions(t *testing.T) {
	handler := serve(consolepages.Morning(), &consolepages.Viewer{})
	for path, want := range map[string]string{
		"/applications/ingest/sparkapplications.spark.apache.org/hourly-rollup-037":    "Nothing happened yet: the status has no record of transitions.",
		"/applications/legacy/sparkapplications.sparkoperator.k8s.io/old-operator-job": "Another operator runs it: its status has no record of transitions.",
	} {
		for _, tab := range []string{"timeline", "events"} {
			if body := get(handler, path+"?tab="+tab).Body.String(); strings.Count(body, "record of transitions") != 1 || !strings.Contains(body, want) {
				t.Errorf("the tab %s of %s lacks %q", tab, path, want)
			}
		}
	}
}

func TestStalePagesSayIt(t *testing.T) {
	sample := consolepages.Morning()
	sample.Stale = consolepages.Now.Add(-75 * time.Second)
	if body := get(serve(sample, &consolepages.Viewer{}), "/").Body.String(); !strings.Contains(body, "has not answered for") || !strings.Contains(body, ">75s</time>") {
		t.Error("the page does not say since when it is stale")
	}
}

func TestPagesSayThatNotAllWasReadYet(t *testing.T) {
	const said = "The page does not show all of it yet."
	for _, path := range []string{"/", "/applications", "/schedules", pathOf(consolepages.Failed)} {
		for _, reading := range []bool{true, false} {
			sample := consolepages.Morning()
			sample.Reading = reading
			if body := get(serve(sample, &consolepages.Viewer{}), path).Body.String(); strings.Contains(body, said) != reading {
				t.Errorf("%s, while it is read %t: the page says %q or not", path, reading, said)
			}
		}
	}
}

func TestNextAnswerHasTheChange(t *testing.T) {
	sample := consolepages.Morning()
	handler := serve(sample, &consolepages.Viewer{})
	before, _ := sample.Details(consolepages.Failed, true)
	changed := *before.Row
	changed.State = "BrandNewState"
	sample.Replace(&changed)
	if !strings.Contains(get(handler, "/applications?text="+changed.Name).Body.String(), "BrandNewState") {
		t.Error("the list has the state of before")
	}
}

func TestWrongParametersAreNamed(t *testing.T) {
	handler := serve(consolepages.Morning(), &consolepages.Viewer{})
	for path, want := range map[string]string{"/applications?limit=0": "limit", "/applications?colour=red": "colour", "/compare?a=x&b=y": "NAMESPACE/RESOURCE/NAME"} {
		if answer := get(handler, path); answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%s: %d without %s", path, answer.Code, want)
		}
	}
}

func TestSpreadsheetsRunNothing(t *testing.T) {
	for _, formula := range []string{"=HYPERLINK(1)", "+1+cmd|' /C calc'!A0", "-1+1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "\uff1d1+1", "\uff201"} {
		body := get(serve(consolepages.Hostile(formula), &consolepages.Viewer{}), "/applications?format=csv").Body.String()
		rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Fatalf("%q: %d rows, %v", formula, len(rows), err)
		}
		for _, cell := range rows[1] {
			if strings.HasPrefix(cell, formula) {
				t.Errorf("a cell is %q", cell)
			}
		}
	}
}

func TestTableForSpreadsheetsHasCosts(t *testing.T) {
	body := get(serve(consolepages.Morning(), &consolepages.Viewer{}), "/applications?format=csv&namespace=features&text=clickstream").Body.String()
	if !strings.Contains(body, "gpuSeconds,cost,currency\n") || !strings.Contains(body, ",604000,2900000000,20000,17.311155,EUR\n") {
		t.Errorf("the cost is missing: %s", body)
	}
}

// streamOfFailed opens the stream of the page of the application that failed.
func streamOfFailed(ctx context.Context, t *testing.T, server *httptest.Server) io.ReadCloser {
	t.Helper()
	address := server.URL + "/stream?cursor=1&namespace=reports&resource=" + consolepages.Failed.Resource + "&name=" + consolepages.Failed.Name
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Body
}

func TestStreamSendsChangesAndEndsWithTheSession(t *testing.T) {
	sample, viewer, clock := consolepages.Morning(), &consolepages.Viewer{}, testclock.NewFakeClock(consolepages.Now)
	server := httptest.NewServer(serveAt(clock, sample, viewer))
	defer server.Close()
	stream := streamOfFailed(t.Context(), t, server)
	defer stream.Close()
	sample.Changed <- live.Changes{Cursor: 2, Items: []*live.Change{{Ref: live.Ref{Name: "another"}}}}
	sample.Changed <- live.Changes{Cursor: 3, Items: []*live.Change{{Ref: consolepages.Failed}}}
	const want = "event: ping\ndata: \n\nevent: changed\nid: 3\ndata: \n\n"
	text := make([]byte, len(want))
	if _, err := io.ReadFull(stream, text); err != nil || string(text) != want {
		t.Errorf("got %q, %v", text, err)
	}
	viewer.End()
	for clock.Waiters() < 2 { // the next ping, and the pause after the change
		runtime.Gosched()
	}
	clock.Step(time.Minute)
	if rest, err := io.ReadAll(stream); err != nil || string(rest) != "event: over\ndata: \n\n" {
		t.Errorf("after the session: %q, %v", rest, err)
	}
}

func TestStreamOfAnObjectSaysThatTheRightsChanged(t *testing.T) {
	sample, viewer, clock := consolepages.Morning(), &consolepages.Viewer{}, testclock.NewFakeClock(consolepages.Now)
	server := httptest.NewServer(serveAt(clock, sample, viewer))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	stream := streamOfFailed(ctx, t, server)
	defer stream.Close()
	defer cancel()
	lines := bufio.NewScanner(stream)
	next := func() (event string) {
		for event == "" && lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				event = name
			}
		}
		return event
	}
	after := func(hidden ...string) {
		viewer.Hide(hidden...)
		for !clock.HasWaiters() {
			runtime.Gosched()
		}
		clock.Step(time.Minute)
	}
	if event := next(); event != "ping" {
		t.Fatalf("it begins with %q", event)
	}
	for _, step := range []struct {
		hidden, want []string
	}{{nil, []string{"ping"}}, {[]string{"reports"}, []string{"changed", "ping"}}, {[]string{"reports"}, []string{"ping"}}, {nil, []string{"changed", "ping"}}} {
		after(step.hidden...)
		for _, want := range step.want {
			if event := next(); event != want {
				t.Errorf("%v is hidden: got %q, want %q", step.hidden, event, want)
			}
		}
	}
}

func TestLogThatEndsTooEarlyIsNoWholeFile(t *testing.T) {
	viewer := &consolepages.Viewer{LogFails: errors.New("the session is over")}
	server := httptest.NewUnstartedServer(serve(consolepages.Morning(), viewer))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+pathOf(consolepages.Failed)+"/log?pod=daily-revenue-20260304-driver", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if text, err := io.ReadAll(answer.Body); err == nil || len(text) == 0 {
		t.Errorf("the file of %d bytes ends with %v", len(text), err)
	}
}

func TestNoteIsForViewersAlone(t *testing.T) {
	signedIn := true
	server := pages.New(pages.Options{
		Source: consolepages.Morning(), Prefix: func() string { return prefix }, Clock: testclock.NewFakeClock(consolepages.Now), Logger: zap.NewNop().Sugar(),
		Viewers: func(*http.Request) (pages.Viewer, error) {
			if !signedIn {
				return nil, access.ErrUnauthenticated
			}
			return &consolepages.Viewer{}, nil
		},
		Note: func() string { return "Pods & more are left out." },
	})
	for _, path := range []string{"/", "/applications", "/nothing"} {
		if text := get(server.Handler(), path).Body.String(); !strings.Contains(text, ">Pods &amp; more are left out.<") {
			t.Errorf("%s has no note", path)
		}
	}
	signedIn = false
	if text := get(server.Handler(), "/").Body.String(); strings.Contains(text, "left out") {
		t.Error("who has no session reads the note")
	}
}

func TestListSaysThatAnObjectIsDeleted(t *testing.T) {
	handler := serve(consolepages.Morning(), &consolepages.Viewer{})
	answer := get(handler, "/applications?"+act.ParamDone+"="+string(act.Delete))
	if text := answer.Body.String(); answer.Code != http.StatusOK || !strings.Contains(text, "The object is being deleted.") {
		t.Errorf("%d: the list does not say it", answer.Code)
	}
	if text := answer.Body.String(); strings.Contains(text, act.ParamDone+"=") {
		t.Error("the list says it again when it is kept up to date")
	}
}

func TestFailedRunIsComparedWithTheLastGoodOne(t *testing.T) {
	handler := serve(consolepages.Morning(), withArchive())
	compare := func(a, b string) string { return "/compare?" + url.Values{"a": {a}, "b": {b}}.Encode() }
	const rollup, revenue = "ingest/sparkapplications.spark.apache.org/hourly-rollup-037", "reports/sparkapplications.spark.apache.org/"
	for path, wanted := range map[string][]string{
		// The runs of one schedule, and those whose names begin alike.
		pathOf(consolepages.Failed):                     {"Compare with the last good run", url.Values{"b": {revenue + "daily-revenue-run-0"}}.Encode()},
		"/applications/" + rollup:                       {"Compare with the last good run", url.Values{"b": {"ingest/sparkapplications.spark.apache.org/hourly-rollup-041"}}.Encode()},
		"/compare?a=" + rollup:                          {"Choose another run of this job", ">hourly-rollup-041</a>", "/spark/archive?namespace=ingest"},
		"/compare?a=" + revenue + "ingest-orders-01":    {"Choose another run of this job", ">ingest-orders-04</a>"},
		pathOf(consolepages.Gone):                       {">Compare</a>", url.QueryEscape("/uid-" + consolepages.Gone.Name)},
		compare(rollup, revenue+consolepages.Gone.Name): {"What differs in the spec"},
	} {
		body := get(handler, path).Body.String()
		for _, want := range wanted {
			if !strings.Contains(body, strings.ReplaceAll(want, "&", "&amp;")) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
		if strings.Contains(body, "abc12") || strings.Contains(body, "correct-horse") {
			t.Errorf("%s has the value of a secret", path)
		}
	}
	for path, want := range map[string]int{
		"/compare": http.StatusOK, "/compare?a=" + rollup: http.StatusOK, "/compare?a=x": http.StatusBadRequest, "/compare?a=a/b/c/d/e": http.StatusBadRequest,
		compare(rollup, revenue+"absent"): http.StatusNotFound, compare(rollup, rollup+"/another-uid"): http.StatusNotFound,
		"/compare?a=ml/sparkclusters.spark.apache.org/nightly-lab": http.StatusNotFound,
	} {
		if got := get(handler, path).Code; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	hidden := serve(consolepages.Morning(), withArchive().Hide("reports"))
	for _, b := range []string{revenue + consolepages.Failed.Name, revenue + consolepages.Gone.Name, revenue + "absent"} {
		if answer := get(hidden, compare(rollup, b)); answer.Code != http.StatusNotFound || !strings.Contains(answer.Body.String(), "or you may not see it") {
			t.Errorf("who may not read %s gets %d", b, answer.Code)
		}
	}
}
