package integration

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	eventlogs "github.com/firesteel-dev/firesteel/pkg/history"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/harness/localhost"
)

// browser is a client with cookies.
type browser struct {
	*env
	address *url.URL
	client  *http.Client
}

// signIn signs a service account in by the form.
func (s *env) signIn(address *url.URL, account string) *browser {
	s.Helper()
	token, err := s.Token(s.Context(), s.ns, account)
	s.must(err)
	jar, err := cookiejar.New(nil)
	s.must(err)
	b := &browser{s, address, &http.Client{Transport: localhost.Transport(), Jar: jar}}
	request, err := http.NewRequestWithContext(s.Context(), http.MethodPost, address.String()+"/sign-in", strings.NewReader(url.Values{"token": {token}, "next": {"/schedules"}}.Encode()))
	s.must(err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", address.String())
	response, err := b.client.Do(request)
	s.must(err)
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK || response.Request.URL.Path != "/schedules" {
		s.Fatalf("the sign-in ended at %s with %s", response.Request.URL, response.Status)
	}
	return b
}

// show passes the answer to a request for a page on.
func (b *browser) show(path string, pass func(*http.Response)) {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.address.String()+path, nil)
	b.must(err)
	response, err := b.client.Do(request)
	b.must(err)
	defer func() { _ = response.Body.Close() }()
	pass(response)
}

// page returns the status and the text of a page.
func (b *browser) page(path string) (status int, text string) {
	b.Helper()
	b.show(path, func(response *http.Response) {
		content, err := io.ReadAll(response.Body)
		b.must(err)
		status, text = response.StatusCode, string(content)
	})
	return status, text
}

var streamOf = regexp.MustCompile(`data-hx-sse:connect="([^"]+)"`)

// planned lets the viewer read what an attempt consists of.
const planned = `
apiVersion: v1
kind: List
items:
- apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata: {name: planned}
  rules:
  - {apiGroups: [""], resources: [pods, services, configmaps], verbs: [get]}
  - {apiGroups: [networking.k8s.io], resources: [networkpolicies], verbs: [get]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: planned}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: planned}
  subjects: [{kind: ServiceAccount, name: viewer}]
`

func TestConsolePagesShowWhatTheUserMaySee(t *testing.T) {
	t.Parallel()
	s, other := newEnv(t).sharesController(), newEnv(t)
	for _, e := range []*env{s, other} {
		_, err := e.kubectl(readers, "create", "-f", "-")
		e.must(err)
	}
	stored, _ := s.archiveOf(archive.Namespace{Name: s.ns, UID: "1"})
	address := s.serveConsole(stored)
	nobody := &browser{s, address, http.DefaultClient}
	for _, path := range []string{"/", "/applications", "/stream?cursor=0"} {
		nobody.show(path, func(response *http.Response) {
			if response.Request.URL.Path != "/sign-in" {
				t.Errorf("%s without a session leads to %s", path, response.Request.URL)
			}
		})
	}
	mine, theirs := s.signIn(address, "viewer"), other.signIn(address, "viewer")
	_, overview := mine.page("/")
	stream := streamOf.FindStringSubmatch(overview)
	if stream == nil {
		t.Fatal("the overview has no stream")
	}
	mine.show(strings.ReplaceAll(stream[1], "&amp;", "&"), func(response *http.Response) {
		s.create(App("etl"))
		s.run("etl", 0)
		lines := bufio.NewScanner(response.Body)
		for lines.Scan() && lines.Text() != "event: changed" {
		}
	})
	s.untilState("etl", string(lifecycle.RunningHealthy))
	path := "/applications/" + s.ns + "/sparkapplications.spark.apache.org/etl"
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		status, text := mine.page(path)
		return status == http.StatusOK && strings.Contains(text, string(lifecycle.RunningHealthy)), nil
	}))
	if status, text := mine.page(path + "?tab=yaml"); status != http.StatusOK || !strings.Contains(text, "kind: SparkApplication") {
		t.Errorf("%d: the YAML is %.2000s", status, text)
	}
	if status, text := mine.page(path + "?tab=plan"); status != http.StatusOK || !strings.Contains(text, "You may not read the Pods") || strings.Contains(text, "pod/etl-0-driver") {
		t.Errorf("%d: without rights the plan is %s", status, text)
	}
	_, err := s.kubectl(planned, "create", "-f", "-")
	s.must(err)
	s.untilRightsAreKnown()
	if status, text := mine.page(path + "?tab=plan"); status != http.StatusOK || !strings.Contains(text, "What runs is what the application and the settings make now.") {
		t.Errorf("%d: the plan is %s", status, text)
	}
	if _, text := mine.page("/applications"); !strings.Contains(text, ">etl</a>") {
		t.Error("the list does not have the application")
	}
	for _, hidden := range []string{path, path + "?tab=yaml", path + "?tab=plan", path + "/log?pod=etl-0-driver", path + "x"} {
		if status, text := theirs.page(hidden); status != http.StatusNotFound || strings.Contains(text, string(lifecycle.RunningHealthy)) {
			t.Errorf("%s: another user gets %d", hidden, status)
		}
	}
	for _, shared := range []string{"/", "/applications", "/applications?namespace=" + s.ns, "/applications?format=csv"} {
		if _, text := theirs.page(shared); strings.Contains(text, ">etl<") || strings.Contains(text, "/etl") || strings.Contains(text, ",etl,") {
			t.Errorf("%s names another's application", shared)
		}
	}
}

