package console_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"gocloud.dev/blob/memblob"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
)

const apache = "sparkapplications.spark.apache.org"

// env is a console with an archive. The token of a request lists the rights of its reader.
type env struct {
	t       *testing.T
	archive *archive.Archive
	// living are the uids of the namespaces that exist.
	living map[string]types.UID
	// failure is what each review fails with.
	failure error
	server  *httptest.Server
	// opened counts how often the archive was asked for.
	opened atomic.Int64
	// ended makes every token invalid.
	ended atomic.Bool
	// hold keeps requests waiting in a review until it is closed.
	hold chan struct{}
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{t: t, archive: archive.New(memblob.OpenBucket(nil)), living: map[string]types.UID{"team-a": "ns-a", "team-b": "ns-b"}}
	e.server = httptest.NewServer(console.NewHandler(e, e, zap.NewNop().Sugar()))
	t.Cleanup(e.server.Close)
	return e
}

// Of returns the archive.
func (e *env) Of(_ context.Context, namespace string) (*archive.Archive, error) {
	e.opened.Add(1)
	if namespace == "unarchived" {
		return nil, nil
	}
	return e.archive, nil
}

// Namespaces lists the archive.
func (e *env) Namespaces(ctx context.Context) ([]string, error) { return e.archive.Namespaces(ctx) }

// Reader returns a reader with the rights that the token lists.
func (e *env) Reader(request *http.Request) (console.Reader, error) {
	token := request.Header.Get("Authorization")
	if token == "" || e.ended.Load() {
		return nil, access.ErrUnauthenticated
	}
	return &reader{e, strings.Split(token, "; ")}, nil
}

type reader struct {
	*env
	rights []string
}

func (r *reader) Name() string { return strings.Join(r.rights, "; ") }

func (r *reader) Key() string { return r.Name() }

func (r *reader) Ask(_ context.Context, right access.Right) error {
	if r.failure != nil {
		return r.failure
	}
	if slices.Contains(r.rights, right.String()) {
		return nil
	}
	return access.ErrNotAllowed
}

func (r *reader) Check(_ context.Context, right access.Right) error {
	if r.hold != nil {
		<-r.hold
	}
	if r.failure != nil {
		return r.failure
	}
	everywhere, inNamespace := right, right
	everywhere.Namespace, everywhere.Name, inNamespace.Name = "", "", ""
	for _, granted := range []access.Right{right, inNamespace, everywhere} {
		if slices.Contains(r.rights, granted.String()) {
			return nil
		}
	}
	return access.ErrNotAllowed
}

func (r *reader) Namespace(_ context.Context, name string) (archive.Namespace, error) {
	uid, ok := r.living[name]
	if !ok {
		return archive.Namespace{}, console.ErrNoNamespace
	}
	return archive.Namespace{Name: name, UID: uid}, nil
}

var began = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// application is an application that was created some minutes after the first one.
func application(namespace, name, uid string, minutes int) archive.Application {
	created := began.Add(time.Duration(minutes) * time.Minute)
	ended := created.Add(time.Minute)
	return archive.Application{
		Namespace: namespace, NamespaceUID: types.UID("ns-" + strings.TrimPrefix(namespace, "team-")), Resource: apache,
		APIVersion: "spark.apache.org/v1", Kind: "SparkApplication", Name: name, UID: types.UID(uid), Labels: map[string]string{"app": name},
		Created: created, Ended: &ended, State: "Failed", Outcome: "Failed", Message: "exit code 1",
	}
}

func (e *env) store(app archive.Application) *archive.Attempt {
	e.t.Helper()
	if err := e.archive.WriteApplication(e.t.Context(), app); err != nil {
		e.t.Fatal(err)
	}
	return e.archive.Attempt(app.ID(), app.Attempt)
}

var driverLog = archive.LogID{Pod: "etl-driver", PodUID: "pod-uid", Container: "spark-kubernetes-driver"}

const logText = "2026-01-31T12:00:00.000000001Z one\n2026-01-31T12:00:01Z two\n2026-01-31T12:00:02Z three\n"

// storeAttempt stores an application with everything that an attempt may have.
func (e *env) storeAttempt(app archive.Application) {
	e.t.Helper()
	stored := e.store(app)
	check := func(err error) {
		e.t.Helper()
		if err != nil {
			e.t.Fatal(err)
		}
	}
	objects := []archive.Object{
		{File: "application.json.gz", Kind: "SparkApplication", Name: app.Name}, {File: "pod.json.gz", Kind: "Pod", Name: "etl-driver"},
		{File: "events.json.gz", Kind: "Event", Name: app.Name}, {File: "odd.json.gz", Kind: "Secret", Name: "odd"},
		{File: "transitions.json.gz", Kind: "Transition", Name: app.Name}, {File: "conf.json.gz", Kind: "ConfigMap", Name: "conf"},
	}
	for _, object := range objects {
		check(stored.Put(e.t.Context(), []byte(`{"kind":"`+object.Kind+`"}`), "objects", object.File))
	}
	check(stored.File("logs", driverLog.Pod, string(driverLog.PodUID), driverLog.Container, "0").Append(e.t.Context(), 0, []byte(logText)))
	check(stored.File("eventlog", "eventlog_v2_spark-1", "events_1_spark-1").Append(e.t.Context(), 0, []byte("{}\n")))
	check(stored.Put(e.t.Context(), []byte(`{"seconds":60}`), "usage.json"))
	_, err := stored.WriteManifest(e.t.Context(), &archive.Manifest{
		ApplicationID: "spark-1", Began: app.Created, Ended: *app.Ended, Archived: *app.Ended, State: app.State, Outcome: app.Outcome, Message: app.Message,
		Logs:    []archive.Log{{LogID: driverLog, Role: archive.RoleDriver, Bytes: int64(len(logText)), From: &app.Created, To: app.Ended, Missing: "the beginning", BeginningMissing: true}},
		Objects: objects, Missing: []archive.Missing{{What: "log of etl-exec-1", Why: "its Pod was gone"}},
	})
	check(err)
}

// answer is what the console answers.
type answer struct {
	code   int
	body   string
	header http.Header
}

// get asks with the token that lists rights; empty for none.
func (e *env) get(path, rights string, headers ...string) answer {
	e.t.Helper()
	request, err := http.NewRequestWithContext(e.t.Context(), http.MethodGet, e.server.URL+api.Prefix+path, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	if rights != "" {
		request.Header.Set("Authorization", rights)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return answer{response.StatusCode, string(body), response.Header}
}

// client returns a client with the token that lists rights.
func (e *env) client(rights string) *api.Client {
	e.t.Helper()
	base, err := url.Parse(e.server.URL)
	if err != nil {
		e.t.Fatal(err)
	}
	return &api.Client{Base: base, HTTP: &http.Client{Transport: withToken(rights)}}
}

// withToken adds a token to requests.
type withToken string

func (w withToken) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", string(w))
	return http.DefaultTransport.RoundTrip(request)
}
