package console

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/firesteel-dev/firesteel/pkg/access/review"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/incluster"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/pkg/console/site"
	"github.com/firesteel-dev/firesteel/pkg/console/visible"
	"github.com/firesteel-dev/firesteel/test/harness/consolepages"
	"go.uber.org/zap"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	testclock "k8s.io/utils/clock/testing"
)

// applications is the resource of the applications of a cluster, and kinds are all that a console follows.
var (
	applications = schema.GroupVersionResource{Group: "spark.apache.org", Version: "v1", Resource: "sparkapplications"}
	kinds        = map[schema.GroupVersionResource]string{
		applications: "SparkApplicationList",
		{Group: "spark.apache.org", Version: "v1", Resource: "sparkclusters"}:                       "SparkClusterList",
		{Group: "sparkoperator.k8s.io", Version: "v1beta2", Resource: "sparkapplications"}:          "SparkApplicationList",
		{Group: "sparkoperator.k8s.io", Version: "v1beta2", Resource: "scheduledsparkapplications"}: "ScheduledSparkApplicationList",
		{Group: "spark-operator.k8s.io", Version: "v1alpha1", Resource: "sparkapplications"}:        "SparkApplicationList",
		{Group: "firesteel.dev", Version: "v1alpha1", Resource: "scheduledsparkapplications"}:       "ScheduledSparkApplicationList",
	}
)

// cluster is a console in a cluster whose API server is a stand-in. It can be away, tokens can be revoked, and rights taken. A minute of the console
// passes in two seconds.
type cluster struct {
	*testing.T
	address string
	clock   *testclock.FakeClock
	objects *dynamicfake.FakeDynamicClient
	// gone means that a proxy answers in the place of the console.
	gone   atomic.Bool
	server *httptest.Server
	// arrived are the requests that the console has answered.
	arrived requests

	mutex sync.Mutex
	away  bool
	// revoked are the tokens that are not valid any more, and hidden the namespaces that nobody may read.
	revoked, hidden []string
	watches         []watch.Interface
}

// pace is how much faster than the machine's the clock of the console is, and beat how often it goes on.
const pace, beat = 30, 10 * time.Millisecond

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{T: t, clock: testclock.NewFakeClock(consolepages.Now), objects: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds)}
	core := fake.NewClientset()
	core.PrependReactor("create", "tokenreviews", c.reviewToken)
	core.PrependReactor("create", "subjectaccessreviews", c.reviewAccess)
	for _, client := range []interface {
		PrependReactor(verb, resource string, reaction clienttesting.ReactionFunc)
		PrependWatchReactor(resource string, reaction clienttesting.WatchReactionFunc)
		Tracker() clienttesting.ObjectTracker
	}{c.objects, core} {
		client.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return c.isAway(), nil, errAway })
		client.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
			return c.watch(client.Tracker(), action)
		})
	}
	c.create("team-a", "ours")
	c.create("team-b", "theirs")
	l := live.New(live.Options{Dynamic: c.objects, Kubernetes: core, Clock: c.clock, Logger: zap.NewNop().Sugar(), Settings: func() live.Settings { return live.Settings{} }})
	go func() {
		for ticker := time.NewTicker(beat); t.Context().Err() == nil; <-ticker.C {
			c.clock.Step(beat * pace)
		}
	}()
	go l.Run(t.Context())
	l.Watch(nil)
	c.wait(l.HasSynced)
	key, _, err := session.LoadKey("")
	if err != nil {
		t.Fatal(err)
	}
	address, none := func() string { return c.address }, func() string { return "" }
	pages := site.New(site.Options{
		Source: l, Views: visible.New(l, c.clock), Clients: c, Address: address, Actions: func() bool { return true }, Drivers: site.Drivers{Live: l}, SparkUIs: none,
		HistoryServer: none, Archived: func() bool { return false }, Clock: c.clock, Logger: zap.NewNop().Sugar(),
	})
	users := incluster.NewUsers(incluster.NewNamespaces(core), review.NewReviewer(core, func() []string { return nil }, c.clock), nil, nil)
	sessions := session.New(session.Options{Key: key, Users: users, Pages: pages, Clock: c.clock, Address: address})
	handler, _ := pages.Handlers(sessions, console.NewHandler(sessions, noArchives{}, zap.NewNop().Sugar()))
	noted := c.arrived.noting(handler)
	c.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.gone.Load() {
			http.Error(w, "no console", http.StatusBadGateway)
			return
		}
		noted.ServeHTTP(w, r)
	}))
	c.server.Config.ErrorLog = log.New(io.Discard, "", 0) // connections that the browser has ended
	c.server.Start()
	c.address = c.server.URL + prefix
	t.Cleanup(func() {
		c.server.CloseClientConnections() // streams do not end by themselves
		c.server.Close()
	})
	return c
}

// wait waits until something is so.
func (c *cluster) wait(is func() bool) {
	c.Helper()
	if err := wait.PollUntilContextTimeout(c.Context(), beat, patience/2, true, func(context.Context) (bool, error) { return is(), nil }); err != nil {
		c.Fatal(err)
	}
}