func TestConsolePagesShowWhatTheArchiveHas(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	_, err := s.kubectl(readers, "create", "-f", "-")
	s.must(err)
	stored, _ := s.archiveOf(s.namespace())
	address := s.serveConsole(stored)
	gone := "/applications/" + s.ns + "/sparkapplications.spark.apache.org/etl"
	file := gone + "/log?from=archive&uid=uid-1&attempt=0&log=etl-driver/p1/spark-kubernetes-driver/0"
	for account, want := range map[string]struct{ page, log bool }{"tenant": {true, true}, "viewer": {true, false}, "nobody": {}} {
		b := s.signIn(address, account)
		status, page := b.page(gone)
		if (status == http.StatusOK) != want.page || strings.Contains(page, "The object is gone") != want.page {
			t.Errorf("%s: the page is %d %.2000s", account, status, page)
		}
		if _, yaml := b.page(gone + "?tab=yaml"); strings.Contains(yaml, "org.example.Etl") != want.page {
			t.Errorf("%s: the YAML is %.2000s", account, yaml)
		}
		_, log := b.page(gone + "?tab=logs")
		if strings.Contains(log, ">text</pre>") != want.log || want.page && !want.log && !strings.Contains(log, "that needs get of pods/log") {
			t.Errorf("%s: the log is %.4000s", account, log)
		}
		status, text := b.page(file)
		if (status == http.StatusOK) != want.log || (text == "text\n") != want.log {
			t.Errorf("%s: the file is %d %.2000s", account, status, text)
		}
		if _, list := b.page("/archive?namespace=" + s.ns); strings.Contains(list, ">etl</a>") != want.page {
			t.Errorf("%s: the list is %.2000s", account, list)
		}
		if _, list := b.page("/archive?namespace=kube-system"); !strings.Contains(list, "you may not read it") {
			t.Errorf("%s: another namespace's list is %.2000s", account, list)
		}
	}
}

