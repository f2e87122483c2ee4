package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gocloud.dev/blob/memblob"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	eventlogs "github.com/firesteel-dev/firesteel/pkg/history"
	"github.com/firesteel-dev/firesteel/test/harness/localhost"
)

// tenant is a user of one namespace, and what the namespace has.
type tenant struct {
	*env
	// mark is in all texts of the namespace, and in no others.
	mark string
	// living is an application that is there, and past one that only the archive and the History Server have.
	living, past names
	token        string
	// session is the browser of the tenant, and program a client with the token.
	session, program *crawler
}

// tenantRights are those of a tenant beside readers.
const tenantRights = `
apiVersion: v1
kind: List
items:
- apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata: {name: rest}
  rules:
  - {apiGroups: [spark.apache.org, firesteel.dev, sparkoperator.k8s.io, spark-operator.k8s.io], resources: ["*"], verbs: [get, list]}
  - {apiGroups: [""], resources: [pods, events, services, configmaps], verbs: [get, list]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: rest}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: rest}
  subjects: [{kind: ServiceAccount, name: tenant}]
- apiVersion: firesteel.dev/v1alpha1
  kind: ScheduledSparkApplication
  metadata: {name: nightly-MARK, labels: {team: MARK, user: MARK}}
  spec: {schedule: "@yearly", template: {spec: {mainClass: org.example.MARK, jars: "local:///MARK.jar", runtimeVersions: {sparkVersion: 4.1.1}}}}
- apiVersion: spark.apache.org/v1
  kind: SparkCluster
  metadata: {name: lab-MARK, labels: {team: MARK, user: MARK}}
  spec: {runtimeVersions: {sparkVersion: 4.1.1}, clusterTolerations: {instanceConfig: {initWorkers: 1, minWorkers: 1, maxWorkers: 1}}}
`

// newTenant makes a tenant, and archives an application of its namespace.
func newTenant(t *testing.T, mark string, stored *archive.Archive) *tenant {
	t.Helper()
	n := &tenant{env: newEnv(t).sharesController(), mark: mark}
	for _, manifest := range []string{readers, strings.ReplaceAll(tenantRights, "MARK", mark)} {
		_, err := n.kubectl(manifest, "create", "-f", "-")
		n.must(err)
	}
	var err error
	n.token, err = n.Token(t.Context(), n.ns, "tenant")
	n.must(err)
	n.past = n.archived(stored)
	n.living = n.past
	n.living.name = "living-" + mark
	n.create(App(n.living.name))
	n.relabel(n.living.name, mark)
	return n
}

// relabel gives an application of the tenant a team and a user.
func (n *tenant) relabel(name, value string) {
	n.Helper()
	_, err := n.kubectl("", "label", "--overwrite", crawledResource, name, "team="+value, "user="+n.mark)
	n.must(err)
}

// archived stores an application with a log and an object.
func (n *tenant) archived(stored *archive.Archive) names {
	n.Helper()
	namespace := n.namespace()
	app := archive.Application{
		Namespace: namespace.Name, NamespaceUID: namespace.UID, Resource: crawledResource, APIVersion: "spark.apache.org/v1", Kind: "SparkApplication",
		Name: "past-" + n.mark, UID: types.UID("uid-" + n.mark), State: "Failed", Outcome: "Failed", Message: "the end of " + n.mark, Labels: map[string]string{"team": n.mark},
	}
	n.must(stored.WriteApplication(n.Context(), app))
	log := archive.LogID{Pod: "pod-" + n.mark, PodUID: types.UID("pod-uid-" + n.mark), Container: "spark-kubernetes-driver"}
	attempt := stored.Attempt(app.ID(), 0)
	n.must(attempt.File("logs", log.Pod, string(log.PodUID), log.Container, "0").Append(n.Context(), 0, fmt.Appendf(nil, "2026-01-01T00:00:00Z %s\n", n.mark)))
	const object = `{"apiVersion": "spark.apache.org/v1", "kind": "SparkApplication", "metadata": {"namespace": %q, "name": %q, "uid": %q},` +
		`"spec": {"mainClass": "org.example.%s", "runtimeVersions": {"sparkVersion": "4.1.0"}}}`
	n.must(attempt.Put(n.Context(), fmt.Appendf(nil, object, namespace.Name, app.Name, app.UID, n.mark), "objects", "application.json.gz"))
	_, err := attempt.WriteManifest(n.Context(), &archive.Manifest{
		Message: app.Message, Logs: []archive.Log{{LogID: log, Role: archive.RoleDriver}}, Objects: []archive.Object{{File: "application.json.gz", Kind: "SparkApplication", Name: app.Name}},
	})
	n.must(err)
	return names{n.ns, app.Name, string(app.UID), log.Pod + "/" + string(log.PodUID) + "/" + log.Container + "/0", eventlogs.SentID(archive.EventLog{ID: app.ID()})}
}

