package sparkui_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/console/sparkui"
)

const historyServer = "http://history.firesteel-system"

// past lets the driver of etl be gone, and a History Server have the event log of its second attempt.
func (e *env) past() *env {
	e.server, e.namespace = historyServer, "ns-a"
	e.drivers[etl].Runs, e.drivers[etl].State = false, "Failed"
	e.histories = map[sparkui.Ref]*sparkui.History{etl: {UID: "uid-1", Namespace: "ns-a", IDs: []string{"team-a-absent", "team-a-etl"}}}
	e.serve = func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/v1/applications/") && !strings.HasPrefix(r.URL.Path, "/api/v1/applications/team-a-etl") {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, "%s %s", r.Method, r.URL.RequestURI())
	}
	return e
}

func TestLinkLeadsToTheHistoryServerWhenTheDriverIsGone(t *testing.T) {
	e := newEnv(t)
	ann := e.browser("ann")
	live := ann.visit(etl)
	e.past()
	if got := ann.send(http.MethodGet, live+"/jobs/"); got.StatusCode != http.StatusGone || !strings.Contains(got.body, "Open it again") {
		t.Errorf("a visit of the driver that is gone: %d %s", got.StatusCode, got.body)
	}
	visit := ann.visit(etl)
	prefix := mustParse(t, visit).Path
	if got := ann.send(http.MethodGet, visit+"/"); got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != prefix+"/history/team-a-etl/jobs/" {
		t.Errorf("the visit begins with %d %s", got.StatusCode, got.Header.Get("Location"))
	}
	for _, path := range []string{
		"/history/team-a-etl", "/history/team-a-etl/jobs/", "/history/team-a-etl/stages/stage/?id=1&attempt=0", "/api/v1/applications/team-a-etl", "/api/v1/applications/team-a-etl/allexecutors",
		"/static/webui.js",
	} {
		if got := ann.send(http.MethodGet, visit+path); got.StatusCode != http.StatusOK || got.body != "GET "+path {
			t.Errorf("%s: %d %q", path, got.StatusCode, got.body)
		}
	}
	delete(e.drivers, etl) // the application is deleted
	if got := ann.send(http.MethodGet, visit+"/history/team-a-etl/jobs/"); got.StatusCode != http.StatusOK {
		t.Errorf("after the application: %d %s", got.StatusCode, got.body)
	}
	if got := ann.send(http.MethodGet, ann.visit(etl)+"/history/team-a-etl/jobs/"); got.StatusCode != http.StatusOK {
		t.Errorf("a new visit after the application: %d %s", got.StatusCode, got.body)
	}
	if !slices.Contains(e.dialed, "history.firesteel-system:80") {
		t.Errorf("the console called %v", e.dialed)
	}
}

func TestVisitReachesNothingElseOfTheHistoryServer(t *testing.T) {
	e := newEnv(t).past()
	ann := e.browser("ann")
	visit := ann.visit(etl)
	for _, path := range []string{
		"/history/team-a-other/jobs/", "/history/team-a-etl2/jobs/", "/history/", "/history", "/api/v1/applications", "/api/v1/applications/", "/api/v1/applications/team-a-other/jobs",
		"/api/v1/version", "/?page=2&showIncomplete=true/../history/x", "/home/", "/history/team-a-etl/../team-a-other/jobs/", "/history/team-a-etl/%2e%2e/team-a-other/",
		"/history/team-a-etl/..%2fteam-a-other/", "/history/team-a-etl;/../team-a-other/", "/history//team-a-other/", "/static/../history/team-a-other/", "/static/%252e%252e/history/x",
		"/history/team-a-etl/./../team-a-other", "/history/team-a-etl/..", "//history/team-a-other/",
	} {
		got := ann.send(http.MethodGet, visit+path)
		if got.StatusCode != http.StatusNotFound && got.StatusCode != http.StatusSeeOther || strings.Contains(got.body, "GET ") {
			t.Errorf("%s: %d %q", path, got.StatusCode, got.body)
		}
	}
	own := []string{"Sec-Fetch-Site", "same-origin"}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		if got := ann.send(method, visit+"/history/team-a-etl/jobs/", own...); got.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, got.StatusCode)
		}
	}
	log := "/api/v1/applications/team-a-etl/logs"
	if got := ann.send(http.MethodGet, visit+log); got.StatusCode != http.StatusForbidden {
		t.Errorf("the event log without the right to logs: %d", got.StatusCode)
	}
	e.rights["ann"] = append(e.rights["ann"], "logs team-a")
	if got := ann.send(http.MethodGet, visit+log); got.StatusCode != http.StatusOK {
		t.Errorf("the event log with the right to logs: %d", got.StatusCode)
	}
	if got := e.browser("eve").send(http.MethodGet, visit+"/history/team-a-etl/jobs/"); got.StatusCode != http.StatusForbidden {
		t.Errorf("another user: %d", got.StatusCode)
	}
	e.namespace = "made-anew"
	if got := ann.send(http.MethodGet, visit+"/history/team-a-etl/jobs/"); got.StatusCode != http.StatusGone {
		t.Errorf("a new namespace of the name: %d", got.StatusCode)
	}
	e.namespace, e.rights["ann"] = "ns-a", []string{"get team-b"}
	if got := ann.send(http.MethodGet, visit+"/history/team-a-etl/jobs/"); got.StatusCode != http.StatusForbidden {
		t.Errorf("without the right: %d", got.StatusCode)
	}
}

