package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

var errRefused = errors.New("dial tcp 127.0.0.1:6443: connection refused")

// connection is a replica's way to the server: it takes its time, fails, and ends with the replica's life. Real
// clients use it as the transport of their requests.
type connection struct {
	// archive is the data of the ConfigMap config-archive; nil for the defaults. No handler archives anything.
	archive map[string]string
	server  *server
	calm    func() bool

	mu     sync.Mutex
	random *rand.Rand
	dead   bool
	// wakes is when the process goes on if it is paused.
	wakes time.Time
	// slow is how long a request takes beside its latency; nil if that is random.
	slow func(*http.Request) time.Duration
	// crash is closed when the process dies.
	crash   chan struct{}
	watches sync.WaitGroup
}

func newConnection(s *server, calm func() bool, random *rand.Rand) *connection {
	return &connection{server: s, calm: calm, random: random, crash: make(chan struct{})}
}

func (c *connection) config() *rest.Config {
	return &rest.Config{Host: "http://model", Transport: c, QPS: -1}
}

func (c *connection) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dead {
		c.dead = true
		close(c.crash)
	}
}

func (c *connection) isDead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

func (c *connection) intn(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

// latency takes the time of a request, and hardly ever the same: so the order of what happens is the seed's.
func (c *connection) latency() {
	time.Sleep(time.Duration(1+c.intn(20_000_000)) * time.Nanosecond)
}

// lag is how late a watch is: mostly little, at times so much that decisions are made on what is long past.
func (c *connection) lag() time.Duration {
	if !c.calm() && c.intn(10) == 0 {
		return time.Duration(c.intn(20_000_000_000)) * time.Nanosecond
	}
	return time.Duration(1+c.intn(100_000_000)) * time.Nanosecond
}

// pause stops the process for a while, as a busy node, a frozen container or a swapped-out page does. The server goes on with
// what it was asked before. Timers of the process fire meanwhile, and none of its requests leaves.
func (c *connection) pause() {
	if c.calm() || c.intn(300) > 0 {
		return
	}
	length := time.Duration(c.intn(40_000_000_000))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wakes.Before(time.Now()) {
		c.wakes = time.Now().Add(length)
	}
}

// awake waits until the process is not paused.
func (c *connection) awake() {
	c.mu.Lock()
	wakes := c.wakes
	c.mu.Unlock()
	time.Sleep(time.Until(wakes))
}

// RoundTrip executes a request, unless a fault occurs before or after it. The response waits for a paused process.
func (c *connection) RoundTrip(request *http.Request) (*http.Response, error) {
	c.awake()
	if err := c.travel(request); err != nil {
		return nil, err
	}
	response, err := c.serveOne(request)
	c.pause()
	c.awake()
	return response, err
}

// travel takes a request to the server, mostly at once. A server may be slow: until it writes, it drops a request whose client
// does not wait any more.
func (c *connection) travel(request *http.Request) error {
	c.latency()
	slow := time.Duration(0)
	switch {
	case c.slow != nil:
		slow = c.slow(request)
	case !c.calm() && c.intn(60) == 0:
		slow = time.Duration(c.intn(12_000_000_000))
	}
	select {
	case <-time.After(slow):
		return request.Context().Err()
	case <-request.Context().Done():
		return request.Context().Err()
	}
}

func (c *connection) serveOne(request *http.Request) (*http.Response, error) {
	if c.isDead() {
		return nil, errRefused
	}
	if request.URL.Query().Get("watch") == "true" {
		return c.watch(request), nil
	}
	k, _ := parse(request.URL.Path)
	writes := request.Method != http.MethodGet
	trouble := c.intn(60)
	if k.resource == leases && trouble > 3 {
		trouble = -1 // there are so many of these requests that a process would hardly live
	}
	switch {
	case c.calm():
	case trouble == 0:
		return answer(nil, apierrors.NewInternalError(errors.New("etcd took too long")))
	case trouble == 1:
		return answer(nil, apierrors.NewTooManyRequests("later", 1))
	case trouble == 2 && writes:
		return answer(nil, apierrors.NewConflict(groupResource(key{}), "", errors.New("another client was faster")))
	case trouble == 3:
		_, _ = c.perform(request)
		return nil, errors.New("read tcp: connection reset by peer")
	case trouble == 4 && writes:
		c.kill() // before the write
		return nil, errRefused
	case trouble == 6 && request.Method == http.MethodPost:
		return answer(nil, apierrors.NewForbidden(groupResource(key{}), "", errors.New("a webhook refuses it")))
	case trouble == 5 && writes:
		_, _ = c.perform(request)
		c.kill() // right after it
		return nil, errRefused
	}
	return answer(c.perform(request))
}

// answer is an HTTP response with an object, or with the server's word on why there is none.
func answer(result any, err error) (*http.Response, error) {
	code := http.StatusOK
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status):
		refusal := status.Status()
		refusal.Kind, refusal.APIVersion = "Status", "v1"
		code, result = int(refusal.Code), refusal
	case err != nil:
		return nil, err
	}
	text, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if code == http.StatusTooManyRequests {
		header.Set("Retry-After", "1")
	}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(bytes.NewReader(text))}, nil
}

