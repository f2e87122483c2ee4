package console

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/pkg/console/site"
	"github.com/firesteel-dev/firesteel/pkg/console/sparkui"
	"github.com/firesteel-dev/firesteel/pkg/console/visible"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/test/harness/consolepages"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// patience is how long a test of the whole console may take.
const patience = 6 * time.Minute

// wholeConsole is the console as users reach it: its sessions, its two origins, and an API server and drivers that are stand-ins.
type wholeConsole struct {
	*testing.T
	// address is that of the pages, and origins that of the UIs of drivers.
	address, origins string
	// drivers are the applications, by name. All drivers run.
	drivers map[string]*driver
	// ofAPIServer and ofPages are the requests that arrived there.
	ofAPIServer, ofPages requests
}

// driver is an application and the stand-in of its driver.
type driver struct {
	sparkui.Ref
	uid    types.UID
	server *httptest.Server
	// arrived are the requests that the driver got.
	arrived requests
}

// link returns the address of the stable link to the UI of an application.
func (w *wholeConsole) link(d *driver) string {
	return w.address + sparkui.Link(d.Namespace, d.Resource+"."+d.Group, d.Name)
}

// page returns the address of the page of an application.
func (w *wholeConsole) page(d *driver) string {
	return w.address + "/applications/" + d.Namespace + "/" + d.Resource + "." + d.Group + "/" + d.Name
}

// request is a request and its answer.
type request struct {
	*http.Request
	status   int
	location string
}

// requests are those that arrived at a server.
type requests struct {
	mutex sync.Mutex
	all   []request
}

func (r *requests) list() []request {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]request(nil), r.all...)
}

// noting notes the requests to a handler.
func (r *requests) noting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, incoming *http.Request) {
		answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		asked := incoming.Clone(context.Background())
		next.ServeHTTP(answer, incoming)
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.all = append(r.all, request{asked, answer.status, w.Header().Get("Location")})
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets streams flush.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// place is where a console is served.
type place struct {
	// host is that of the pages, and uiHosts those of the UIs of drivers.
	host, uiHosts string
	// prefix is the path of the pages.
	prefix string
	secure bool
}

// newWholeConsole serves a console with the drivers of applications, by their names. Each is namespace/name.
func newWholeConsole(t *testing.T, at place, drivers map[string]http.Handler) *wholeConsole {
	t.Helper()
	w := &wholeConsole{T: t, drivers: map[string]*driver{}}
	sample := &consolepages.Sample{}
	for named, handler := range drivers {
		namespace, name, _ := strings.Cut(named, "/")
		d := &driver{Ref: sparkui.Ref{Namespace: namespace, Resource: "sparkapplications", Group: "spark.apache.org", Name: name}, uid: types.UID("uid-of-" + name)}
		d.server = httptest.NewServer(d.arrived.noting(handler))
		t.Cleanup(d.server.Close)
		w.drivers[name] = d
		sample.Rows = append(sample.Rows, &live.Row{
			Ref: live.Ref{Namespace: namespace, Resource: "sparkapplications.spark.apache.org", Name: name}, APIVersion: "spark.apache.org/v1", Kind: "SparkApplication",
			Noun: overview.Application, UID: d.uid, State: "RunningHealthy", Outcome: overview.Running, Sentence: markerOfPages, ResourceVersion: "1",
			Created: consolepages.Now, Since: consolepages.Now,
		})
	}
	apiServer := httptest.NewServer(w.ofAPIServer.noting(http.HandlerFunc(w.answer)))
	t.Cleanup(apiServer.Close)
	serve := func(handler func() http.Handler) (start func(), port string) {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler().ServeHTTP(w, r) }))
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // connections that the browser has ended
		t.Cleanup(func() {
			server.CloseClientConnections() // streams do not end by themselves
			server.Close()
		})
		_, port, _ = net.SplitHostPort(server.Listener.Addr().String())
		if at.secure {
			return server.StartTLS, port
		}
		return server.Start, port
	}
	var ofPages, ofUIs http.Handler
	startPages, port := serve(func() http.Handler { return ofPages })
	startUIs, uiPort := serve(func() http.Handler { return ofUIs })
	scheme := "http"
	if at.secure {
		scheme = "https"
	}
	w.address, w.origins = scheme+"://"+net.JoinHostPort(at.host, port)+at.prefix, scheme+"://"+net.JoinHostPort(at.uiHosts, uiPort)
	key, _, err := session.LoadKey("")
	if err != nil {
		t.Fatal(err)
	}
	address := func() string { return w.address }
	pages := site.New(site.Options{
		Source: sample, Views: visible.New(noGroups{}, clock.RealClock{}), Clients: clients{apiServer.URL}, Address: address, Actions: func() bool { return true }, Drivers: w,
		SparkUIs: func() string { return w.origins }, HistoryServer: func() string { return "" }, Archived: func() bool { return false }, Forward: w.forward,
		Clock: clock.RealClock{}, Logger: zap.NewNop().Sugar(),
	})
	sessions := session.New(session.Options{Key: key, Users: users{}, Pages: pages, Clock: clock.RealClock{}, Address: address})
	handler, uis := pages.Handlers(sessions, console.NewHandler(sessions, noArchives{}, zap.NewNop().Sugar()))
	ofPages, ofUIs = w.ofPages.noting(handler), uis
	startPages()
	startUIs()
	return w
}

