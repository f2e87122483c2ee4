package kinds

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
)

const (
	groupsPath   = "/apis"
	versionPath  = "/apis/spark.apache.org/v1"
	clustersPath = "/apis/spark.apache.org/v1/sparkclusters"
	crdsPath     = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

// apiserver is an API server in memory whose only kind, if it has any, is SparkCluster.
type apiserver struct {
	mutex sync.Mutex
	// crd is the resource version of the CRD; 0 if there is none.
	crd int
	// served reports whether the kind is served, and cluster whether there is one.
	served, cluster bool
	// hidden is how often discovery is yet to answer without the kind, though it is served.
	hidden int
	// cuts counts how often all watches were ended.
	cuts int
	// answers are statuses for paths, in the place of what the API server has: one for each request, and the last for all more.
	answers map[string][]int
	// discoveryOnly has the kinds not watch CRDs.
	discoveryOnly bool
	// requests counts the requests for each path.
	requests map[string]int
	// changed is closed at each change.
	changed chan struct{}
}

func newAPIServer() *apiserver {
	return &apiserver{answers: map[string][]int{}, requests: map[string]int{}, changed: make(chan struct{})}
}

// set changes what the API server has.
func (a *apiserver) set(change func(*apiserver)) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	change(a)
	close(a.changed)
	a.changed = make(chan struct{})
}

// requests is the number of requests for a path.
func (a *apiserver) countRequests(path string) int {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.requests[path]
}

// RoundTrip answers a request.
func (a *apiserver) RoundTrip(request *http.Request) (*http.Response, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	path := request.URL.Path
	a.requests[path]++
	status := http.StatusOK
	if given := a.answers[path]; len(given) > 0 {
		if status = given[0]; len(given) > 1 {
			a.answers[path] = given[1:]
		}
	}
	known := path == groupsPath || path == crdsPath || a.served
	if status == http.StatusOK && !known {
		status = http.StatusNotFound
	}
	switch {
	case status != http.StatusOK:
		reason := map[int]metav1.StatusReason{
			http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusNotFound: metav1.StatusReasonNotFound,
		}[status]
		refusal := okResponse(request, text(encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Code: int32(status), Reason: reason, Message: "the test says " + string(reason),
		})))
		refusal.StatusCode = status
		return refusal, nil
	case path == groupsPath:
		return okResponse(request, text(a.groups())), nil
	case path == versionPath:
		return okResponse(request, text(`{"kind":"APIResourceList","apiVersion":"v1","resources":[{"name":"sparkclusters"}]}`)), nil
	case request.URL.Query().Get("watch") == "":
		return okResponse(request, text(`{"apiVersion":"spark.apache.org/v1","kind":"SparkClusterList","metadata":{"resourceVersion":"7"},"items":[`+a.clusters()+`]}`)), nil
	case path == clustersPath:
		return okResponse(request, a.stream(request, a.served, a.streamedClusters)), nil
	default:
		return okResponse(request, a.stream(request, true, a.streamedCRDs)), nil
	}
}

func text(body string) io.ReadCloser { return io.NopCloser(strings.NewReader(body)) }

func (a *apiserver) groups() string {
	if a.hidden--; !a.served || a.hidden >= 0 {
		return `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`
	}
	return `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"spark.apache.org","versions":[{"groupVersion":"spark.apache.org/v1"}]}]}`
}

func (a *apiserver) clusters() string {
	if !a.cluster {
		return ""
	}
	return `{"apiVersion":"spark.apache.org/v1","kind":"SparkCluster","metadata":{"name":"c","namespace":"team-a","resourceVersion":"7"}}`
}

func (a *apiserver) streamedClusters() (object string, more bool) { return a.clusters(), a.served }

func (a *apiserver) streamedCRDs() (object string, more bool) {
	if a.crd == 0 {
		return "", true
	}
	return fmt.Sprintf(`{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":"sparkclusters.spark.apache.org","resourceVersion":"%d"}}`, a.crd), true
}

// stream is the body of a watch of at most one object. It ends when there is no more of it. The mutex is held.
func (a *apiserver) stream(request *http.Request, more bool, object func() (string, bool)) io.ReadCloser {
	reader, writer := io.Pipe()
	ctx, cancel := context.WithCancel(request.Context())
	kind := `"apiVersion":"spark.apache.org/v1","kind":"SparkCluster"`
	if request.URL.Path == crdsPath {
		kind = `"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata"`
	}
	last, changed, cuts := "", a.changed, a.cuts
	next, _ := object()
	begin := ""
	if request.URL.Query().Get("sendInitialEvents") == "true" {
		begin = `{"type":"BOOKMARK","object":{` + kind + `,"metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}}}`
	}
	go func() {
		defer writer.Close()
		for more {
			if next != last && next != "" {
				name := watch.Modified
				if last == "" {
					name = watch.Added
				}
				_, _ = io.WriteString(writer, `{"type":"`+string(name)+`","object":`+next+"}\n")
			}
			if last = next; begin != "" {
				_, _ = io.WriteString(writer, begin+"\n")
				begin = ""
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
			a.mutex.Lock()
			changed = a.changed
			next, more = object()
			more = more && a.cuts == cuts
			a.mutex.Unlock()
		}
	}()
	return waiting{reader, cancel}
}

// listOnly has informers list, as those do whose API server cannot stream lists.
type listOnly bool

func (l listOnly) IsWatchListSemanticsUnSupported() bool { return bool(l) }

// informer runs an informer of SparkClusters above the transport, and what follows the kinds.
func (a *apiserver) informer(t *testing.T, lists listOnly) cache.SharedIndexInformer {
	t.Helper()
	config := &rest.Config{Host: "http://apiserver", Transport: a, QPS: -1}
	installed, err := New(config, DiscoveryPeriod)
	if err != nil {
		t.Fatal(err)
	}
	if a.discoveryOnly {
		installed.DiscoveryOnly()
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go installed.Run(ctx)
	config.Wrap(installed.Wrap)
	connections, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	clients, err := kube.NewClients(config, connections, codec.Firesteel)
	if err != nil {
		t.Fatal(err)
	}
	clusters := clients.SparkV1().SparkClusters(metav1.NamespaceAll)
	informer := cache.NewSharedIndexInformer(kube.NewSource(lists, clusters.List, clusters.Watch)(func(*metav1.ListOptions) {}), &sparkv1.SparkCluster{}, 0, cache.Indexers{})
	go informer.RunWithContext(ctx)
	return informer
}