// historyServer is a stand-in of Spark's History Server. As the real one, it shows everything to everyone: what it answers about one application has the
// mark of that one, and everything else has the marks of all.
func historyServer(t *testing.T, all func() []*tenant) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := all()
		for _, n := range all() {
			if strings.HasPrefix(r.URL.Path, "/api/v1/applications/"+n.past.id) || strings.HasPrefix(r.URL.Path, "/history/"+n.past.id) {
				asked = []*tenant{n}
			}
		}
		var list []map[string]any
		var page strings.Builder
		for _, n := range asked {
			list = append(list, map[string]any{"id": n.past.id, "name": "history-" + n.mark, "attempts": []map[string]any{{"sparkUser": n.mark, "completed": true}}})
			fmt.Fprintf(&page, `<a href="/history/%s/jobs/">%s</a>`, n.past.id, n.mark)
		}
		switch {
		case r.URL.Path == "/api/v1/version":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"spark": "4.1.0"}`) // the client has left
		case r.URL.Path == "/api/v1/applications":
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(list) // the client has left
		case strings.HasPrefix(r.URL.Path, "/api/") && len(list) == 1:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(list[0]) // the client has left
		case strings.HasPrefix(r.URL.Path, "/api/"):
			http.Error(w, page.String(), http.StatusNotFound)
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, page.String()) // the client has left
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// crawler reads everything that a user of one namespace finds or guesses of another namespace.
type crawler struct {
	*browser
	// marks are texts that only the other namespace has.
	marks []string
	seen  map[string]bool
}

const (
	// maxCrawled bounds the pages of a crawl, and crawlTimeout an answer. mostForged is with how many forged headers each path is asked for.
	maxCrawled   = 250
	crawlTimeout = time.Minute
	mostForged   = 3
)

// forgedFor returns headers that a proxy, the API server or another console could believe. They name another user.
func forgedFor(other *tenant) []map[string]string {
	user := "system:serviceaccount:" + other.ns + ":tenant"
	return []map[string]string{
		{},
		{"X-Forwarded-Host": "localhost", "X-Forwarded-Proto": "https", "X-Forwarded-Prefix": "/x", "X-Forwarded-For": "127.0.0.1", "X-Real-Ip": "127.0.0.1", "Forwarded": "for=127.0.0.1"},
		{"X-Firesteel-User": user, "X-Firesteel-Groups": "system:masters", "X-Firesteel-Proxy-Secret": "guessed"},
		{"Impersonate-User": user, "Impersonate-Group": "system:masters", "Impersonate-Uid": "0", "X-Remote-User": user, "X-Remote-Group": "system:masters", "X-Forwarded-User": user},
		{"X-Forwarded-Email": user, "X-Forwarded-Preferred-Username": user, "X-Forwarded-Groups": "system:masters", "X-Forwarded-Access-Token": "rubbish", "X-Auth-Request-User": user},
		{"X-Forwarded-Context": "/ui/guessed", "X-Forwarded-Uri": "/", "X-Script-Name": "/ui/guessed"},
		{"Host": "kubernetes.default.svc", "If-None-Match": "*", "If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT", "Range": "bytes=0-"},
		{"X-Original-Url": "/", "X-Rewrite-Url": "/", "X-Http-Method-Override": "DELETE", "Accept": "text/event-stream", "Hx-Request": "true"},
		{"Authorization": "Bearer rubbish"}, {"Authorization": "Basic dGVuYW50OnJ1YmJpc2g="}, {"Authorization": "Negotiate rubbish"}, {"X-Firesteel-Authorization": "Bearer rubbish"},
	}
}

// get returns what a path answers, with its header.
func (c *crawler) get(path string, headers map[string]string) (status int, text string) {
	c.Helper()
	return c.send(http.MethodGet, path, headers, nil)
}

func (c *crawler) send(method, path string, headers map[string]string, form url.Values) (status int, text string) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), crawlTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.address.String()+path, strings.NewReader(form.Encode()))
	c.must(err)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Origin", c.address.String())
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	if host := headers["Host"]; host != "" {
		request.Host = host
	}
	response, err := c.client.Do(request)
	c.must(err)
	defer func() { _ = response.Body.Close() }()
	var answer strings.Builder
	c.must(response.Header.Write(&answer))
	_, err = io.Copy(&answer, response.Body)
	c.must(err)
	return response.StatusCode, answer.String()
}

// check fails if an answer has a mark.
func (c *crawler) check(path, text string) {
	c.Helper()
	for _, mark := range c.marks {
		if at := strings.Index(text, mark); at >= 0 {
			c.Errorf("%s has %q: ...%s", path, mark, text[max(at-100, 0):min(at+100, len(text))])
		}
	}
}

var linkOf = regexp.MustCompile(`(?:href|src|action|data-hx-get)="(/[^"#]*)`)