func TestConsoleLeadsToTheHistoryServerWhenTheApplicationIsGone(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	_, err := s.kubectl(readers, "create", "-f", "-")
	s.must(err)
	namespace := s.namespace()
	stored, _ := s.archiveOf(namespace)
	app := archive.ID{Namespace: namespace, Resource: "sparkapplications.spark.apache.org", Name: "etl", UID: "uid-1"}
	id := eventlogs.SentID(archive.EventLog{ID: app, Attempt: 0})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/"+id) {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, "page "+r.URL.Path) // the client has left
	}))
	t.Cleanup(server.Close)
	address, uis := s.serveConsoleAnd(stored, server.URL)
	link := "/spark-ui/" + s.ns + "/sparkapplications.spark.apache.org/etl"
	viewer := s.signIn(address, "viewer")
	if _, page := viewer.page("/applications/" + s.ns + "/sparkapplications.spark.apache.org/etl"); !strings.Contains(page, link+"?attempt=0&amp;uid=uid-1") {
		t.Errorf("the page has no link to the Spark UI: %.2000s", page)
	}
	for _, parameters := range []string{"", "?uid=uid-1&attempt=0"} {
		viewer.show(link+parameters, func(response *http.Response) {
			text, err := io.ReadAll(response.Body)
			s.must(err)
			if want := "page /history/" + id + "/jobs/"; string(text) != want || !strings.HasSuffix(response.Request.URL.Host, ".localhost:"+uis.Port()) {
				t.Errorf("%s leads to %s with %s %s, want %s", parameters, response.Request.URL, response.Status, text, want)
			}
		})
	}
	if status, _ := s.signIn(address, "nobody").page(link); status != http.StatusNotFound {
		t.Errorf("who may not read the application gets %d", status)
	}
	if status, _ := viewer.page(link + "?uid=uid-2"); status != http.StatusNotFound {
		t.Errorf("another application of the name: %d", status)
	}
}

func TestConsoleAnswersSparksRESTAPI(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	_, err := s.kubectl(readers, "create", "-f", "-")
	s.must(err)
	namespace := s.namespace()
	stored, _ := s.archiveOf(namespace)
	sent := archive.EventLog{ID: archive.ID{Namespace: namespace, Resource: "sparkapplications.spark.apache.org", Name: "gone", UID: "uid-2"}}
	gone := eventlogs.SentID(sent)
	sent.ID.Namespace.UID = "of-an-earlier-namespace"
	earlier := eventlogs.SentID(sent)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text := `"` + r.URL.Path + `"`
		if r.URL.Path == "/api/v1/applications" {
			text = `[{"id":"` + gone + `"},{"id":"` + earlier + `"}]`
		}
		_, _ = io.WriteString(w, text) // the client has left
	}))
	t.Cleanup(server.Close)
	address, _ := s.serveConsoleAnd(stored, server.URL)
	s.create(App("etl"))
	s.run("etl", 0)
	s.untilState("etl", string(lifecycle.RunningHealthy))
	uid, err := s.kubectl("", "get", "sparkapplication", "etl", "-o", "jsonpath={.metadata.uid}")
	s.must(err)
	running := eventlogs.SentID(archive.EventLog{ID: archive.ID{Namespace: namespace, Resource: "sparkapplications.spark.apache.org", Name: "etl", UID: types.UID(strings.TrimSpace(uid))}})
	ask := func(account, path string) (status int, text string) {
		token, err := s.Token(t.Context(), s.ns, account)
		s.must(err)
		(&browser{s, address, &http.Client{Transport: bearer(token)}}).show("/api/v1/"+path, func(response *http.Response) {
			content, err := io.ReadAll(response.Body)
			s.must(err)
			status, text = response.StatusCode, string(content)
		})
		return status, text
	}
	for account, want := range map[string]struct{ running, past bool }{"tenant": {true, true}, "viewer": {true, false}, "nobody": {}} {
		s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
			_, list := ask(account, "applications")
			return strings.Contains(list, running) == want.running && strings.Contains(list, gone) == want.past && !strings.Contains(list, earlier), nil
		}))
		for path, allowed := range map[string]bool{"applications/" + running: want.running, "applications/" + gone + "/jobs": want.past, "applications/" + earlier + "/jobs": false} {
			if status, text := ask(account, path); (status == http.StatusOK) != allowed || !allowed && status != http.StatusNotFound {
				t.Errorf("%s: %s: %d %s, want allowed: %t", account, path, status, text, allowed)
			}
		}
	}
}
