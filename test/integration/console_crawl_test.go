package integration

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	eventlogs "github.com/firesteel-dev/firesteel/pkg/history"
)

// crawler reads everything that a user of one namespace finds or guesses of another namespace.
type crawler struct {
	*browser
	// marks are texts that only the other namespace has.
	marks []string
	seen  map[string]bool
}

const (
	// maxCrawled bounds the pages of a crawl, and crawlTimeout an answer: a stream has no end.
	maxCrawled   = 250
	crawlTimeout = 2 * time.Second
)

// forged are headers that a proxy, the API server or another console could believe.
var forged = []map[string]string{
	{},
	{"X-Forwarded-Host": "localhost", "X-Forwarded-Proto": "https", "X-Forwarded-Prefix": "/x", "X-Forwarded-For": "127.0.0.1", "X-Real-Ip": "127.0.0.1", "Forwarded": "for=127.0.0.1"},
	{"X-Firesteel-User": "admin", "X-Firesteel-Groups": "system:masters", "X-Firesteel-Proxy-Secret": "guessed"},
	{"Impersonate-User": "admin", "Impersonate-Group": "system:masters", "X-Remote-User": "admin", "X-Remote-Group": "system:masters", "X-Forwarded-User": "admin"},
	{"Host": "kubernetes.default.svc", "If-None-Match": "*", "If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT", "Range": "bytes=0-"},
	{"X-Original-Url": "/", "X-Rewrite-Url": "/", "X-Http-Method-Override": "DELETE", "Accept": "text/event-stream", "Hx-Request": "true"},
}

// get returns what a path answers, with its header.
func (c *crawler) get(path string, headers map[string]string) (status int, text string) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), crawlTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.address.String()+path, nil)
	c.must(err)
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
	_, _ = io.Copy(&answer, response.Body) // a stream ends with the time
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

var linkOf = regexp.MustCompile(`(?:href|src|action|data-hx-get|data-hx-sse:connect)="(/[^"#]*)`)

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

// guessed returns the paths by which an application and its namespace could be read.
func (n names) guessed(c *crawler) (paths []string) {
	page := "/applications/" + n.namespace + "/" + crawledResource + "/" + n.name
	for _, tab := range []string{"", "?tab=yaml", "?tab=plan", "?tab=logs", "?tab=events", "?tab=pods", "?tab=executors", "?action=delete", "?action=rerun", "?did=stop", "/log?pod=" + n.name + "-0-driver",
		"/log?from=archive&attempt=0&uid=" + n.uid + "&log=" + n.log} {
		paths = append(paths, page+tab)
	}
	ref := n.namespace + "/" + crawledResource + "/" + n.name
	paths = append(paths, "/spark-ui/"+ref, "/spark-ui/"+ref+"?attempt=0&uid="+n.uid, "/compare?a="+ref+"&b="+ref, "/applications?namespace="+n.namespace, "/applications?text="+n.name,
		"/applications?format=csv&namespace="+n.namespace, "/archive?namespace="+n.namespace, "/stream?cursor=0&namespace="+n.namespace, "/schedules/"+ref, "/clusters/"+n.namespace+"/"+n.name,
		"/api/v1/applications/"+n.id, "/api/v1/applications/"+n.id+"/jobs", "/api/v1/applications/"+n.id+"/logs", "/api/v1/applications", "/?namespace="+n.namespace)
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
		paths = append(paths, api.Prefix+path, api.Prefix+path+"?namespace="+n.namespace)
	}
	return paths
}

// without returns a text without names, and without what differs between any two answers.
func (n names) without(text string) string {
	if at := strings.Index(text, "<main"); at >= 0 {
		text = text[at:]
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "Date: ") || strings.HasPrefix(line, "Content-Length: ")
	})
	text = strings.Join(lines, "\n")
	for _, name := range []string{n.id, n.log, strings.Split(n.log, "/")[0], n.uid, n.name, n.namespace} {
		text = strings.NewReplacer(url.QueryEscape(name), "-", url.PathEscape(name), "-", name, "-").Replace(text)
	}
	return text
}

func TestConsoleHasNothingOfAnotherNamespace(t *testing.T) {
	t.Parallel()
	s, other := newEnv(t).sharesController(), newEnv(t)
	for _, e := range []*env{s, other} {
		_, err := e.kubectl(readers, "create", "-f", "-")
		e.must(err)
	}
	namespace := other.namespace()
	stored, log := s.archiveOf(namespace)
	address := s.serveConsole(stored)
	const name, mark = "etl", "mark-7f3a9c"
	s.create(App("mine"))
	other.create(App("hidden-" + mark))
	_, err := other.kubectl("", "label", "sparkapplications.spark.apache.org", "hidden-"+mark, "team="+mark, "user="+mark)
	s.must(err)
	theirs := &crawler{other.signIn(address, "tenant"), nil, nil}
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) { // it is there to be found
		_, list := theirs.get("/applications", nil)
		return strings.Contains(list, "hidden-"+mark), nil
	}))
	id := eventlogs.SentID(archive.EventLog{ID: archive.ID{Namespace: namespace, Resource: crawledResource, Name: name, UID: "uid-1"}})
	real := names{other.ns, name, "uid-1", log.Pod + "/" + string(log.PodUID) + "/" + log.Container + "/0", id}
	living := real
	living.name = "hidden-" + mark
	absent := names{"zz-team", "zz-app", "zz-uid", "zz-pod/zz-p/zz-container/0", strings.Repeat("z", len(id))}

	mine := &crawler{s.signIn(address, "tenant"), []string{mark, other.ns, "org.example.Etl"}, map[string]bool{}}
	mine.crawl("/", "/applications", "/applications?format=csv", "/schedules", "/clusters", "/archive", "/api/firesteel/v1/namespaces", "/api/firesteel/v1/live/overview", "/api/firesteel/v1/live")
	if len(mine.seen) < 15 || !mine.seen["/applications/"+s.ns+"/"+crawledResource+"/mine"] {
		t.Errorf("the crawl has seen %d pages", len(mine.seen))
	}
	token, err := s.Token(t.Context(), s.ns, "tenant")
	s.must(err)
	program := &crawler{&browser{s, address, &http.Client{Transport: bearer(token)}}, nil, nil}
	of := absent.guessed(mine)
	for _, c := range []*crawler{mine, program} {
		for _, target := range []names{real, living} {
			for i, path := range target.guessed(mine) {
				if strings.Contains(path, "stream") {
					continue // it has no end, and what it sends is tested elsewhere
				}
				headers := forged[i%len(forged)]
				status, text := c.get(path, headers)
				wanted, same := c.get(of[i], headers)
				if got, want := target.without(text), absent.without(same); status != wanted || got != want {
					t.Errorf("%s answers %d, and for what does not exist %d:\n%.1500s\n%.1500s", path, status, wanted, got, want)
				}
			}
		}
	}
}
