package console_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
)

const (
	etlPath     = "/namespaces/team-a/applications/" + apache + "/etl"
	attemptPath = etlPath + "/uid-1/attempts/0"
	logPath     = attemptPath + "/logs/etl-driver/pod-uid/spark-kubernetes-driver/0"

	getEtl  = "get of sparkapplications.spark.apache.org etl in the namespace team-a"
	list    = "list of sparkapplications.spark.apache.org in the namespace team-a"
	getLogs = "get of pods/log in the namespace team-a"
)

// guarded are paths of the API with the rights that they need.
var guarded = map[string][]string{
	"/namespaces/team-a/applications": {list},
	etlPath:                           {getEtl},
	etlPath + "/uid-1":                {getEtl},
	attemptPath + "/objects/application.json.gz": {getEtl},
	attemptPath + "/objects/transitions.json.gz": {getEtl},
	attemptPath + "/objects/pod.json.gz":         {getEtl, "get of pods etl-driver in the namespace team-a"},
	attemptPath + "/objects/conf.json.gz":        {getEtl, "get of configmaps conf in the namespace team-a"},
	attemptPath + "/objects/events.json.gz":      {getEtl, "get of events in the namespace team-a"},
	logPath:                                      {"get of pods/log etl-driver in the namespace team-a"},
	attemptPath + "/eventlogs":                   {getLogs},
}

func TestRightsThatEachPathNeeds(t *testing.T) {
	e := newEnv(t)
	e.storeAttempt(application("team-a", "etl", "uid-1", 0))
	for path, rights := range guarded {
		t.Run(path, func(t *testing.T) {
			if got := e.get(path, strings.Join(rights, "; ")); got.code != http.StatusOK {
				t.Errorf("with %s: %d %s", rights, got.code, got.body)
			}
			if got := e.get(path, ""); got.code != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") == "" {
				t.Errorf("without a token: %d %s", got.code, got.body)
			}
			if got := e.get(path, strings.ReplaceAll(strings.Join(rights, "; "), "team-a", "team-b")); got.code != http.StatusNotFound {
				t.Errorf("with the rights in another namespace: %d %s", got.code, got.body)
			}
			for i := range rights {
				others := append([]string{"get of nodes in all namespaces"}, rights[:i]...)
				if got := e.get(path, strings.Join(others, "; ")); got.code != http.StatusNotFound {
					t.Errorf("with %s alone: %d %s", others, got.code, got.body)
				}
			}
		})
	}
}

func TestRefusalsAreLikeAbsence(t *testing.T) {
	e := newEnv(t)
	refused := map[string]answer{}
	for path := range guarded {
		refused[path] = e.get(path, "nothing") // nothing is stored yet
	}
	allowed := "get of sparkapplications.spark.apache.org in all namespaces; get of pods/log in all namespaces; list of sparkapplications.spark.apache.org in all namespaces"
	for path, rights := range guarded {
		if got := e.get(path, allowed); path != "/namespaces/team-a/applications" && got.code != http.StatusOK && len(rights) == 1 && got.code != http.StatusNotFound {
			t.Errorf("%s, which does not exist: %d %s", path, got.code, got.body)
		}
	}
	if got, want := e.get(etlPath, allowed), refused[etlPath]; got.body != want.body || got.code != want.code {
		t.Errorf("absent: %s, refused: %s", got.body, want.body)
	}
	before := e.opened.Load()
	e.storeAttempt(application("team-a", "etl", "uid-1", 0))
	for path, was := range refused {
		if got := e.get(path, "nothing"); got.code != was.code || got.body != was.body {
			t.Errorf("%s: %d %s when it exists, %d %s when not", path, got.code, got.body, was.code, was.body)
		}
	}
	if e.opened.Load() != before {
		t.Error("the archive was asked before the rights were reviewed")
	}
}