// Driver returns the driver of an application. It is a sparkui.Drivers.
func (w *wholeConsole) Driver(ref sparkui.Ref) (*sparkui.Driver, bool) {
	d, ok := w.drivers[ref.Name]
	if !ok || d.Ref != ref {
		return nil, false
	}
	return &sparkui.Driver{UID: d.uid, Runs: true, State: "RunningHealthy", Pod: ref.Name, Port: 4040}, true
}

// forward connects to a driver. It is a sparkui.Forward.
func (w *wholeConsole) forward(ctx context.Context, _, pod string, _ int) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", w.drivers[pod].server.Listener.Addr().String())
}

// answer answers for the API server: each object is there, and each write is done.
func (w *wholeConsole) answer(out http.ResponseWriter, r *http.Request) {
	out.Header().Set("Content-Type", "application/json")
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	d, ok := w.drivers[name]
	if !ok {
		http.NotFound(out, r)
		return
	}
	_, _ = io.WriteString(out, `{"apiVersion": "spark.apache.org/v1", "kind": "SparkApplication", "metadata": {"namespace": `+strconv.Quote(d.Namespace)+`, "name": `+
		strconv.Quote(name)+`, "uid": `+strconv.Quote(string(d.uid))+`, "resourceVersion": "1"}, "spec": {"mainClass": `+strconv.Quote(markerOfPages)+`}}`) // the client has left
}

// clients make requests to the API server. It is a site.Clients.
type clients struct{ host string }

func (c clients) Config(s *session.Session) *rest.Config {
	return &rest.Config{Host: c.host, BearerToken: s.Token}
}

func (c clients) Of(s *session.Session) (dynamic.Interface, error) {
	return dynamic.NewForConfig(c.Config(s))
}

// noArchives means that nothing is archived. It is a console.Archives.
type noArchives struct{}

func (noArchives) Of(context.Context, string) (*archive.Archive, error) { return nil, nil }

func (noArchives) Namespaces(context.Context) ([]string, error) { return nil, nil }

// noGroups means that there is nothing of which a user sees a part. It is a visible.Groups.
type noGroups struct{}

func (noGroups) Groups() ([]live.Group, uint64) { return nil, 1 }

func (noGroups) GroupsVersion() uint64 { return 1 }

// users are those whose tokens begin with token-of-. They may do everything. It is a session.Users.
type users struct{}

const tokenOf = "token-of-"

func (users) Reader(_ context.Context, token string) (console.Reader, error) {
	name, ok := strings.CutPrefix(token, tokenOf)
	if !ok {
		return nil, access.ErrUnauthenticated
	}
	return reader(name), nil
}

type reader string

func (r reader) Name() string { return string(r) }

func (r reader) Key() string { return string(r) }

func (reader) Check(context.Context, access.Right) error { return nil }

func (reader) Ask(context.Context, access.Right) error { return nil }

func (reader) Namespace(context.Context, string) (archive.Namespace, error) {
	return archive.Namespace{}, console.ErrNoNamespace
}

// signIn signs a user in by the form, in a browser of their own. It reaches hosts of example.net, whose certificate no authority has signed.
func (w *wholeConsole) signIn(user string) (b *tab, all context.Context) {
	w.Helper()
	ctx, stop := context.WithCancel(context.Background())
	w.Cleanup(stop)
	all, err := start(ctx, chromedp.Flag("host-resolver-rules", "MAP *.example.net 127.0.0.1"), chromedp.IgnoreCertErrors)
	if err != nil {
		w.Fatalf("start Chromium: %v", err)
	}
	b = newTabOf(all, w.T, patience)
	b.open(w.address + "/sign-in")
	b.run(chromedp.SendKeys("[name=token]", tokenOf+user), chromedp.Click("form button[type=submit]"))
	b.until(`location.pathname === ` + strconv.Quote(w.pathOf("/")) + ` && document.readyState === "complete"`)
	return b, all
}

// pathOf returns a path with the prefix of the pages.
func (w *wholeConsole) pathOf(path string) string {
	address, err := url.Parse(w.address)
	if err != nil {
		w.Fatal(err)
	}
	return address.Path + path
}
