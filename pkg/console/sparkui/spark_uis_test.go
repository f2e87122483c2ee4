package sparkui_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/pkg/console/sparkui"
	"github.com/firesteel-dev/firesteel/test/harness/localhost"
)

var (
	etl   = sparkui.Ref{Resource: "sparkapplications", Group: "spark.apache.org", Namespace: "team-a", Name: "etl"}
	other = sparkui.Ref{Resource: "sparkapplications", Group: "spark.apache.org", Namespace: "team-b", Name: "other"}
)

// env is a console with two drivers.
type env struct {
	t       *testing.T
	clock   *testingclock.FakePassiveClock
	address string
	// drivers are those of the applications, and serve answers for them.
	drivers map[sparkui.Ref]*sparkui.Driver
	serve   http.HandlerFunc
	// dialed are the addresses of drivers that the console called.
	mutex  sync.Mutex
	dialed []string
	// rights are those of the users, by name.
	rights map[string][]string
	// server is the address of the History Server; empty if there is none. histories are the event logs that are looked for in it, and namespace is the
	// uid of each namespace.
	server    string
	histories map[sparkui.Ref]*sparkui.History
	namespace types.UID
	// onlyReads reports whether actions are off.
	onlyReads bool
	// runs are the applications that run.
	runs []sparkui.Run
	// console and uis are the two origins.
	console, uis, driver *httptest.Server
}

func newEnv(t *testing.T) *env {
	t.Helper()
	return newEnvWith(t, func(*env, *sparkui.Options) {})
}