// crawl follows each link.
func (c *crawler) crawl(from ...string) {
	c.Helper()
	for queue := from; len(queue) > 0 && len(c.seen) < maxCrawled; {
		path := queue[0]
		queue = queue[1:]
		if c.seen[path] || strings.HasPrefix(path, "/assets/") {
			continue
		}
		c.seen[path] = true
		_, text := c.get(path, nil)
		c.check(path, text)
		for _, link := range linkOf.FindAllStringSubmatch(text, -1) {
			queue = append(queue, html.UnescapeString(link[1]))
		}
	}
}

// names are those of an application, and of what belongs to it.
type names struct{ namespace, name, uid, log, id string }

const crawledResource = "sparkapplications.spark.apache.org"

// absentOf returns the names of an application that does not exist, for those of one that does.
func absentOf(n names) names {
	return names{"zz-team", "zz-app", "zz-uid", "zz-pod/zz-p/zz-container/0", strings.Repeat("z", len(n.id))}
}

// guessed returns the paths by which an application and its namespace could be read.
func (n names) guessed(c *crawler) (paths []string) {
	page := "/applications/" + n.namespace + "/" + crawledResource + "/" + n.name
	for _, tab := range []string{"", "?tab=yaml", "?tab=plan", "?tab=logs", "?tab=events", "?tab=pods", "?tab=executors", "?action=delete", "?action=rerun", "?did=stop", "?from=archive", "?uid=" + n.uid,
		"?from=archive&tab=logs", "/log?pod=" + n.name + "-0-driver", "/log?from=archive&attempt=0&uid=" + n.uid + "&log=" + n.log} {
		paths = append(paths, page+tab)
	}
	ref := n.namespace + "/" + crawledResource + "/" + n.name
	paths = append(paths, "/spark-ui/"+ref, "/spark-ui/"+ref+"?attempt=0&uid="+n.uid, "/compare?a="+ref+"&b="+ref, "/applications?namespace="+n.namespace, "/applications?text="+n.name,
		"/applications?format=csv&namespace="+n.namespace, "/archive?namespace="+n.namespace, "/archive?name="+n.name+"&namespace="+n.namespace,
		"/schedules/"+ref, "/clusters/"+n.namespace+"/"+n.name, "/clusters/"+n.namespace+"/"+n.name+"?from=archive",
		"/api/v1/applications/"+n.id, "/api/v1/applications/"+n.id+"/jobs", "/api/v1/applications/"+n.id+"/1/environment", "/api/v1/applications/"+n.id+"/logs", "/api/v1/applications",
		"/api/v1/version")
	described, err := os.ReadFile("../../pkg/console/openapi.json")
	c.must(err)
	var document struct{ Paths map[string]any }
	c.must(json.Unmarshal(described, &document))
	log := strings.Split(n.log, "/")
	values := strings.NewReplacer("{namespace}", n.namespace, "{resource}", crawledResource, "{name}", n.name, "{uid}", n.uid, "{attempt}", "0", "{file}", "application.json.gz",
		"{pod}", log[0], "{podUID}", log[1], "{container}", log[2], "{restart}", log[3])
	for _, template := range slices.Sorted(maps.Keys(document.Paths)) {
		path := values.Replace(template)
		if strings.Contains(path, "{") {
			c.Errorf("the path %s of the API is not crawled", template)
		}
		if strings.HasSuffix(path, "/stream") {
			continue // it has no end: streamed reads it
		}
		paths = append(paths, api.Prefix+path, api.Prefix+path+"?namespace="+n.namespace)
	}
	return paths
}