// parse reads /api/v1/namespaces/a/pods/b/status, or the same under /apis/group/version; a list has no name. Resources
// of a group are named with it: sparkapplications.spark.apache.org.
func parse(path string) (k key, subresource string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	skip, group := 2, ""
	if parts[0] == "apis" {
		skip, group = 3, "."+parts[1]
	}
	parts = parts[skip:]
	if parts[0] == "namespaces" && len(parts) > 2 {
		k.namespace, parts = parts[1], parts[2:]
	}
	k.resource = parts[0] + group
	if len(parts) > 1 {
		k.name = parts[1]
	}
	if len(parts) > 2 {
		subresource = parts[2]
	}
	return k, subresource
}

func (c *connection) perform(request *http.Request) (any, error) {
	k, subresource := parse(request.URL.Path)
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
	}
	switch request.Method {
	case http.MethodGet:
		if k.name == "" {
			return c.list(k.resource, request)
		}
		return c.server.get(k)
	case http.MethodPost:
		given, err := decode(k.resource, body)
		if err != nil {
			return nil, err
		}
		k.name = given.GetName()
		return c.server.create(k, given)
	case http.MethodPut:
		given, err := decode(k.resource, body)
		if err != nil {
			return nil, err
		}
		return c.server.update(k, given, subresource)
	case http.MethodPatch:
		return c.server.patch(k, body, subresource)
	default:
		options, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, &metav1.DeleteOptions{})
		if err != nil {
			return nil, err
		}
		return metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}},
			c.server.delete(k, *options.(*metav1.DeleteOptions))
	}
}

func decode(resource string, body []byte) (object, error) {
	if app := newApplication(resource); app != nil {
		return app, json.Unmarshal(body, app)
	}
	decoded, kind, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil, err
	}
	decoded.GetObjectKind().SetGroupVersionKind(*kind)
	return decoded.(object), nil
}

func (c *connection) list(resource string, request *http.Request) (any, error) {
	selects, err := selecting(request)
	if err != nil {
		return nil, err
	}
	found, revision := c.server.list(resource, selects)
	return map[string]any{
		"kind": kinds[resource].Kind + "List", "apiVersion": kinds[resource].APIVersion, "items": found,
		"metadata": metav1.ListMeta{ResourceVersion: strconv.FormatInt(revision, 10)},
	}, nil
}

// kinds are those of the resources that are listed and watched.
var kinds = map[string]metav1.TypeMeta{
	apaches:   {Kind: "SparkApplication", APIVersion: sparkv1.SchemeGroupVersion.String()},
	kubeflows: {Kind: "SparkApplication", APIVersion: v1beta2.SchemeGroupVersion.String()},
	earlies:   {Kind: "SparkApplication", APIVersion: earlyv1alpha1.SchemeGroupVersion.String()},
	pods:      {Kind: "Pod", APIVersion: "v1"},
}

// newApplication is an empty one of a resource; nil if that is not one of applications.
func newApplication(resource string) dialect.Application {
	switch resource {
	case apaches:
		return &sparkv1.SparkApplication{}
	case kubeflows:
		return &v1beta2.SparkApplication{}
	case earlies:
		return &earlyv1alpha1.SparkApplication{}
	default:
		return nil
	}
}

func selecting(request *http.Request) (func(object) bool, error) {
	selector, err := labels.Parse(request.URL.Query().Get("labelSelector"))
	if err != nil {
		return nil, err
	}
	named, err := fields.ParseSelector(request.URL.Query().Get("fieldSelector"))
	if err != nil {
		return nil, err
	}
	return func(o object) bool {
		return selector.Matches(labels.Set(o.GetLabels())) && named.Matches(fields.Set{metav1.ObjectNameField: o.GetName()})
	}, nil
}

// watch serves a watch from the log, late, until it is cut.
func (c *connection) watch(request *http.Request) *http.Response {
	k, _ := parse(request.URL.Path)
	revision, _ := strconv.ParseInt(request.URL.Query().Get("resourceVersion"), 10, 64)
	selects, _ := selecting(request)
	reader, writer := io.Pipe()
	c.watches.Go(func() {
		defer writer.Close()
		if request.URL.Query().Get("sendInitialEvents") == "true" {
			revision = c.sendInitial(writer, k.resource, selects)
		}
		c.serve(writer, k.resource, revision, selects, request.Context().Done())
	})
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: reader}
}

// sendInitial sends what there is, and the bookmark that says that this was all.
func (c *connection) sendInitial(to io.Writer, resource string, selects func(object) bool) int64 {
	found, revision := c.server.list(resource, selects)
	for _, o := range found {
		send(to, watch.Added, o)
	}
	end := &metav1.PartialObjectMetadata{TypeMeta: kinds[resource]}
	end.ResourceVersion = strconv.FormatInt(revision, 10)
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	send(to, watch.Bookmark, end)
	return revision
}

// send returns false if the watch has ended.
func send(to io.Writer, kind watch.EventType, o object) bool {
	text, err := json.Marshal(map[string]any{"type": kind, "object": o})
	if err != nil {
		return false
	}
	_, err = to.Write(text)
	return err == nil
}

func (c *connection) serve(to io.Writer, resource string, revision int64, selects func(object) bool, done <-chan struct{}) {
	for {
		changes, more := c.server.after(resource, revision)
		for _, change := range changes {
			select {
			case <-time.After(c.lag()):
			case <-done:
			case <-c.crash:
			}
			c.awake()
			revision = change.revision
			if c.isDead() || !c.calm() && c.intn(100) == 0 {
				return // cut
			}
			if kind, shown := change.shownBy(selects); shown != nil && !send(to, kind, shown) {
				return
			}
		}
		select {
		case <-more:
		case <-done:
			return
		case <-c.crash:
			return
		}
	}
}