// newEnvWith returns an env with other options.
func newEnvWith(t *testing.T, change func(*env, *sparkui.Options)) *env {
	t.Helper()
	e := &env{
		t: t, clock: testingclock.NewFakePassiveClock(time.Now()),
		drivers: map[sparkui.Ref]*sparkui.Driver{
			etl:   {UID: "uid-1", Runs: true, State: "RunningHealthy", IP: "10.1.2.3", Port: 4040},
			other: {UID: "uid-2", Runs: true, State: "RunningHealthy", IP: "10.1.2.4", Port: 4041},
		},
		rights: map[string][]string{
			"ann": {"get team-a", "get team-b", "update team-a"}, "bob": {"get team-a"}, "eve": {"get team-b"},
		},
		serve: func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%s %s", r.Method, r.URL.RequestURI()) },
	}
	e.driver = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { e.serve(w, r) }))
	key, err := session.NewKey([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	options := sparkui.Options{
		Key: key, Users: e, Drivers: e, Pages: e, Address: func() string { return e.address }, Clock: e.clock, Logger: zap.NewNop().Sugar(), Dial: e.dial,
		Histories: e, Runs: e, HistoryServer: func() string { return e.server }, Actions: func() bool { return !e.onlyReads },
	}
	change(e, &options)
	s := sparkui.New(options)
	sessions := session.New(session.Options{Key: key, Users: e, Pages: e, Clock: e.clock, Address: func() string { return "" }})
	mux := http.NewServeMux()
	mux.Handle("GET /spark-ui/{namespace}/{resource}/{name}", sessions.Require(s.Open()))
	mux.Handle("/api/v1/", s.API(sessions))
	e.console, e.uis = httptest.NewServer(mux), httptest.NewServer(s.Handler())
	e.address = strings.Replace(e.uis.URL, "127.0.0.1", "*.localhost", 1)
	t.Cleanup(func() {
		e.console.Close()
		e.uis.Close()
		e.driver.Close()
	})
	return e
}

func (e *env) dial(ctx context.Context, network, address string) (net.Conn, error) {
	e.mutex.Lock()
	e.dialed = append(e.dialed, address)
	e.mutex.Unlock()
	return (&net.Dialer{}).DialContext(ctx, network, e.driver.Listener.Addr().String())
}

func (e *env) Driver(ref sparkui.Ref) (*sparkui.Driver, bool) {
	driver, ok := e.drivers[ref]
	return driver, ok
}

func (e *env) SignIn(http.ResponseWriter, *http.Request, int, session.Form) {}

func (e *env) Problem(w http.ResponseWriter, _ *http.Request, status int, message string) {
	http.Error(w, message, status)
}

type reader struct {
	*env
	name string
}

// Reader takes a name for a token.
func (e *env) Reader(_ context.Context, token string) (console.Reader, error) {
	if _, ok := e.rights[token]; !ok {
		return nil, access.ErrUnauthenticated
	}
	return reader{e, token}, nil
}

func (r reader) Name() string { return r.name }

func (r reader) Key() string { return r.name }

func (r reader) Check(_ context.Context, right access.Right) error {
	if right.Subresource == "portforward" && right.Resource == "pods" && right.Verb == "create" && slices.Contains(r.rights[r.name], "forward "+right.Namespace+"/"+right.Name) {
		return nil
	}
	if right.Resource == "pods" && right.Subresource == "log" && slices.Contains(r.rights[r.name], "logs "+right.Namespace) {
		return nil
	}
	if !slices.Contains(r.rights[r.name], right.Verb+" "+right.Namespace) || right.Resource != "sparkapplications" || right.Group != "spark.apache.org" || right.Name == "" {
		return access.ErrNotAllowed
	}
	return nil
}

func (r reader) Ask(ctx context.Context, right access.Right) error { return r.Check(ctx, right) }

func (r reader) Namespace(context.Context, string) (archive.Namespace, error) {
	return archive.Namespace{UID: r.namespace}, nil
}

// History returns the event logs of an application.
func (e *env) History(_ context.Context, user *session.Session, ref sparkui.Ref, wanted sparkui.Wanted) (*sparkui.History, bool, error) {
	known, ok := e.histories[ref]
	if !ok || user.Name() == "" || wanted.UID != "" && wanted.UID != known.UID {
		return nil, false, nil
	}
	return known, true, nil
}

// browser is a browser of a user.
type browser struct {
	*env
	name   string
	client *http.Client
}

func (e *env) browser(name string) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		e.t.Fatal(err)
	}
	return &browser{e, name, &http.Client{Transport: localhost.Transport(), Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// answer is an answer with its body.
type answer struct {
	*http.Response
	body string
}

// send sends a request. Headers are pairs of name and value.
func (b *browser) send(method, address string, headers ...string) answer {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := b.client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		b.t.Fatal(err)
	}
	return answer{response, string(body)}
}

// ticket follows the stable link, and returns where it leads.
func (b *browser) ticket(ref sparkui.Ref) answer {
	b.t.Helper()
	return b.send(http.MethodGet, b.console.URL+sparkui.Link(ref.Namespace, ref.Resource+"."+ref.Group, ref.Name), "Authorization", "Bearer "+b.name)
}

// visit opens a UI, and returns its address without a slash at its end.
func (b *browser) visit(ref sparkui.Ref) string {
	b.t.Helper()
	link := b.ticket(ref)
	opened := b.send(http.MethodGet, link.Header.Get("Location"))
	if link.StatusCode != http.StatusSeeOther || opened.StatusCode != http.StatusSeeOther {
		b.t.Fatalf("the link: %d %s; the ticket: %d %s", link.StatusCode, link.body, opened.StatusCode, opened.body)
	}
	return "http://" + opened.Request.URL.Host + strings.TrimSuffix(opened.Header.Get("Location"), "/")
}

func TestVisitShowsTheDriversPages(t *testing.T) {
	e := newEnv(t)
	ann := e.browser("ann")
	visit := ann.visit(etl)
	for path, want := range map[string]string{
		"/": "GET /", "/jobs/": "GET /jobs/", "/stages/stage/?id=1&attempt=0": "GET /stages/stage/?id=1&attempt=0", "/api/v1/applications": "GET /api/v1/applications",
		"/environment/a%2Fb//c": "GET /environment/a%2Fb//c", "/static/webui.js": "GET /static/webui.js",
	} {
		if got := ann.send(http.MethodGet, visit+path); got.StatusCode != http.StatusOK || got.body != want {
			t.Errorf("%s: %d %q", path, got.StatusCode, got.body)
		}
	}
	if len(e.dialed) == 0 || slices.ContainsFunc(e.dialed, func(to string) bool { return to != "10.1.2.3:4040" }) {
		t.Errorf("the console called %v", e.dialed)
	}
	prefix := mustParse(t, visit).Path
	for _, segment := range strings.Split(prefix, "/") {
		if segment == "proxy" || segment == "history" || segment == "etl" || segment == "team-a" {
			t.Errorf("the prefix is %q", prefix)
		}
	}
}

// Go reads a text such as http://10.1.2.3:4040%2F@other as an address of the host other.
func TestWhatFollowsAVisitNeverNamesAnotherHost(t *testing.T) {
	e := newEnv(t)
	ann := e.browser("ann")
	visit := ann.visit(etl)
	e.dialed = nil
	for path, want := range map[string]int{
		"%2F@other.example/api/v1/applications": http.StatusBadRequest, "%2f@169.254.169.254/": http.StatusBadRequest, "%2F:80@other.example:80/": http.StatusBadRequest,
		"%2F": http.StatusBadRequest, "/@other.example/": http.StatusOK, "//other.example/": http.StatusOK, "/%2F@other.example/": http.StatusOK, "/http://other.example/": http.StatusOK,
	} {
		if got := ann.send(http.MethodGet, visit+path); got.StatusCode != want || want == http.StatusOK && got.body != "GET "+path {
			t.Errorf("%s: %d %q", path, got.StatusCode, got.body)
		}
	}
	if slices.ContainsFunc(e.dialed, func(to string) bool { return to != "10.1.2.3:4040" }) {
		t.Errorf("the console called %v", e.dialed)
	}
}

func TestNothingOfTheUserReachesTheDriver(t *testing.T) {
	e := newEnv(t)
	ann := e.browser("ann")
	visit := ann.visit(etl)
	var seen http.Header
	var host string
	e.serve = func(_ http.ResponseWriter, r *http.Request) { seen, host = r.Header, r.Host }
	ann.send(http.MethodGet, visit+"/jobs/", "Authorization", "Bearer secret", "X-Firesteel-Authorization", "Bearer secret", "X-Csrf-Token", "secret", "Referer", visit,
		"Origin", strings.TrimSuffix(visit, mustParse(t, visit).Path), "X-Forwarded-Context", "/evil", "X-Forwarded-For", "1.2.3.4", "X-Forwarded-Host", "secret", "X-Remote-User", "ann",
		"Impersonate-User", "ann", "Proxy-Authorization", "secret", "Accept-Language", "de", "Upgrade", "websocket", "Connection", "Upgrade", "Cookie", "a=secret")
	want := map[string]string{"X-Forwarded-Context": mustParse(t, visit).Path, "User-Agent": "firesteel-console", "Accept-Language": "de", "Accept-Encoding": "gzip"}
	if len(seen) != len(want) || host != "10.1.2.3:4040" {
		t.Errorf("the driver sees %v for %s", seen, host)
	}
	for name, value := range want {
		if seen.Get(name) != value {
			t.Errorf("%s is %q, want %q", name, seen.Get(name), value)
		}
	}
}

func TestDriverCannotChangeTheBrowsersState(t *testing.T) {
	e := newEnv(t)
	ann := e.browser("ann")
	visit := ann.visit(etl)
	forbidden := map[string]string{
		"Set-Cookie": "firesteel-session=evil; Path=/; HttpOnly", "Service-Worker-Allowed": "/", "Clear-Site-Data": `"*"`, "Access-Control-Allow-Origin": "*",
		"Access-Control-Allow-Credentials": "true", "Refresh": "0; url=https://evil.example", "Www-Authenticate": `Basic realm="your password"`,
		"Strict-Transport-Security": "max-age=1", "Link": "<https://evil.example>; rel=preload", "Alt-Svc": `h3="evil.example:443"`, "Report-To": "{}", "Nel": "{}",
		"Sourcemap": "https://evil.example", "X-Dns-Prefetch-Control": "on", "Cross-Origin-Opener-Policy": "unsafe-none", "X-Frame-Options": "ALLOWALL",
	}
	e.serve = func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range forbidden {
			w.Header().Add(name, value)
		}
		w.Header().Set("Content-Security-Policy", "script-src 'self' 'unsafe-eval'")
		w.Header().Set("Cache-Control", "public, max-age=31536000")
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Trailer", "Set-Cookie")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, "<script>document.cookie='a=b'</script>")
		w.Header().Set("Set-Cookie", "trailer=evil")
	}
	got := ann.send(http.MethodGet, visit+"/")
	for name, value := range forbidden {
		if slices.Contains(got.Header.Values(name), value) {
			t.Errorf("%s: %q", name, got.Header.Values(name))
		}
	}
	policies := got.Header.Values("Content-Security-Policy")
	if !slices.Contains(policies, "script-src 'self' 'unsafe-eval'") || !strings.Contains(strings.Join(policies, ";"), "worker-src 'none'") || !strings.Contains(strings.Join(policies, ";"), "frame-ancestors 'none'") {
		t.Errorf("the policies are %q", policies)
	}
	if got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("Referrer-Policy") != "same-origin" || len(got.Cookies()) > 0 || len(got.Trailer) > 0 {
		t.Errorf("the header is %v, the trailer %v", got.Header, got.Trailer)
	}
	if got.StatusCode != http.StatusUnauthorized || !strings.Contains(got.body, "document.cookie") {
		t.Errorf("got %d %q", got.StatusCode, got.body)
	}
}

