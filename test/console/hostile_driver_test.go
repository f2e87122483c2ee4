package console

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// What only the console's pages and the UIs of other applications have.
const markerOfPages, markerOfUIs = "only-pages-have-this", "only-other-uis-have-this"

//go:embed testdata/hostile-driver.html
var hostilePage string

// known is what the hostile page knows: each name and address, and the paths of the user's visits, as if they had leaked.
type known struct {
	Collector string `json:"collector"`
	// Console is the address of the pages, Pages are some of them, and Links the stable links to the UIs of the victims.
	Console string   `json:"console"`
	Pages   []string `json:"pages"`
	Links   []string `json:"links"`
	// Visits are the open UIs of the victims, and Origins their origins. Secrets are what it must not read.
	Visits  []string `json:"visits"`
	Origins []string `json:"origins"`
	Secrets []string `json:"secrets"`
	// Form has the fields of an action and of the form to sign in.
	Form string `json:"form"`
}

// report is what the hostile page could do, and how much it tried.
type report struct {
	Found, Controls []struct{ How, What string }
	Tried           int
}

// hostileHeaders are sent with each answer of the hostile driver.
var hostileHeaders = map[string][]string{
	"Set-Cookie": {
		"firesteel-session=tossed; Path=/", "__Host-firesteel-session=tossed; Path=/; Secure", "firesteel-session=tossed; Domain=example.net; Path=/",
		"__Secure-firesteel-session=tossed; Domain=example.net; Path=/; Secure",
	},
	"Service-Worker-Allowed": {"/"}, "Clear-Site-Data": {`"*"`}, "Access-Control-Allow-Origin": {"*"}, "Cross-Origin-Opener-Policy": {"unsafe-none"},
	"Cross-Origin-Resource-Policy": {"cross-origin"}, "X-Frame-Options": {"ALLOWALL"}, "Referrer-Policy": {"unsafe-url"}, "Origin-Agent-Cluster": {"?0"},
	"Content-Security-Policy": {"worker-src *; frame-ancestors *; form-action *"}, "Cache-Control": {"public, max-age=31536000"},
}

// victim is the page of a driver that tells its secret to everyone who can ask.
const victim = `<!doctype html><title>victim</title><h1>` + markerOfUIs + `</h1><script>
localStorage.setItem("` + markerOfUIs + `", "` + markerOfUIs + `");
document.cookie = "spark=` + markerOfUIs + `; Path=/";
new BroadcastChannel("spark").onmessage = function (event) { if (event.data === "tell me") this.postMessage("` + markerOfUIs + `") };
onmessage = (event) => event.source.postMessage("` + markerOfUIs + `", "*");
if (window.opener) opener.postMessage("` + markerOfUIs + `", "*");
</script>`

// hostility is a console with a hostile driver and two victims: another application of its namespace, and one of another namespace.
type hostility struct {
	*wholeConsole
	known   known
	reports chan report
}

// newHostility serves it. The reports of the hostile page arrive at a server that is no part of it.
func newHostility(t *testing.T, at place) *hostility {
	h := &hostility{reports: make(chan report, 8)}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var got report
		text, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil {
			t.Errorf("the hostile page sends %q: %v", text, err)
		}
		h.reports <- got
	}))
	t.Cleanup(collector.Close)
	h.known.Collector = collector.URL
	ofVictim := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, victim) // the client has left
	})
	h.wholeConsole = newWholeConsole(t, at, map[string]http.Handler{"team-a/hostile": http.HandlerFunc(h.attack), "team-a/neighbour": ofVictim, "team-b/stranger": ofVictim})
	return h
}

// attack answers for the hostile driver.
func (h *hostility) attack(w http.ResponseWriter, r *http.Request) {
	for name, values := range hostileHeaders {
		w.Header()[name] = values
	}
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, ".js"):
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, "onfetch = (event) => {}")
	case strings.HasPrefix(path, "/to/"):
		to, _ := url.PathUnescape(strings.TrimPrefix(r.URL.RawQuery, "to="))
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	default:
		encoded, err := json.Marshal(h.known)
		if err != nil {
			h.Error(err)
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, strings.Replace(hostilePage, "KNOWN", string(encoded), 1))
	}
}

// report returns what the hostile page could do. It fails if the page has not tried what it should.
// It tries less if it comes again.
func (h *hostility) report(b *tab, least int, controls ...string) []string {
	h.Helper()
	var got report
	select {
	case got = <-h.reports:
	case <-time.After(patience / 2):
		h.Fatalf("the hostile page sends no report: it waits for %s", evaluate[string](b, `[...pending].join()`))
	}
	if got.Tried < least || len(got.Controls) != len(controls) {
		h.Errorf("the page has tried %d ways, and its controls are %v", got.Tried, got.Controls)
	}
	for _, control := range got.Controls {
		if !slices.Contains(controls, control.How) {
			h.Errorf("the control %s has found %s", control.How, control.What)
		}
	}
	var found []string
	for _, one := range got.Found {
		found = append(found, one.How+": "+one.What)
	}
	h.Logf("the page has tried %d ways", got.Tried)
	return found
}

// controls are what the hostile page may do, in the same ways: read its own pages, in its own frame and its own window.
var controls = []string{"fetch", "xhr", "script", "frame", "window", "storage"}

// visit opens the UI of an application, and returns its address without a slash at its end.
func (h *hostility) visit(b *tab, name, want string) string {
	h.Helper()
	b.navigate(chromedp.Navigate(h.link(h.drivers[name])))
	b.until(`location.pathname.startsWith("/ui/") && document.title === "` + want + `"`)
	return strings.TrimSuffix(evaluate[string](b, "location.href"), "/")
}