// timeOf matches the times in cursors and addresses.
var timeOf = regexp.MustCompile(`"cursor":\d+|asOf=[^&"]*`)

// without returns a text without names, and without what differs between any two answers.
func (n names) without(text string) string {
	if at := strings.Index(text, "<main"); at >= 0 {
		text = text[at:]
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "Date: ") || strings.HasPrefix(line, "Content-Length: ")
	})
	text = timeOf.ReplaceAllString(strings.Join(lines, "\n"), "")
	log := strings.Split(n.log, "/")
	for _, name := range []string{n.id, n.log, log[0], log[1], n.uid, n.name, n.namespace} {
		text = strings.NewReplacer(url.QueryEscape(name), "-", url.PathEscape(name), "-", name, "-").Replace(text)
	}
	return text
}

// guess asks for everything of another tenant by its name. The answers must be those about what does not exist.
func (c *crawler) guess(other *tenant) {
	c.Helper()
	absent, headers := absentOf(other.past), forgedFor(other)
	past, living := other.past.guessed(c), other.living.guessed(c)
	for i, path := range absent.guessed(c) {
		for forged := range mostForged + 1 { // the first are none, and others come in turn
			with := headers[0]
			if forged > 0 {
				with = headers[1+(i*mostForged+forged)%(len(headers)-1)]
			}
			status, text := c.get(path, with)
			wanted := fmt.Sprint(status, "\n", absent.without(text))
			for path, target := range map[string]names{past[i]: other.past, living[i]: other.living} {
				status, text := c.get(path, with)
				got := fmt.Sprint(status, "\n", target.without(text))
				if got != wanted {
					c.Errorf("with %v, %s answers\n%.1500s\nand for what does not exist\n%.1500s", with, path, got, wanted)
				}
				c.check(path, got)
			}
		}
	}
}