// create creates an application that runs.
func (c *cluster) create(namespace, name string) {
	c.Helper()
	at := c.clock.Now().UTC().Format(metav1.RFC3339Micro)
	application := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "spark.apache.org/v1", "kind": "SparkApplication",
		"spec": map[string]any{
			"mainClass": "org.example.Main", "jars": "local:///app.jar", "runtimeVersions": map[string]any{"sparkVersion": "4.1.0"},
			"sparkConf": map[string]any{"spark.kubernetes.container.image": "spark:4.1.0"},
		},
		"status": map[string]any{"currentState": map[string]any{"currentStateSummary": "RunningHealthy"}, "firesteel": map[string]any{
			"format": int64(1), "attempt": map[string]any{"id": int64(0), "since": at}, "sequence": int64(1),
			"transitions": []any{map[string]any{"sequence": int64(1), "time": at, "attempt": int64(0), "state": "RunningHealthy"}},
		}},
	}}
	application.SetNamespace(namespace)
	application.SetName(name)
	application.SetUID(types.UID("uid-of-" + name))
	application.SetResourceVersion("1")
	application.SetGeneration(1)
	application.SetCreationTimestamp(metav1.NewTime(c.clock.Now()))
	if err := c.objects.Tracker().Create(applications, application, namespace); err != nil {
		c.Fatal(err)
	}
}

// writes returns the writes of users.
func (c *cluster) writes() (writes []string) {
	for _, action := range c.objects.Actions() {
		isWrite := slices.Contains([]string{"patch", "create", "delete", "update"}, action.GetVerb())
		if isWrite && action.GetResource().Group == applications.Group {
			writes = append(writes, action.GetVerb()+" "+action.GetResource().Resource)
		}
	}
	return writes
}

var errAway = errors.New("connection refused")

func (c *cluster) isAway() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.away
}

// leave has the API server answer nothing from now on, and end what it answers.
func (c *cluster) leave() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.away = true
	for _, open := range c.watches {
		open.Stop()
	}
	c.watches = nil
}

// comeBack has the API server answer again.
func (c *cluster) comeBack() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.away = false
}

// revoke makes a token invalid.
func (c *cluster) revoke(token string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.revoked = append(c.revoked, token)
}

// hide takes the rights in namespaces, and gives those in all others.
func (c *cluster) hide(namespaces ...string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.hidden = namespaces
}

func (c *cluster) watch(tracker clienttesting.ObjectTracker, action clienttesting.Action) (bool, watch.Interface, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.away {
		return true, nil, errAway
	}
	open, err := tracker.Watch(action.GetResource(), action.GetNamespace())
	if err == nil {
		c.watches = append(c.watches, open)
	}
	return true, open, err
}

func (c *cluster) reviewToken(action clienttesting.Action) (bool, runtime.Object, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	asked := action.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview).DeepCopy()
	asked.Status.Authenticated = !slices.Contains(c.revoked, asked.Spec.Token)
	asked.Status.User.Username = "ada"
	return true, asked, nil
}

func (c *cluster) reviewAccess(action clienttesting.Action) (bool, runtime.Object, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	asked := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
	namespace := asked.Spec.ResourceAttributes.Namespace
	asked.Status.Allowed = namespace != "" && !slices.Contains(c.hidden, namespace)
	return true, asked, nil
}

// Config returns no connection: it is a site.Clients, whose other client is the stand-in.
func (*cluster) Config(*session.Session) *rest.Config {
	return &rest.Config{Host: "https://api-server.invalid"}
}

// Of returns the stand-in.
func (c *cluster) Of(*session.Session) (dynamic.Interface, error) { return c.objects, nil }

// token returns another token each time, which ends after a time of the console.
func (c *cluster) token(life time.Duration) string {
	text := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"sub": "ada", "exp": %d, "jti": "%d"}`, c.clock.Now().Add(life).Unix(), time.Now().UnixNano())
	return text([]byte(`{"alg": "HS256"}`)) + "." + text([]byte(claims)) + "." + text([]byte("signed"))
}

// signIn fills in the form that a tab shows. It leads to the page that was asked for.
func (b *tab) signIn(token string) {
	b.Helper()
	b.until(`location.pathname === "` + prefix + `/sign-in" && document.readyState === "complete"`)
	b.run(chromedp.SendKeys("[name=token]", token), chromedp.Click("form button[type=submit]"))
	b.until(`location.pathname !== "` + prefix + `/sign-in" && document.readyState === "complete"`)
}

// live waits until a page is kept up to date.
func (b *tab) live() {
	b.Helper()
	b.until(`document.getElementById("pulse").dataset.state === "live"`)
}

// shows waits until the page has a text, or until it has not.
func (b *tab) shows(text string, shows bool) {
	b.Helper()
	b.until("document.body.innerText.includes(" + strconv.Quote(text) + ") === " + strconv.FormatBool(shows))
}

// forgive forgets what the browser said with a text.
func (b *tab) forgive(text string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.problems = slices.DeleteFunc(b.problems, func(problem string) bool { return strings.Contains(problem, text) })
}
