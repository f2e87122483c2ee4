package history

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/pkg/console/sparkui"
	"github.com/firesteel-dev/firesteel/pkg/history"
	"github.com/firesteel-dev/firesteel/test/harness/localhost"
)

const (
	team = "team-a"
	// reader may see the UIs, and owner may end jobs, too. The names are tokens.
	reader, owner = "reader", "owner"
	// historyHost is the address by which the console knows the History Server.
	historyHost = "history.example:80"
)

// uis is a console before real drivers and a real History Server, which run on this machine. It has their answers from their real addresses.
type uis struct {
	*testing.T
	mutex     sync.Mutex
	addresses map[string]string // by the addresses that the console knows
	apps      map[sparkui.Ref]*app
	console   *httptest.Server
	address   string // of the UIs
}

// app is an application with a driver that runs, or has ended.
type app struct {
	sparkui.Driver
	ref sparkui.Ref
	// version is that of Spark.
	version string
	process *exec.Cmd
	input   io.Closer
}

func newUIs(t *testing.T) *uis {
	t.Helper()
	u := &uis{T: t, addresses: map[string]string{}, apps: map[sparkui.Ref]*app{}}
	key, err := session.NewKey([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	served := sparkui.New(sparkui.Options{
		Key: key, Users: u, Drivers: u, Pages: u, Histories: u, Runs: u, Dial: u.dial, Clock: clock.RealClock{}, Logger: zap.NewNop().Sugar(),
		Address: func() string { return u.address }, HistoryServer: u.historyServer,
		Actions: func() bool { return true },
	})
	sessions := session.New(session.Options{Key: key, Users: u, Pages: u, Clock: clock.RealClock{}, Address: func() string { return "" }})
	mux := http.NewServeMux()
	mux.Handle("GET /spark-ui/{namespace}/{resource}/{name}", sessions.Require(served.Open()))
	mux.Handle("/api/v1/", served.API(sessions))
	u.console = httptest.NewServer(mux)
	origins := httptest.NewServer(served.Handler())
	t.Cleanup(u.console.Close)
	t.Cleanup(origins.Close)
	_, port, _ := net.SplitHostPort(origins.Listener.Addr().String())
	u.address = "http://*.localhost:" + port
	return u
}

// historyServer is the History Server's address once it runs.
func (u *uis) historyServer() string {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.addresses[historyHost] == "" {
		return ""
	}
	return "http://" + strings.TrimSuffix(historyHost, ":80")
}

func (u *uis) dial(ctx context.Context, network, address string) (net.Conn, error) {
	u.mutex.Lock()
	actual, ok := u.addresses[address]
	u.mutex.Unlock()
	if !ok {
		return nil, fmt.Errorf("the console connects to %s", address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, actual)
}

// Driver is what the console's cache knows of an application.
func (u *uis) Driver(ref sparkui.Ref) (*sparkui.Driver, bool) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	a, ok := u.apps[ref]
	if !ok {
		return nil, false
	}
	driver := a.Driver
	return &driver, true
}

// runs are the applications whose drivers run.
func (u *uis) runs() (all []sparkui.Run) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	for ref, a := range u.apps {
		if a.Runs {
			all = append(all, sparkui.Run{Ref: ref, UID: a.UID, Started: time.Now().Add(-time.Minute)})
		}
	}
	return all
}

// Running calls a function for each application whose driver runs.
func (u *uis) Running(_ context.Context, _ console.Reader, each func(sparkui.Run) bool) error {
	for _, run := range u.runs() {
		if !each(run) {
			break
		}
	}
	return nil
}

// Named returns the application whose driver runs that fits.
func (u *uis) Named(_ string, fits func(sparkui.Run) bool) (sparkui.Run, bool) {
	runs := u.runs()
	if at := slices.IndexFunc(runs, fits); at >= 0 {
		return runs[at], true
	}
	return sparkui.Run{}, false
}

// History returns the IDs that the event log of an application has.
func (u *uis) History(_ context.Context, _ *session.Session, ref sparkui.Ref, _ sparkui.Wanted) (*sparkui.History, bool, error) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	a, ok := u.apps[ref]
	if !ok {
		return nil, false, nil
	}
	return &sparkui.History{UID: a.UID, Namespace: types.UID(team), IDs: history.WrittenIDs(team, a.ApplicationID)}, true, nil
}

// SignIn is not asked for: each request has a token.
func (u *uis) SignIn(http.ResponseWriter, *http.Request, int, session.Form) {}

// Problem writes a message.
func (u *uis) Problem(w http.ResponseWriter, _ *http.Request, status int, message string) {
	http.Error(w, message, status)
}

// Reader returns the user whose name is the token.
func (u *uis) Reader(_ context.Context, token string) (console.Reader, error) {
	return user(token), nil
}

// user may read everything. The owner may update it, too.
type user string

// Name is the name.
func (u user) Name() string { return string(u) }

// Key is the name.
func (u user) Key() string { return string(u) }

// Check returns nil if the user has a right.
func (u user) Check(_ context.Context, right access.Right) error {
	if right.Verb == "update" && u != owner {
		return access.ErrNotAllowed
	}
	return nil
}