var formToken = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// act tries to change an application of another tenant, from a page of the session.
func (c *crawler) act(other *tenant) {
	c.Helper()
	_, page := c.get("/", nil)
	token := formToken.FindStringSubmatch(page)
	if token == nil {
		c.Fatal("the overview has no form")
	}
	for _, verb := range []string{"stop", "delete", "rerun", "suspend", "scale"} {
		var answers []string
		for _, n := range []names{other.living, absentOf(other.living)} {
			status, text := c.send(http.MethodPost, "/actions/"+verb, nil, url.Values{
				"csrf": {token[1]}, "namespace": {n.namespace}, "resource": {crawledResource}, "object": {n.name}, "uid": {n.uid}, "shown": {"guessed"},
			})
			answers = append(answers, fmt.Sprint(status, "\n", n.without(text)))
		}
		if answers[0] != answers[1] {
			c.Errorf("%s answers\n%.1500s\nand for what does not exist\n%.1500s", verb, answers[0], answers[1])
		}
		c.check(verb, answers[0])
	}
}

// visit opens the page of the History Server of the tenant's own application, and returns its address.
func (n *tenant) visit() (address *url.URL) {
	n.Helper()
	n.session.show("/spark-ui/"+n.ns+"/"+crawledResource+"/"+n.past.name+"?attempt=0&uid="+n.past.uid, func(response *http.Response) {
		text, err := io.ReadAll(response.Body)
		n.must(err)
		if address = response.Request.URL; !strings.Contains(string(text), n.mark) {
			n.Fatalf("%s shows its owner %s", address, text)
		}
	})
	return address
}

// wander asks, in a visit of the own application, for all that the History Server has.
func (n *tenant) wander(other *tenant) {
	n.Helper()
	visit := n.visit()
	secret := strings.Join(strings.Split(visit.Path, "/")[:3], "/")
	id := other.past.id
	for _, path := range []string{
		"/", "/?page=2", "/home/", "/api/v1/applications", "/api/v1/applications/", "/api/v1/applications/" + id, "/api/v1/applications/" + id + "/jobs", "/api/v1/applications/" + id + "/logs",
		"/history/" + id, "/history/" + id + "/jobs/", "/history/" + n.past.id + "/../" + id + "/jobs/", "/history/" + n.past.id + "/..%2f" + id + "/jobs/", "/static/../history/" + id + "/jobs/",
		"/static/%2e%2e/history/" + id + "/jobs/", "//history/" + id + "/jobs/", "/history/" + n.past.id + id + "/jobs/", "/history/" + strings.ToUpper(id) + "/jobs/", "/api/v1/version",
	} {
		at := &crawler{&browser{n.env, &url.URL{Scheme: visit.Scheme, Host: visit.Host}, n.session.client}, []string{other.mark, other.ns}, nil}
		_, text := at.get(secret+path, nil)
		at.check(path, strings.ReplaceAll(text, id, "-"))
	}
}

// cookies returns the cookies of the session, and those of its visit of a Spark UI.
func (n *tenant) cookies() (session, visit []*http.Cookie) {
	n.Helper()
	session, visit = n.session.client.Jar.Cookies(n.session.address), n.session.client.Jar.Cookies(n.visit())
	if len(session) == 0 || len(visit) == 0 {
		n.Fatalf("the session has %d cookies, and the visit has %d", len(session), len(visit))
	}
	return session, visit
}