func TestRedirectionsStayInTheVisit(t *testing.T) {
	e := newEnv(t)
	ann := e.browser("ann")
	visit := ann.visit(etl)
	prefix := mustParse(t, visit).Path
	for location, want := range map[string]string{
		"/jobs/": prefix + "/jobs/", "http://10.1.2.3:4040/jobs/?id=1": prefix + "/jobs/?id=1", prefix + "/jobs/": prefix + "/jobs/", "jobs/": "jobs/", "?page=2": "?page=2",
		"http://10.1.2.3:4040" + prefix + "/jobs/": prefix + "/jobs/", "http://10.1.2.3:4040": prefix + "/",
		"https://evil.example/": "", "//evil.example/": "", `/\evil.example`: "", `\\evil.example`: "", "http://10.1.2.4:4040/": "", "javascript:alert(1)": "",
		"https://10.1.2.3:4040/": "", "http://user@10.1.2.3:4040/": "", "/../open": "", "../../open": "", prefix + "/../../open": "", "/%2e%2e/%2e%2e/open": "",
		"/\thttps://evil.example": "", "///evil.example/": prefix + "/evil.example/",
	} {
		e.serve = func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Location"] = []string{location}
			w.WriteHeader(http.StatusFound)
		}
		got := ann.send(http.MethodGet, visit+"/")
		if got.Header.Get("Location") != want || want == "" && got.StatusCode != http.StatusBadGateway {
			t.Errorf("%q leads to %q (%d), want %q", location, got.Header.Get("Location"), got.StatusCode, want)
		}
	}
}