func TestNewNamespaceInheritsNothing(t *testing.T) {
	e := newEnv(t)
	e.storeAttempt(application("team-a", "etl", "uid-1", 0))
	e.living["team-a"] = "another"
	for path, rights := range guarded {
		got := e.get(path, strings.Join(rights, "; "))
		if path == "/namespaces/team-a/applications" {
			if got.code != http.StatusOK || strings.Contains(got.body, "etl") {
				t.Errorf("%s: %d %s", path, got.code, got.body)
			}
		} else if got.code != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
	delete(e.living, "team-a")
	for path, rights := range guarded {
		if got := e.get(path, strings.Join(rights, "; ")); got.code != http.StatusNotFound {
			t.Errorf("%s of a namespace that is gone: %d %s", path, got.code, got.body)
		}
	}
}

func TestListHasPagesAndFilters(t *testing.T) {
	e := newEnv(t)
	for i := range 5 {
		e.store(application("team-a", fmt.Sprintf("etl-%d", i), fmt.Sprintf("uid-%d", i), i))
	}
	e.store(application("team-b", "other", "uid-9", 9))
	names := func(path string) (names []string, next string) {
		got := e.get(path, list)
		var page api.Applications
		if err := json.Unmarshal([]byte(got.body), &page); err != nil || got.code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, got.code, got.body)
		}
		for _, item := range page.Items {
			names = append(names, item.Name)
		}
		return names, page.Continue
	}
	var all []string
	for next, pages := "", 0; ; pages++ {
		some, after := names("/namespaces/team-a/applications?limit=2&continue=" + next)
		if all, next = append(all, some...), after; next == "" || pages > 5 {
			break
		}
	}
	if got := strings.Join(all, " "); got != "etl-4 etl-3 etl-2 etl-1 etl-0" {
		t.Errorf("pages have %s", got)
	}
	for query, want := range map[string]string{
		"resource=" + apache: "etl-4 etl-3 etl-2 etl-1 etl-0", "state=Succeeded": "", "state=Failed&name=etl-1": "etl-1", "labelSelector=app%3Detl-2": "etl-2",
		"since=2026-01-31T12:03:00Z": "etl-4 etl-3", "until=2026-01-31T12:01:00Z": "etl-1 etl-0",
	} {
		if got, _ := names("/namespaces/team-a/applications?" + query); strings.Join(got, " ") != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}

// Clusters have the rights of their own kind, and are listed if they are asked for.
func TestClustersAreReadWithTheRightsOfTheirKind(t *testing.T) {
	e := newEnv(t)
	app := application("team-a", "etl", "uid-1", 0)
	lab := application("team-a", "lab", "uid-2", 0)
	lab.Resource, lab.Kind = "sparkclusters.spark.apache.org", "SparkCluster"
	e.store(app)
	e.storeAttempt(lab)
	const listClusters, path = "list of sparkclusters.spark.apache.org in the namespace team-a", "/namespaces/team-a/applications/sparkclusters.spark.apache.org/lab"
	for path, rights := range map[string]string{
		"/namespaces/team-a/applications?resource=sparkclusters.spark.apache.org": listClusters,
		"/namespaces":   listClusters,
		path:            "get of sparkclusters.spark.apache.org lab in the namespace team-a",
		path + "/uid-2": "get of sparkclusters.spark.apache.org lab in the namespace team-a",
	} {
		if got := e.get(path, rights); got.code != http.StatusOK || !strings.Contains(got.body, `"lab"`) && path != "/namespaces" || strings.Contains(got.body, "etl\"") {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
		got := e.get(path, list+"; "+getEtl)
		if path != "/namespaces" && got.code != http.StatusNotFound {
			t.Errorf("%s with the rights on applications: %d %s", path, got.code, got.body)
		}
	}
	if got := e.get("/namespaces/team-a/applications", list+"; "+listClusters); got.code != http.StatusOK || strings.Contains(got.body, `"lab"`) {
		t.Errorf("the list of applications: %d %s", got.code, got.body)
	}
}

func TestNamespacesAreThoseThatMayBeListed(t *testing.T) {
	e := newEnv(t)
	e.store(application("team-a", "etl", "uid-1", 0))
	e.store(application("team-b", "etl", "uid-2", 0))
	for rights, want := range map[string]string{
		list:      `{"items":["team-a"]}`,
		"nothing": `{"items":[]}`,
		"list of sparkapplications.sparkoperator.k8s.io in all namespaces": `{"items":["team-a","team-b"]}`,
	} {
		if got := e.get("/namespaces", rights); strings.TrimSpace(got.body) != want {
			t.Errorf("with %s: got %s, want %s", rights, got.body, want)
		}
	}
}

func TestLogsAreReadInPart(t *testing.T) {
	e := newEnv(t)
	e.storeAttempt(application("team-a", "etl", "uid-1", 0))
	for query, want := range map[string]string{
		"": "one\ntwo\nthree\n", "?timestamps=true": logText, "?tail=1": "three\n", "?tail=0": "", "?since=2026-01-31T12:00:01Z": "two\nthree\n",
		"?timestamps=true&offset=31&length=3": "one",
	} {
		if got := e.get(logPath+query, getLogs); got.code != http.StatusOK || got.body != want {
			t.Errorf("%q: got %d %q, want %q", query, got.code, got.body, want)
		}
	}
	got := e.get(logPath, getLogs, "Accept-Encoding", "br, gzip")
	plain, err := gzip.NewReader(strings.NewReader(got.body))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(plain); err != nil || string(text) != "one\ntwo\nthree\n" || got.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("compressed: %q (%v)", text, err)
	}
	if got := e.get(logPath, getLogs, "Accept-Encoding", "gzip;q=0"); got.body != "one\ntwo\nthree\n" {
		t.Errorf("without compression: %q", got.body)
	}
}