func TestHostileDriverReachesNothing(t *testing.T) {
	for name, at := range map[string]place{
		// The UIs share a domain with the console, which is what an admin is advised against.
		"in the cluster": {host: "console.example.net", uiHosts: "*.spark-ui.example.net", secure: true},
		"on the machine": {host: "127.0.0.1", uiHosts: "*.localhost", prefix: "/kzxw3dn2"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHostility(t, at)
			overview, all := h.signIn("ann")
			neighbour, stranger, hostile := newTabOf(all, t, patience), newTabOf(all, t, patience), newTabOf(all, t, patience)
			h.known.Visits = []string{h.visit(neighbour, "neighbour", "victim"), h.visit(stranger, "stranger", "victim")}
			for _, visit := range h.known.Visits {
				address, err := url.Parse(visit)
				if err != nil {
					t.Fatal(err)
				}
				h.known.Origins = append(h.known.Origins, address.Scheme+"://"+address.Host)
			}
			h.known.Console, h.known.Secrets = h.address, []string{markerOfPages, markerOfUIs}
			for _, d := range []*driver{h.drivers["neighbour"], h.drivers["stranger"]} {
				h.known.Pages = append(h.known.Pages, h.page(d), h.page(d)+"?tab=yaml", h.page(d)+"?action=delete")
				h.known.Links = append(h.known.Links, h.link(d))
			}
			h.known.Pages = append(h.known.Pages, h.address+"/", h.address+"/applications?format=csv", h.address+"/stream?cursor=0", h.address+"/api/firesteel/v1/namespaces",
				h.address+"/api/v1/applications")
			h.known.Form = url.Values{
				"namespace": {"team-b"}, "resource": {"sparkapplications.spark.apache.org"}, "name": {"stranger"}, "uid": {"uid-of-stranger"}, "csrf": {"guessed"}, "token": {tokenOf + "eve"},
			}.Encode()
			before := len(h.ofAPIServer.list())
			// The other UIs were in the same tab before, and are again when the user goes back.
			h.visit(hostile, "stranger", "victim")
			h.visit(hostile, "hostile", "hostile")
			for _, could := range h.report(hostile, 200, controls...) {
				t.Errorf("the hostile page could %s", could)
			}
			h.visit(hostile, "neighbour", "victim")
			hostile.run(chromedp.NavigateBack())
			hostile.navigate(chromedp.Reload()) // the network may have changed
			for _, could := range h.report(hostile, 10, "storage") {
				t.Errorf("after the user has gone back, the hostile page could %s", could)
			}
			if requests := h.ofAPIServer.list(); len(requests) != before {
				t.Errorf("the API server got %d requests from the hostile page, such as %s %s", len(requests)-before, requests[before].Method, requests[before].URL)
			}
			h.checkArrived()
			h.checkUnharmed(overview, neighbour, stranger)
		})
	}
}

// checkArrived checks what the console and the victims got of the hostile page: what a link does, and nothing else.
func (h *hostility) checkArrived() {
	h.Helper()
	foreign := 0
	for _, r := range h.ofPages.list() {
		if site := r.Header.Get("Sec-Fetch-Site"); site == "none" || site == "same-origin" {
			continue
		}
		foreign++
		isLink := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
		refused := r.status >= http.StatusBadRequest || r.status == http.StatusSeeOther && strings.HasPrefix(r.location, h.pathOf("/sign-in")) ||
			r.Method == http.MethodGet && r.URL.Path == h.pathOf("/sign-in") // it is the form for all
		if !isLink && !refused {
			h.Errorf("the console answers %s %s (%s, %s) with %d %s", r.Method, r.URL, r.Header.Get("Sec-Fetch-Mode"), r.Header.Get("Sec-Fetch-Dest"), r.status, r.location)
		}
	}
	if foreign == 0 {
		h.Error("no request of the hostile page arrived at the console")
	}
	for _, name := range []string{"neighbour", "stranger"} {
		for _, r := range h.drivers[name].arrived.list() {
			if how := r.URL.Query().Get("how"); r.Method != http.MethodGet || strings.Contains(r.URL.Path, "kill") || how != "" && how != "window" {
				h.Errorf("the driver of %s got %s %s", name, r.Method, r.URL)
			}
		}
	}
}

// checkUnharmed checks that the user's sessions and what the browser has of the victims are as before, and that the user can act.
func (h *hostility) checkUnharmed(overview, neighbour, stranger *tab) {
	h.Helper()
	for _, b := range []*tab{neighbour, stranger} {
		b.navigate(chromedp.Reload())
		b.until(fmt.Sprintf(`document.title === "victim" && localStorage.length === 1 && document.cookie.includes("spark=%s")`, markerOfUIs))
	}
	overview.open(h.page(h.drivers["stranger"]) + "?action=delete")
	overview.until(`document.querySelector("[aria-label='Signed in as ann']") !== null`)
	overview.run(chromedp.Click("#offer button[type=submit]"))
	overview.until(`location.search === "?did=delete"`)
	requests := h.ofAPIServer.list()
	if last := requests[len(requests)-1]; last.Method != http.MethodDelete || last.Header.Get("Authorization") != "Bearer "+tokenOf+"ann" {
		h.Errorf("the last request to the API server is %s %s of %s", last.Method, last.URL, last.Header.Get("Authorization"))
	}
}