func TestRedirectionsOfTheHistoryServerStayInTheVisit(t *testing.T) {
	e := newEnv(t).past()
	ann := e.browser("ann")
	visit := ann.visit(etl)
	prefix := mustParse(t, visit).Path
	var seen http.Header
	for location, want := range map[string]string{
		historyServer + "/history/team-a-etl/jobs/": prefix + "/history/team-a-etl/jobs/", "/history/team-a-etl/jobs/": prefix + "/history/team-a-etl/jobs/",
		"http://history.evil/": "", "https://history.firesteel-system/history/": "", "//evil/": "",
	} {
		e.serve = func(w http.ResponseWriter, r *http.Request) {
			seen = r.Header
			w.Header()["Location"] = []string{location}
			w.WriteHeader(http.StatusFound)
		}
		if got := ann.send(http.MethodGet, visit+"/history/team-a-etl"); got.Header.Get("Location") != want {
			t.Errorf("%s leads to %q, want %q", location, got.Header.Get("Location"), want)
		}
	}
	if seen.Get("X-Forwarded-Context") != prefix || seen.Get("Cookie") != "" {
		t.Errorf("the History Server sees %v", seen)
	}
}

func TestLinkSaysWhyThereIsNoHistory(t *testing.T) {
	for name, c := range map[string]struct {
		user, parameters string
		change           func(*env)
		status           int
		want             string
	}{
		"not allowed":       {"eve", "", func(*env) {}, http.StatusNotFound, "or you may not read it"},
		"no application":    {"ann", "", func(e *env) { delete(e.drivers, etl); e.histories = nil }, http.StatusNotFound, "or you may not read it"},
		"another uid":       {"ann", "?uid=uid-9", func(*env) {}, http.StatusNotFound, "or you may not read it"},
		"no History Server": {"ann", "", func(e *env) { e.server = "" }, http.StatusNotFound, "does not run (Failed): its UI ended with it."},
		"no event log":      {"ann", "", func(e *env) { e.histories[etl].IDs = []string{"team-a-absent"} }, http.StatusNotFound, "no event log"},
		"no server":         {"ann", "", func(e *env) { e.answerRaw("") }, http.StatusBadGateway, "does not answer"},
		"a server that errs": {"ann", "", func(e *env) {
			e.serve = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
		}, http.StatusBadGateway, "does not answer"},
	} {
		e := newEnv(t).past()
		c.change(e)
		b := e.browser(c.user)
		got := b.send(http.MethodGet, b.console.URL+sparkui.Link(etl.Namespace, etl.Resource+"."+etl.Group, etl.Name)+c.parameters, "Authorization", "Bearer "+b.name)
		if got.StatusCode != c.status || !strings.Contains(got.body, c.want) {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
	e := newEnv(t).past()
	e.drivers[etl].Runs = true
	b := e.browser("ann")
	got := b.send(http.MethodGet, b.console.URL+sparkui.Link(etl.Namespace, etl.Resource+"."+etl.Group, etl.Name)+"?attempt=0", "Authorization", "Bearer ann")
	if opened := b.send(http.MethodGet, got.Header.Get("Location")); opened.StatusCode != http.StatusSeeOther {
		t.Fatalf("an earlier attempt of one that runs: %d %s", got.StatusCode, got.body)
	}
}