// Ask is Check.
func (u user) Ask(ctx context.Context, right access.Right) error { return u.Check(ctx, right) }

// Namespace returns the only one.
func (u user) Namespace(context.Context, string) (archive.Namespace, error) {
	return archive.Namespace{Name: team, UID: types.UID(team)}, nil
}

// run starts the driver of testdata with a version of Spark. It writes its event log into a folder.
func (u *uis) run(homes, version, folder string) *app {
	u.Helper()
	program, err := filepath.Abs("testdata/SparkPages.java")
	if err != nil {
		u.Fatal(err)
	}
	a := &app{version: version, ref: sparkui.Ref{Resource: "sparkapplications", Group: "spark.apache.org", Namespace: team, Name: "pages-" + version}}
	var options []string
	for _, property := range []string{
		"spark.master=local[4]", "spark.app.name=" + a.ref.Name, "spark.ui.port=0", "spark.sql.catalogImplementation=in-memory", "spark.eventLog.enabled=true",
		"spark.eventLog.compress=false", "spark.eventLog.rolling.enabled=false", "spark.eventLog.dir=file:" + folder,
	} {
		options = append(options, "-D"+property)
	}
	a.process = java(u.T, filepath.Join(homes, version), options, program)
	var log strings.Builder
	a.process.Stderr = &log
	if a.input, err = a.process.StdinPipe(); err != nil {
		u.Fatal(err)
	}
	output, err := a.process.StdoutPipe()
	if err != nil {
		u.Fatal(err)
	}
	if err := a.process.Start(); err != nil {
		u.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	address, id, _ := strings.Cut(strings.TrimSpace(line), " ")
	ui, notURL := url.Parse(address)
	if err != nil || notURL != nil || id == "" {
		_ = a.process.Process.Kill()
		_ = a.process.Wait()
		u.Fatalf("Spark %s printed %q: %v\n%s", version, line, err, log.String())
	}
	u.mutex.Lock()
	defer u.mutex.Unlock()
	a.Driver = sparkui.Driver{
		UID: types.UID(version), Runs: true, State: "RunningHealthy", ApplicationID: id, Pod: a.ref.Name + "-0-driver", IP: fmt.Sprintf("10.1.2.%d", len(u.apps)+1), Port: 4040,
	}
	u.addresses[fmt.Sprintf("%s:%d", a.IP, a.Port)] = "127.0.0.1:" + ui.Port()
	u.apps[a.ref] = a
	return a
}

// end ends a driver, and waits until it has written its event log.
func (u *uis) end(a *app) {
	u.Helper()
	_ = a.input.Close()
	if err := a.process.Wait(); err != nil {
		u.Fatalf("the driver of Spark %s ends with %v", a.version, err)
	}
	u.mutex.Lock()
	defer u.mutex.Unlock()
	a.Runs, a.State = false, "Succeeded"
}

// browser is a browser of a user that follows no redirections by itself.
func (u *uis) browser(name string) *browser {
	u.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		u.Fatal(err)
	}
	return &browser{u, name, &http.Client{Transport: localhost.Transport(), Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

type browser struct {
	*uis
	name   string
	client *http.Client
}

// get reads an address.
func (b *browser) get(address string) *page {
	b.Helper()
	return b.send(http.MethodGet, address, nil)
}

// send sends a request as a page of the same origin does. form is what it posts.
func (b *browser) send(method, address string, form url.Values) *page {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.Fatal(err)
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	if strings.HasPrefix(address, b.console.URL) {
		request.Header.Set("Authorization", "Bearer "+b.name)
	}
	response, err := b.client.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.Fatalf("%s: %v", address, err)
	}
	return &page{Response: response, text: string(body)}
}

// visit opens the stable link of an application, and returns the address of what it leads to, without a slash at its end.
func (b *browser) visit(a *app) string {
	b.Helper()
	link := b.get(b.console.URL + sparkui.Link(a.ref.Namespace, a.ref.Resource+"."+a.ref.Group, a.ref.Name))
	opened := b.get(link.Header.Get("Location"))
	if link.StatusCode != http.StatusSeeOther || opened.StatusCode != http.StatusSeeOther {
		b.Fatalf("the link: %d %s; the ticket: %d %s", link.StatusCode, link.text, opened.StatusCode, opened.text)
	}
	return strings.TrimSuffix(opened.at(opened.Header.Get("Location")), "/")
}

// wantedPages are the pages that a driver's UI has, with a text of each.
var wantedPages = map[string]string{
	"/jobs/": "Spark Jobs", "/jobs/job/": "Details for Job", "/stages/": "Stages for All Jobs", "/stages/stage/": "Details for Stage", "/storage/": "Storage",
	"/storage/rdd/": "RDD Storage Info", "/environment/": "Runtime Information", "/executors/": "Executors", "/SQL/": "SQL / DataFrame", "/SQL/execution/": "Details for Query",
	"/StreamingQuery/": "Streaming Query", "/StreamingQuery/statistics/": "Streaming Query Statistics", "/streaming/": "Streaming Statistics", "/streaming/batch/": "Details of batch",
}

// onlyLive are those that a History Server does not have.
var onlyLive = map[string]string{"/executors/threadDump/": "Thread dump", "/executors/heapHistogram/": "Heap Histogram"}

// flames is what the thread dump has from Spark 4 on.
const flames = "d3-flamegraph"

func TestConsoleServesEachPageOfSparkUIs(t *testing.T) {
	homes, logs := sparkHomes(t), t.TempDir()
	folder := filepath.Join(logs, team)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	u := newUIs(t)
	var apps []*app
	for _, version := range versions {
		a := u.run(homes, version, folder)
		apps = append(apps, a)
		t.Run(version, func(t *testing.T) {
			u.T = t
			u.expectPages(a)
			u.expectKillNeedsRight(a)
			u.expectAPI(a)
		})
		u.T = t
	}
	latest := apps[len(apps)-1]
	for _, a := range apps[:len(apps)-1] {
		u.end(a)
	}
	server := start(t, filepath.Join(homes, latest.version), serve(t, logs, team))
	u.mutex.Lock()
	u.addresses[historyHost] = server.address
	u.mutex.Unlock()
	server.applications(t, "completed", len(apps)-1)
	u.expectListed(apps)
	for _, a := range apps[:len(apps)-1] {
		t.Run(a.version+" has ended", func(t *testing.T) {
			u.T = t
			u.expectHistory(a)
			u.expectLog(u.expectAPI(a))
		})
		u.T = t
	}
	u.end(latest)
}

// expectPages reads everything that the pages of a driver link to.
func (u *uis) expectPages(a *app) {
	u.Helper()
	b := u.browser(reader)
	visit := b.visit(a)
	// Scripts make the links of executors.
	pages := b.crawl(visit, visit+"/", visit+"/executors/threadDump/?executorId=driver", visit+"/executors/heapHistogram/?executorId=driver")
	for _, wanted := range []map[string]string{wantedPages, onlyLive} {
		for path, text := range wanted {
			if page := pages[path]; page == nil || !strings.Contains(page.text, text) {
				u.Errorf("%s is not linked to, or lacks %q", path, text)
			}
		}
	}
	if dump := pages["/executors/threadDump/"]; dump != nil && !strings.HasPrefix(a.version, "3.") && !strings.Contains(dump.text, flames) {
		u.Error("the thread dump has no flame graph")
	}
	for _, path := range []string{"/static/executorspage-template.html", "/static/stagespage-template.html"} { // scripts ask for them
		if got := b.get(visit + path); got.StatusCode != http.StatusOK || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") {
			u.Errorf("%s: %d %s", path, got.StatusCode, got.Header.Get("Content-Type"))
		}
	}
	if got := b.get(visit + "/api/v1/applications/" + a.ApplicationID + "/allexecutors"); got.StatusCode != http.StatusOK || !strings.Contains(got.text, `"driver"`) {
		u.Errorf("the scripts get no executors: %d %.200s", got.StatusCode, got.text)
	}
}

// expectKillNeedsRight ends the endless job by its link.
func (u *uis) expectKillNeedsRight(a *app) {
	u.Helper()
	for _, name := range []string{reader, owner} {
		b := u.browser(name)
		visit := b.visit(a)
		kills := b.get(visit + "/jobs/").kills()
		if len(kills) == 0 {
			u.Fatalf("the page of jobs has no link that ends one for %s", name)
		}
		for _, kill := range kills {
			got := b.send(kill.method, kill.address, kill.form)
			if may := name == owner; got.StatusCode/100 == 3 != may || !may && got.StatusCode != http.StatusForbidden {
				u.Errorf("%s ends a job by %+v: %d %.200s", name, kill, got.StatusCode, got.text)
			}
			if to := got.Header.Get("Location"); to != "" && !strings.HasPrefix(got.at(to), visit+"/") {
				u.Errorf("%+v leads to %s", kill, to)
			}
		}
	}
	u.expectFailedJob(a)
}

// expectHistory reads everything that the History Server's pages of an application link to.
func (u *uis) expectHistory(a *app) {
	u.Helper()
	b := u.browser(reader)
	visit := b.visit(a)
	root := b.get(visit + "/")
	to := root.at(root.Header.Get("Location"))
	if root.StatusCode != http.StatusSeeOther {
		u.Fatalf("the visit begins with %d %.200s", root.StatusCode, root.text)
	}
	below := strings.TrimSuffix(strings.TrimPrefix(to, visit), "/jobs/")
	pages := b.crawl(visit, to)
	for path, text := range wantedPages {
		if path == "/storage/rdd/" || strings.HasPrefix(path, "/streaming/") {
			continue // event logs have neither what is cached, nor streams of that kind
		}
		if page := pages[below+path]; page == nil || !strings.Contains(page.text, text) {
			u.Errorf("%s is not linked to, or lacks %q", below+path, text)
		}
	}
	if jobs := pages[below+"/jobs/"]; jobs != nil && len(jobs.kills()) > 0 {
		u.Error("the History Server's page has links that end jobs")
	}
}