// deadlines keeps the last bounds on reading and writing.
type deadlines struct {
	*httptest.ResponseRecorder
	read, write time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.read = at
	return nil
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.write = at
	return nil
}

func TestLogsHaveAnEnd(t *testing.T) {
	e := newEnv(t)
	e.storeAttempt(application("team-a", "etl", "uid-1", 0))
	handler := console.NewHandler(e, e, zap.NewNop().Sugar())
	var asked time.Time
	get := func(ctx context.Context) *deadlines {
		asked = time.Now()
		request := httptest.NewRequestWithContext(ctx, http.MethodGet, api.Prefix+logPath, nil)
		request.Header.Set("Authorization", getLogs)
		answer := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		if handler.ServeHTTP(answer, request); answer.Code != http.StatusOK {
			t.Fatalf("got %d %s", answer.Code, answer.Body)
		}
		return answer
	}
	after := func(at time.Time, want time.Duration) bool {
		return !at.Before(asked.Add(want)) && !at.After(time.Now().Add(want))
	}
	if got := get(t.Context()); !after(got.read, time.Hour) || !after(got.write, 30*time.Second) {
		t.Errorf("it is read for %v, and a write may take %v", got.read.Sub(asked), got.write.Sub(asked))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 29*time.Second)
	defer cancel()
	end, _ := ctx.Deadline()
	if got := get(ctx); !got.read.Equal(end) || !got.write.Equal(end) {
		t.Errorf("it ends at %v and %v, want %v", got.read, got.write, end)
	}
}

func TestRequestsWithABodyAreRefused(t *testing.T) {
	e := newEnv(t)
	e.storeAttempt(application("team-a", "etl", "uid-1", 0))
	for name, header := range map[string]string{"of a length": "Content-Length: 10", "in chunks": "Transfer-Encoding: chunked"} {
		connection, err := net.Dial("tcp", e.server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		if err := connection.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		// The body never comes.
		fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: console\r\nAuthorization: %s\r\n%s\r\n\r\n", api.Prefix+logPath, getLogs, header)
		answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: got %d", name, answer.StatusCode)
		}
	}
}

