package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/liveapi"
	"github.com/firesteel-dev/firesteel/pkg/console/visible"
	"github.com/firesteel-dev/firesteel/test/harness/fakeclient"
)

func object(apiVersion, kind, namespace, name, spec string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if err := json.Unmarshal([]byte(`{"spec":`+spec+`}`), &o.Object); err != nil {
		panic(err)
	}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	o.SetUID(types.UID("uid-of-" + name))
	o.SetCreationTimestamp(metav1.NewTime(began))
	return o
}

const appSpec = `{"mainClass":"Main","jars":"local:///app.jar","runtimeVersions":{"sparkVersion":"4.1.0"}}`

// newLiveEnv returns a console that follows two namespaces, and the client by which its objects change.
func newLiveEnv(t *testing.T) (*env, dynamic.Interface) {
	t.Helper()
	objects := []runtime.Object{
		object("spark.apache.org/v1", "SparkApplication", "team-a", "etl", appSpec),
		object("spark.apache.org/v1", "SparkApplication", "team-b", "hidden", appSpec),
		object("spark.apache.org/v1", "SparkCluster", "team-a", "pool", `{"runtimeVersions":{"sparkVersion":"4.1.0"},"clusterTolerations":{"instanceConfig":{"initWorkers":1,"minWorkers":1,"maxWorkers":1}}}`),
		object("firesteel.dev/v1alpha1", "ScheduledSparkApplication", "team-a", "nightly", `{"schedule":"0 2 * * *","template":{"spec":`+appSpec+`}}`),
	}
	objects[0].(*unstructured.Unstructured).Object["status"] = map[string]any{"firesteel": map[string]any{
		"format": int64(1), "attempt": map[string]any{"id": int64(0), "since": began.UTC().Format("2006-01-02T15:04:05.000000Z07:00")}, "sequence": int64(0),
		"usage": map[string]any{"total": map[string]any{"driver": map[string]any{"seconds": int64(3600), "coreMilliseconds": int64(3_600_000)}}},
	}}
	client := fakeclient.NewDynamic(nil, objects...)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "etl-driver", Labels: map[string]string{"spark-role": "driver", "spark.operator/spark-app-name": "etl"},
	}}
	l := live.New(live.Options{
		Dynamic: client, Kubernetes: fake.NewClientset(pod), Clock: clock.RealClock{}, Logger: zap.NewNop().Sugar(),
		Settings: func() live.Settings {
			return live.Settings{TeamLabel: "team", Prices: live.Prices{CoreHour: 0.04, Currency: "EUR"}}
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	l.Watch(nil)
	err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return l.HasSynced() && fakeclient.WatchesAll(&client.Fake), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	e := newEnv(t)
	e.server.Close()
	e.server = httptest.NewServer(console.NewHandlerForTest(e, e, 50*time.Millisecond, (&liveapi.Live{Live: l, Views: visible.New(l, clock.RealClock{})}).Routes()...))
	t.Cleanup(e.server.Close)
	return e, client
}

const (
	listPods     = "list of pods in the namespace team-a"
	livePath     = "/live/namespaces/team-a/" + apache + "/etl"
	schedulePath = "/live/namespaces/team-a/scheduledsparkapplications.firesteel.dev/nightly"
	clusterPath  = "/live/namespaces/team-a/sparkclusters.spark.apache.org/pool"
)

// liveGuarded are paths about what runs, with rights with which they answer.
var liveGuarded = map[string]string{
	"/live":          list,
	"/live/overview": list,
	"/live/calendar": "list of scheduledsparkapplications.firesteel.dev in the namespace team-a",
	livePath:         getEtl + "; " + listPods,
	schedulePath:     "get of scheduledsparkapplications.firesteel.dev nightly in the namespace team-a",
	clusterPath:      "get of sparkclusters.spark.apache.org pool in the namespace team-a",
}

func TestWhatRunsIsServedByRights(t *testing.T) {
	e, _ := newLiveEnv(t)
	for path, rights := range liveGuarded {
		got := e.get(path, rights)
		if got.code != http.StatusOK || strings.Contains(got.body, "hidden") || strings.Contains(got.body, "team-b") || !strings.Contains(got.body, `"complete":true`) {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
		if got := e.get(path, ""); got.code != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d %s", path, got.code, got.body)
		}
	}
	if got := e.get("/live", list); !strings.Contains(got.body, `"name":"etl"`) || !strings.Contains(got.body, `"total":1`) {
		t.Errorf("the list is %s", got.body)
	}
	if got := e.get("/live", list); !strings.Contains(got.body, `"cost":{"cores":0.04,"memory":0,"gpus":0,"total":0.04,"currency":"EUR"}`) {
		t.Errorf("the list has no cost: %s", got.body)
	}
	if got := e.get("/live", "nothing"); got.code != http.StatusOK || !strings.Contains(got.body, `"total":0`) {
		t.Errorf("who may see nothing gets %d %s", got.code, got.body)
	}
	if got := e.get(livePath, getEtl+"; "+listPods); !strings.Contains(got.body, "etl-driver") {
		t.Errorf("with the right to list Pods: %s", got.body)
	}
	if got := e.get(livePath, getEtl); strings.Contains(got.body, `"role"`) || !strings.Contains(got.body, `"podsHidden":true`) {
		t.Errorf("without the right to list Pods: %s", got.body)
	}
}

func TestHiddenAndAbsentObjectsHaveTheSameAnswer(t *testing.T) {
	e, _ := newLiveEnv(t)
	for _, resource := range live.ResourceNames() {
		for _, rights := range []string{list, "get of " + resource + " absent in the namespace team-b"} {
			hidden := e.get("/live/namespaces/team-b/"+resource+"/hidden", rights)
			absent := e.get("/live/namespaces/team-b/"+resource+"/absent", rights)
			if hidden.code != http.StatusNotFound || absent.code != http.StatusNotFound || strings.ReplaceAll(hidden.body, "hidden", "absent") != absent.body {
				t.Errorf("%s: hidden is %d %s, absent is %d %s", resource, hidden.code, hidden.body, absent.code, absent.body)
			}
		}
	}
	for path, wanted := range map[string]int{
		"/live/namespaces/team-a/secrets/etl": http.StatusBadRequest, "/live?sort=odd": http.StatusBadRequest, "/live?unknown=1": http.StatusBadRequest,
		"/live/overview?since=now": http.StatusBadRequest, "/live/stream?cursor=x": http.StatusBadRequest,
	} {
		if got := e.get(path, list); got.code != wanted {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
}

func TestReviewsThatFailAreNoAnswer(t *testing.T) {
	e, _ := newLiveEnv(t)
	e.failure = access.ErrUnavailable
	for path, rights := range liveGuarded {
		if got := e.get(path, rights); got.code != http.StatusServiceUnavailable {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
}

// stream reads server-sent events.
type stream struct {
	t       *testing.T
	scanner *bufio.Scanner
}

func (e *env) stream(rights string, headers ...string) *stream {
	e.t.Helper()
	request, err := http.NewRequestWithContext(e.t.Context(), http.MethodGet, e.server.URL+"/api/firesteel/v1/live/stream", nil)
	if err != nil {
		e.t.Fatal(err)
	}
	request.Header.Set("Authorization", rights)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		e.t.Fatalf("the stream answers %s", response.Status)
	}
	return &stream{e.t, bufio.NewScanner(response.Body)}
}

// next returns the next event; empty at the end.
func (s *stream) next() (name, id, data string) {
	for s.scanner.Scan() {
		line := s.scanner.Text()
		switch {
		case strings.HasPrefix(line, "event: "):
			name = strings.TrimPrefix(line, "event: ")
		case strings.HasPrefix(line, "id: "):
			id = strings.TrimPrefix(line, "id: ")
		case strings.HasPrefix(line, "data: "):
			data = strings.TrimPrefix(line, "data: ")
		case line == "" && name != "":
			return name, id, data
		}
	}
	return "", "", ""
}

func TestStreamSendsWhatItsReaderSees(t *testing.T) {
	e, client := newLiveEnv(t)
	s := e.stream(list)
	if name, _, _ := s.next(); name != "ready" {
		t.Fatalf("the first event is %s", name)
	}
	applications := client.Resource(schema.GroupVersionResource{Group: "spark.apache.org", Version: "v1", Resource: "sparkapplications"})
	change := func(namespace, name string) {
		t.Helper()
		o := object("spark.apache.org/v1", "SparkApplication", namespace, name, appSpec)
		if _, err := applications.Namespace(namespace).Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	change("team-b", "hidden-2")
	change("team-a", "new-1")
	name, id, data := s.next()
	for name == "changes" && !strings.Contains(data, "new-1") && !strings.Contains(data, "hidden") {
		name, id, data = s.next() // what was read at first may come after the stream has begun
	}
	if name != "changes" || !strings.Contains(data, "new-1") || strings.Contains(data, "hidden") {
		t.Fatalf("the event is %s %s", name, data)
	}
	change("team-a", "new-2")
	again := e.stream(list, "Last-Event-ID", id)
	again.next() // ready
	if name, _, data = again.next(); name != "changes" || !strings.Contains(data, "new-2") || strings.Contains(data, "new-1") {
		t.Errorf("after the id %s it goes on with %s %s", id, name, data)
	}
	other := e.stream(list, "Last-Event-ID", "1")
	other.next()
	if name, _, data = other.next(); name != "reset" || strings.Contains(data, `"row"`) {
		t.Errorf("with a cursor of another replica comes %s %s", name, data)
	}
}

func TestStreamEndsWithTheToken(t *testing.T) {
	e, _ := newLiveEnv(t)
	s := e.stream(list)
	if name, _, _ := s.next(); name != "ready" {
		t.Fatalf("the first event is %s", name)
	}
	e.ended.Store(true)
	name := "ready"
	for name != "" { // changes that were under way may come; then the stream ends
		name, _, _ = s.next()
	}
}