func TestTicketIsOfOneUserAndOneUse(t *testing.T) {
	e := newEnv(t)
	ann := e.browser("ann")
	link := ann.ticket(etl).Header.Get("Location")
	if got := ann.send(http.MethodGet, link); got.StatusCode != http.StatusSeeOther {
		t.Fatalf("the first use: %d %s", got.StatusCode, got.body)
	}
	for name, c := range map[string]struct {
		link string
		wait time.Duration
	}{
		"used": {link, 0}, "old": {ann.ticket(etl).Header.Get("Location"), 31 * time.Second}, "changed": {link[:len(link)-4] + "AAAA", 0}, "none": {e.uis.URL + "/open", 0},
	} {
		e.clock.SetTime(e.clock.Now().Add(c.wait))
		if got := e.browser("eve").send(http.MethodGet, c.link); got.StatusCode != http.StatusForbidden || len(got.Cookies()) > 0 {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
	cookie := ann.client.Jar.Cookies(mustParse(t, ann.visit(etl)+"/"))
	if len(cookie) != 1 {
		t.Fatalf("the cookies are %v", cookie)
	}
	if got := e.browser("eve").send(http.MethodGet, e.uis.URL+"/open?ticket="+cookie[0].Value); got.StatusCode != http.StatusForbidden {
		t.Errorf("a cookie as a ticket: %d", got.StatusCode)
	}
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestVisitIsOfOneApplicationAndOneBrowser(t *testing.T) {
	e := newEnv(t)
	ann, eve := e.browser("ann"), e.browser("eve")
	ofEtl, ofOther := ann.visit(etl), ann.visit(other)
	if ofEtl == ofOther || ofEtl == ann.visit(etl) {
		t.Error("two visits have the same path")
	}
	if got := eve.send(http.MethodGet, ofEtl+"/"); got.StatusCode != http.StatusForbidden {
		t.Errorf("the path without the cookie: %d %q", got.StatusCode, got.body)
	}
	cookie := ann.client.Jar.Cookies(mustParse(t, ofOther+"/"))[0]
	mine := ann.client.Jar.Cookies(mustParse(t, ofEtl+"/"))[0]
	if got := eve.send(http.MethodGet, ofEtl+"/", "Cookie", mine.Name+"="+cookie.Value); got.StatusCode != http.StatusForbidden {
		t.Errorf("the cookie of another visit under this one's name: %d %q", got.StatusCode, got.body)
	}
	if got := eve.send(http.MethodGet, strings.Replace(ofEtl, mustParse(t, ofEtl).Path, "/ui/"+strings.Repeat("a", 26), 1)+"/", "Cookie", cookie.Name+"="+cookie.Value); got.StatusCode != http.StatusForbidden {
		t.Errorf("a guessed path: %d %q", got.StatusCode, got.body)
	}
	if !cookie.HttpOnly && cookie.Path != "" { // the jar of Go keeps neither
		t.Error(cookie)
	}
	e.drivers[etl] = &sparkui.Driver{UID: "uid-3", Runs: true, IP: "10.1.2.9", Port: 4040}
	if got := ann.send(http.MethodGet, ofEtl+"/"); got.StatusCode != http.StatusGone {
		t.Errorf("another application of the name: %d %q", got.StatusCode, got.body)
	}
	delete(e.drivers, other)
	if got := ann.send(http.MethodGet, ofOther+"/"); got.StatusCode != http.StatusGone {
		t.Errorf("a deleted application: %d %q", got.StatusCode, got.body)
	}
}

// Browsers send the cookie with requests of other pages of its site, too.
func TestOtherPagesCanOnlyLinkToAVisit(t *testing.T) {
	e := newEnv(t)
	ann := e.browser("ann")
	visit := ann.visit(etl)
	socket := ann.send(http.MethodGet, visit+"/jobs/", "Origin", "https://evil.example", "Sec-Websocket-Version", "13") // Chromium says no more of it
	if socket.StatusCode != http.StatusForbidden {
		t.Errorf("a socket of another page: %d %q", socket.StatusCode, socket.body)
	}
	for name, c := range map[string]struct {
		site, mode, destination string
		want                    int
	}{
		"its own script":            {"same-origin", "cors", "empty", http.StatusOK},
		"an address that is typed":  {"none", "navigate", "document", http.StatusOK},
		"a link of another site":    {"cross-site", "navigate", "document", http.StatusOK},
		"a script of the same site": {"same-site", "cors", "empty", http.StatusForbidden},
		"an image of the same site": {"same-site", "no-cors", "image", http.StatusForbidden},
		"a frame of the same site":  {"same-site", "navigate", "iframe", http.StatusForbidden},
		"a script of another site":  {"cross-site", "no-cors", "script", http.StatusForbidden},
	} {
		got := ann.send(http.MethodGet, visit+"/jobs/", "Sec-Fetch-Site", c.site, "Sec-Fetch-Mode", c.mode, "Sec-Fetch-Dest", c.destination)
		if got.StatusCode != c.want || c.want != http.StatusOK && strings.Contains(got.body, "GET") {
			t.Errorf("%s: %d %q", name, got.StatusCode, got.body)
		}
	}
}

func TestVisitEndsWithTheUsersRights(t *testing.T) {
	e := newEnv(t)
	ann := e.browser("ann")
	visit := ann.visit(etl)
	rights := e.rights["ann"]
	e.rights["ann"] = []string{"get team-b"}
	if got := ann.send(http.MethodGet, visit+"/"); got.StatusCode != http.StatusForbidden {
		t.Errorf("without the right: %d", got.StatusCode)
	}
	delete(e.rights, "ann")
	if got := ann.send(http.MethodGet, visit+"/"); got.StatusCode != http.StatusForbidden {
		t.Errorf("without the token: %d", got.StatusCode)
	}
	e.rights["ann"] = rights
	e.clock.SetTime(e.clock.Now().Add(session.MaxLife))
	if got := ann.send(http.MethodGet, visit+"/"); got.StatusCode != http.StatusForbidden {
		t.Errorf("after a long time: %d", got.StatusCode)
	}
}

func TestLinksThatKillNeedTheRightToUpdate(t *testing.T) {
	e := newEnv(t)
	ann, bob := e.browser("ann"), e.browser("bob")
	ofAnn, ofBob := ann.visit(etl), bob.visit(etl)
	own := []string{"Sec-Fetch-Site", "same-origin"}
	for path, method := range map[string]string{
		"/jobs/job/kill/?id=1": http.MethodGet, "/stages/stage/kill/?id=1": http.MethodGet, "/jobs/job/KILL/": http.MethodGet, "/jobs/job/%6bill/": http.MethodGet,
		"/jobs/job/%256bill/": http.MethodGet, "/jobs/;x=1/kill;y": http.MethodHead, "/jobs/": http.MethodPost, "/jobs/job/kill": http.MethodPost, "/api/v1/": http.MethodDelete,
	} {
		if got := bob.send(method, ofBob+path, own...); got.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s without the right: %d %q", method, path, got.StatusCode, got.body)
		}
		if got := ann.send(method, ofAnn+path, own...); got.StatusCode != http.StatusOK {
			t.Errorf("%s %s with the right: %d %q", method, path, got.StatusCode, got.body)
		}
		for _, site := range []string{"same-site", "cross-site", "none"} {
			if got := ann.send(method, ofAnn+path, "Sec-Fetch-Site", site); got.StatusCode != http.StatusForbidden {
				t.Errorf("%s %s from %s: %d %q", method, path, site, got.StatusCode, got.body)
			}
		}
		if got := ann.send(method, ofAnn+path); got.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s from nowhere: %d", method, path, got.StatusCode)
		}
	}
	if got := bob.send(http.MethodGet, ofBob+"/jobs/"); got.StatusCode != http.StatusOK {
		t.Errorf("a page: %d", got.StatusCode)
	}
}

func TestLinksThatKillAreRefusedWhileActionsAreOff(t *testing.T) {
	e := newEnv(t)
	ann := e.browser("ann")
	visit := ann.visit(etl)
	for _, e.onlyReads = range []bool{true, false} {
		for path, method := range map[string]string{"/jobs/job/kill/?id=1": http.MethodGet, "/stages/stage/%6bill/": http.MethodGet, "/jobs/": http.MethodPost} {
			got := ann.send(method, visit+path, "Sec-Fetch-Site", "same-origin")
			if refused := got.StatusCode == http.StatusForbidden && strings.Contains(got.body, "actions: allowed") && strings.Contains(got.body, "--actions"); refused != e.onlyReads {
				t.Errorf("%s %s, while actions are off (%t): %d %q", method, path, e.onlyReads, got.StatusCode, got.body)
			}
		}
		if got := ann.send(http.MethodGet, visit+"/jobs/"); got.StatusCode != http.StatusOK {
			t.Errorf("a page: %d", got.StatusCode)
		}
	}
}

func TestLinkSaysWhyThereIsNoUI(t *testing.T) {
	for name, c := range map[string]struct {
		user   string
		change func(*env)
		want   string
	}{
		"not allowed":        {"eve", func(*env) {}, "or you may not read it"},
		"no application":     {"ann", func(e *env) { delete(e.drivers, etl) }, "or you may not read it"},
		"no address":         {"ann", func(e *env) { e.address = "" }, "spark-uis"},
		"the driver is gone": {"ann", func(e *env) { e.drivers[etl].Runs, e.drivers[etl].State = false, "Failed" }, "does not run (Failed)"},
		"host network":       {"ann", func(e *env) { e.drivers[etl].HostNetwork = true }, "the node's network"},
		"its own path":       {"ann", func(e *env) { e.drivers[etl].ProxyBase = "/mine" }, `spark.ui.proxyBase "/mine"`},
		"no IP":              {"ann", func(e *env) { e.drivers[etl].IP = "" }, "no address yet"},
		"loopback":           {"ann", func(e *env) { e.drivers[etl].IP = "127.0.0.1" }, "no address yet"},
		"mapped loopback":    {"ann", func(e *env) { e.drivers[etl].IP = "::ffff:127.0.0.1" }, "no address yet"},
		"metadata service":   {"ann", func(e *env) { e.drivers[etl].IP = "169.254.169.254" }, "no address yet"},
		"no port":            {"ann", func(e *env) { e.drivers[etl].Port = 70000 }, "no address yet"},
	} {
		e := newEnv(t)
		c.change(e)
		if got := e.browser(c.user).ticket(etl); got.StatusCode != http.StatusNotFound || !strings.Contains(got.body, c.want) {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
}

func TestEachApplicationHasAHostOfItsOwn(t *testing.T) {
	e := newEnv(t)
	e.address = "http://*.ui.example:1234"
	ann := e.browser("ann")
	hosts := map[string]bool{}
	for _, ref := range []sparkui.Ref{etl, other} {
		link := mustParse(t, ann.ticket(ref).Header.Get("Location"))
		hosts[link.Host] = true
		if !strings.HasSuffix(link.Host, ".ui.example:1234") || strings.Contains(link.Host, "*") {
			t.Errorf("the host is %s", link.Host)
		}
		direct := e.uis.URL + link.RequestURI()
		if got := ann.send(http.MethodGet, direct); got.StatusCode != http.StatusForbidden {
			t.Errorf("another host: %d", got.StatusCode)
		}
		direct = e.uis.URL + mustParse(t, ann.ticket(ref).Header.Get("Location")).RequestURI()
		opened := ann.send(http.MethodGet, direct, "Host", link.Host)
		if opened.StatusCode != http.StatusSeeOther {
			t.Fatalf("its host: %d %s", opened.StatusCode, opened.body)
		}
		cookie := opened.Cookies()[0]
		visit := e.uis.URL + opened.Header.Get("Location")
		fresh := e.browser("ann")
		if got := fresh.send(http.MethodGet, visit, "Host", link.Host, "Cookie", cookie.Name+"="+cookie.Value); got.StatusCode != http.StatusOK {
			t.Errorf("the visit: %d %s", got.StatusCode, got.body)
		}
		if got := fresh.send(http.MethodGet, visit, "Host", "ui-0.ui.example:1234", "Cookie", cookie.Name+"="+cookie.Value); got.StatusCode != http.StatusForbidden {
			t.Errorf("the visit at another host: %d", got.StatusCode)
		}
	}
	if len(hosts) != 2 {
		t.Errorf("the hosts are %v", hosts)
	}
}

func TestCookieOfAVisitIsOfItsPathAndOfHTTPS(t *testing.T) {
	e := newEnv(t)
	e.address = "https://*.ui.example"
	ann := e.browser("ann")
	link := mustParse(t, ann.ticket(etl).Header.Get("Location"))
	opened := ann.send(http.MethodGet, e.uis.URL+link.RequestURI(), "Host", link.Host)
	cookie := opened.Cookies()[0]
	if !cookie.Secure || !cookie.HttpOnly || cookie.Path+"/" != opened.Header.Get("Location") || !strings.HasPrefix(cookie.Name, "__Secure-spark-ui-") || cookie.Domain != "" ||
		strings.Contains(cookie.Value, "ann") || cookie.SameSite != http.SameSiteLaxMode {
		t.Errorf("the cookie is %v", cookie)
	}
}

// answerRaw makes drivers answer with bytes that are no valid HTTP, or less of it.
func (e *env) answerRaw(raw string) {
	e.serve = func(w http.ResponseWriter, _ *http.Request) {
		connection, buffer, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = buffer.WriteString(raw)
		_ = buffer.Flush()
		_ = connection.Close()
	}
}

func TestHostileAnswersEndWithTheirRequest(t *testing.T) {
	e := newEnv(t)
	ann := e.browser("ann")
	visit := ann.visit(etl)
	for name, c := range map[string]struct {
		raw    string
		status int
	}{
		"another protocol":     {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", http.StatusBadGateway},
		"a header of 1 MiB":    {"HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("a", 1<<20) + "\r\n\r\n", http.StatusBadGateway},
		"no HTTP":              {"SSH-2.0-OpenSSH_9.2\r\n", http.StatusBadGateway},
		"nothing":              {"", http.StatusBadGateway},
		"two lengths":          {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", http.StatusBadGateway},
		"a header in a header": {"HTTP/1.1 200 OK\r\nETag: a\rSet-Cookie: b=c\r\nContent-Length: 0\r\n\r\n", http.StatusOK},
		"less than it says":    {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", http.StatusOK},
		"a second answer":      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\n\r\n", http.StatusOK},
	} {
		e.answerRaw(c.raw)
		got := ann.send(http.MethodGet, visit+"/")
		if got.StatusCode != c.status && got.StatusCode != http.StatusBadGateway || len(got.Cookies()) > 0 || len(got.body) > 1<<10 {
			t.Errorf("%s: %d %.200q, %v", name, got.StatusCode, got.body, got.Header)
		}
	}
	e.serve = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "well") }
	if got := ann.send(http.MethodGet, visit+"/"); got.body != "well" {
		t.Errorf("the next request: %d %q", got.StatusCode, got.body)
	}
}

func TestRequestsUnderWayAreBounded(t *testing.T) {
	e := newEnv(t)
	ann := e.browser("ann")
	visit := ann.visit(etl)
	begun, end := make(chan struct{}, 64), make(chan struct{})
	e.serve = func(w http.ResponseWriter, _ *http.Request) {
		begun <- struct{}{}
		<-end
		fmt.Fprint(w, "done")
	}
	const most = 32
	var group sync.WaitGroup
	for range most {
		group.Go(func() {
			if got := ann.send(http.MethodGet, visit+"/slow"); got.body != "done" {
				t.Errorf("got %d %q", got.StatusCode, got.body)
			}
		})
	}
	for range most {
		<-begun
	}
	if got := ann.send(http.MethodGet, visit+"/more"); got.StatusCode != http.StatusTooManyRequests {
		t.Errorf("one more: %d", got.StatusCode)
	}
	close(end)
	group.Wait()
	if got := ann.send(http.MethodGet, visit+"/after"); got.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %d", got.StatusCode)
	}
}

func TestLongAnswerIsSentWhileItIsMade(t *testing.T) {
	e := newEnv(t)
	ann := e.browser("ann")
	visit := ann.visit(etl)
	more := make(chan struct{})
	e.serve = func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-more
		fmt.Fprintln(w, "second")
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, visit+"/logs", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := ann.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewReader(response.Body)
	for i, want := range []string{"first\n", "second\n"} {
		if got, err := lines.ReadString('\n'); err != nil || got != want {
			t.Errorf("line %d: %q, %v", i, got, err)
		}
		if i == 0 {
			close(more)
		}
	}
}

func TestOriginOfTheUIsHasNothingElse(t *testing.T) {
	e := newEnv(t)
	for _, path := range []string{"/", "/sign-in", "/applications", "/ui/", "/ui/x", "/api/firesteel/v1/namespaces", "/" + strings.Repeat("a", 5000)} {
		got := e.browser("ann").send(http.MethodGet, e.uis.URL+path, "Authorization", "Bearer ann")
		if got.StatusCode < http.StatusBadRequest || !strings.Contains(strings.Join(got.Header.Values("Content-Security-Policy"), ";"), "default-src 'none'") {
			t.Errorf("%.20s: %d %q", path, got.StatusCode, got.body)
		}
	}
}