func TestNoBrowserRunsWhatUsersWrote(t *testing.T) {
	e := newEnv(t)
	e.storeAttempt(application("team-a", "etl", "uid-1", 0))
	for _, path := range []string{logPath, etlPath, "/nothing"} {
		header := e.get(path, getLogs).header
		if header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(header.Get("Content-Security-Policy"), "sandbox") || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, header)
		}
	}
}

func TestBadRequestsNameTheRemedy(t *testing.T) {
	e := newEnv(t)
	for path, want := range map[string]string{
		"/namespaces/team-a/applications?limit=0":                 `limit is \"0\": write a number above 0`,
		"/namespaces/team-a/applications?since=now":               `since is \"now\": write a time such as`,
		"/namespaces/team-a/applications?until=now":               `until is \"now\": write a time such as`,
		"/namespaces/team-a/applications?resource=secrets":        `resource is \"secrets\": write one of sparkapplications`,
		"/namespaces/team-a/applications?labelSelector=a%20b%20c": `labelSelector is`,
		"/namespaces/team-a/applications?color=red":               `the parameter is \"color\": write resource`,
		"/namespaces/team-a/applications/secrets./x":              `the resource is \"secrets.\"`,
		etlPath + "/uid-1/attempts/-1/eventlogs":                  `the attempt is \"-1\"`,
		etlPath + "/uid-1/attempts/x/objects/application.json.gz": `the attempt is \"x\"`,
		attemptPath + "/logs/etl-driver/pod-uid/driver/x":         `the number of restarts is \"x\"`,
		logPath + "?tail=-1":                                      `tail is \"-1\"`,
		logPath + "?timestamps=perhaps":                           `timestamps is \"perhaps\"`,
		logPath + "?offset=3":                                     `write timestamps=true`,
		logPath + "?since=" + strings.Repeat("x", 1000):           `since is`,
	} {
		got := e.get(path, getLogs+"; "+list+"; "+getEtl)
		if got.code != http.StatusBadRequest || !strings.Contains(got.body, want) || len(got.body) > 512 {
			t.Errorf("%s: got %d %s, want %s", path, got.code, got.body, want)
		}
	}
	if got := e.get("/namespaces?x="+strings.Repeat("x", 5000), list); got.code != http.StatusRequestURITooLong {
		t.Errorf("a long address: %d", got.code)
	}
}

func TestAPIServerThatDoesNotAnswerIsNoRefusal(t *testing.T) {
	e := newEnv(t)
	e.failure = fmt.Errorf("%w: 10.0.0.1 refused the connection", access.ErrUnavailable)
	for path := range guarded {
		got := e.get(path, "nothing")
		if got.code != http.StatusServiceUnavailable || strings.Contains(got.body, "10.0.0.1") {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
}

func TestRequestsOfOneReaderAreBounded(t *testing.T) {
	e := newEnv(t)
	e.hold = make(chan struct{})
	codes := make(chan int, 40)
	var readers sync.WaitGroup
	for range cap(codes) {
		readers.Go(func() { codes <- e.get(etlPath, getEtl).code })
	}
	refused := 0
	for range cap(codes) - 16 {
		if <-codes == http.StatusTooManyRequests {
			refused++
		}
	}
	close(e.hold)
	readers.Wait()
	if refused != cap(codes)-16 {
		t.Errorf("%d requests are refused, want %d", refused, cap(codes)-16)
	}
	if got := e.get(etlPath, getEtl); got.code != http.StatusNotFound {
		t.Errorf("afterwards: %d %s", got.code, got.body)
	}
}

func TestObjectsOfOtherKindsAreNotServed(t *testing.T) {
	e := newEnv(t)
	e.storeAttempt(application("team-a", "etl", "uid-1", 0))
	for _, file := range []string{"odd.json.gz", "../manifest.json", "..%2Fmanifest.json", "%2E%2E%2Fusage.json"} {
		if got := e.get(attemptPath+"/objects/"+file, getEtl+"; get of secrets in all namespaces"); got.code == http.StatusOK {
			t.Errorf("%s: %d %s", file, got.code, got.body)
		}
	}
}