// mix sends the cookies of another tenant with the own ones: mixed, cut, in another's place, and under other names. None of it may be the other's session.
func (n *tenant) mix(other *tenant, paths ...string) {
	n.Helper()
	mine, visit := n.cookies()
	theirs, theirVisit := other.cookies()
	name, own, foreign, foreignVisit := mine[0].Name, mine[0].Value, theirs[0].Value, theirVisit[0]
	half := len(foreign) / 2
	client := &crawler{&browser{n.env, n.session.address, &http.Client{Transport: localhost.Transport()}}, n.session.marks, nil}
	for what, cookie := range map[string]string{
		"both":                     name + "=" + own + "; " + name + "=" + foreign,
		"both, theirs first":       name + "=" + foreign + "; " + name + "=" + own,
		"the first half":           name + "=" + foreign[:half],
		"the second half":          name + "=" + foreign[half:],
		"half of each":             name + "=" + own[:half] + foreign[half:],
		"one after the other":      name + "=" + own + foreign,
		"theirs as the second":     name + "=" + own + "; " + name + "-2=" + foreign,
		"theirs in two, exchanged": name + "=" + foreign[half:] + "; " + name + "-2=" + foreign[:half],
		"the name with a prefix":   "__Host-" + name + "=" + foreign + "; __Secure-" + name + "=" + foreign,
		"their visit's":            name + "=" + foreignVisit.Value,
		"my visit's":               name + "=" + visit[0].Value,
		"their visit, by its name": foreignVisit.Name + "=" + foreignVisit.Value,
		"in quotes, cut":           name + `="` + foreign[:len(foreign)-1] + `"`,
	} {
		for _, path := range paths {
			_, text := client.get(path, map[string]string{"Cookie": cookie})
			client.check(what+": "+path, other.living.without(other.past.without(text)))
		}
	}
}

// streamed reads the streams of a tenant while another one changes something, and then the tenant. Nothing of the other's arrives, and no event because of
// it.
func (n *tenant) streamed(other *tenant) {
	n.Helper()
	ctx, cancel := context.WithCancel(n.Context())
	defer cancel()
	_, page := n.session.get("/", nil)
	stream := streamOf.FindStringSubmatch(page)
	if stream == nil {
		n.Fatal("the overview has no stream")
	}
	cursor, err := url.Parse(html.UnescapeString(stream[1]))
	n.must(err)
	since := "?cursor=" + cursor.Query().Get("cursor")
	of := func(name string) string {
		return "&namespace=" + other.ns + "&resource=" + crawledResource + "&name=" + name
	}
	all, narrow, ofAPI := n.session.listen(ctx, "/stream"+since), n.session.listen(ctx, "/stream"+since+of(other.living.name)), n.program.listen(ctx, api.Prefix+"/live/stream"+since)
	ofAbsent := n.session.listen(ctx, "/stream"+since+of("absent"))
	other.relabel(other.living.name, "changed-"+other.mark)
	other.create(App("later-" + other.mark))
	other.until(other.session, "/applications", "later-"+other.mark)
	n.relabel(n.living.name, "changed-again-"+n.mark) // from what it may have been changed to as another's
	for _, l := range []*listener{all, ofAPI} {
		n.must(wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(context.Context) (bool, error) {
			return strings.Contains(l.text(), map[*listener]string{all: "event: changed", ofAPI: "changed-again-" + n.mark}[l]), nil
		}))
	}
	for path, l := range map[string]*listener{"the stream": all, "the stream of their object": narrow, "the stream of the API": ofAPI} {
		n.session.check(path, l.text())
	}
	if has := narrow.text(); strings.Contains(has, "changed") { // so has the stream of what does not exist, sooner or later
		if wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(context.Context) (bool, error) {
			return strings.Contains(ofAbsent.text(), "changed"), nil
		}) != nil {
			n.Errorf("the stream of another's object has %q", has)
		}
	}
}

// listener gathers what a stream sends.
type listener struct {
	mutex sync.Mutex
	got   bytes.Buffer
}

func (l *listener) Write(part []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.got.Write(part)
}

func (l *listener) text() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.got.String()
}

// listen opens a stream, which ends with the context.
func (b *browser) listen(ctx context.Context, path string) *listener {
	b.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.address.String()+path, nil)
	b.must(err)
	response, err := b.client.Do(request)
	b.must(err)
	if response.StatusCode != http.StatusOK {
		b.Fatalf("%s answers %s", path, response.Status)
	}
	l := &listener{}
	go func() {
		defer func() { _ = response.Body.Close() }()
		_, _ = io.Copy(l, response.Body) // it ends with the context
	}()
	return l
}

// until waits until a page has a text.
func (n *tenant) until(c *crawler, path, text string) {
	n.Helper()
	n.must(wait.PollUntilContextTimeout(n.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		_, page := c.get(path, nil)
		return strings.Contains(page, text), nil
	}))
}

// checkCounters fails if the overview of a tenant counts anything but the tenant's applications.
func (n *tenant) checkCounters(applications int) {
	n.Helper()
	_, text := n.program.get(api.Prefix+"/live/overview", nil)
	var counted live.Overview
	n.must(json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &counted))
	own, all := counted.Namespaces[n.ns], counted.Total
	if len(counted.Namespaces) != 1 || own != all || all.Running+all.Waiting+all.Failed+all.Succeeded != applications {
		n.Errorf("the counters are %+v, and %+v by namespace", all, counted.Namespaces)
	}
	for team := range counted.Teams {
		if !strings.Contains(team, n.mark) {
			n.Errorf("the team %q is counted", team)
		}
	}
	var page live.Page
	_, text = n.program.get(api.Prefix+"/live?kind=application", nil)
	n.must(json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &page))
	if page.Total != applications {
		n.Errorf("there are %d applications", page.Total)
	}
}

func TestConsoleHasNothingOfAnotherNamespace(t *testing.T) {
	t.Parallel()
	stored := archive.New(memblob.OpenBucket(nil))
	var both []*tenant
	history := historyServer(t, func() []*tenant { return both })
	both = []*tenant{newTenant(t, "mark-7f3a9c", stored), newTenant(t, "mark-b81d02", stored)}
	address, _ := both[0].serveConsoleAnd(stored, history)
	for i, n := range both {
		other := both[1-i]
		marks := []string{other.mark, other.ns, other.past.id}
		n.session = &crawler{n.signIn(address, "tenant"), marks, map[string]bool{}}
		n.program = &crawler{&browser{n.env, address, &http.Client{Transport: bearer(n.token)}}, marks, nil}
		n.until(n.session, "/applications", n.living.name) // it is there to be found
		n.until(n.session, "/clusters", "lab-"+n.mark)
		n.until(n.session, "/schedules", "nightly-"+n.mark)
	}
	for i, n := range both {
		other := both[1-i]
		applications := 1 + i // streamed has made one for the second tenant
		n.checkCounters(applications)
		n.session.crawl("/", "/applications", "/applications?format=csv", "/schedules", "/clusters", "/archive", "/archive?namespace="+n.ns, "/api/firesteel/v1/namespaces",
			"/api/firesteel/v1/live/overview", "/api/firesteel/v1/live", "/spark-ui/"+n.ns+"/"+crawledResource+"/"+n.past.name)
		for _, found := range []names{n.living, n.past} {
			if path := "/applications/" + n.ns + "/" + crawledResource + "/" + found.name; !slices.ContainsFunc(slices.Collect(maps.Keys(n.session.seen)), func(seen string) bool { return strings.HasPrefix(seen, path) }) {
				t.Errorf("the crawl of %d pages has not seen %s", len(n.session.seen), path)
			}
		}
		if _, list := n.program.get("/api/v1/applications", nil); !strings.Contains(list, "history-"+n.mark) {
			t.Errorf("the list of the History Server has nothing of its reader: %.1000s", list)
		}
		_, overview := n.session.get("/?namespace="+other.ns, nil)
		n.session.check("the overview", other.past.without(overview))
		n.session.guess(other)
		n.program.guess(other)
		n.session.act(other)
		n.wander(other)
		n.mix(other, "/", "/applications", "/archive?namespace="+other.ns, "/applications/"+other.ns+"/"+crawledResource+"/"+other.past.name+"?tab=logs",
			"/spark-ui/"+other.ns+"/"+crawledResource+"/"+other.past.name, "/api/firesteel/v1/namespaces", "/api/v1/applications")
		n.streamed(other)
		n.checkCounters(applications)
		n.session.crawl("/?again", "/applications?kind=application&order=asc&sort=name")
	}
}
