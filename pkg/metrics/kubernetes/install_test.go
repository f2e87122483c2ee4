package kubernetes_test

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	kubernetesmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/kubernetes"
	"github.com/firesteel-dev/firesteel/pkg/metrics/metricstest"
)

// blocking is a reconciler that waits until it may end. Its first reconcile fails.
type blocking struct {
	reconciler.LeaderAwareFuncs
	started, end chan struct{}
	failed       bool
}

func (b *blocking) Reconcile(context.Context, string) error {
	b.started <- struct{}{}
	<-b.end
	if !b.failed {
		b.failed = true
		return errors.New("once")
	}
	return nil
}

// bucket is a bucket of an election.
type bucket string

func (b bucket) Name() string                { return string(b) }
func (bucket) Has(types.NamespacedName) bool { return true }

var registry, knative = prometheus.NewRegistry(), metricstest.NewReader()

// installed are the metrics of this process. It has no others.
var installed = sync.OnceValues(func() (kubernetesmetrics.Leaders, error) {
	return kubernetesmetrics.Install(registry, knative.Provider())
})

func TestQueuesClientsAndLeasesHaveKubernetesNamesBesideKnatives(t *testing.T) {
	leaders, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	run := rand.Text() // with -count, the process has the metrics of earlier runs
	queue, leaseA, leaseB := "pis-"+run, bucket("a-"+run), bucket("b-"+run)

	r := &blocking{started: make(chan struct{}), end: make(chan struct{})}
	impl := leaders.Wrap(func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		return controller.NewContext(ctx, r, controller.ControllerOptions{WorkQueueName: queue, Logger: zap.NewNop().Sugar()})
	})(t.Context(), nil)
	ctx, stop := context.WithCancel(t.Context())
	running := make(chan error)
	go func() { running <- impl.RunContext(ctx, 1) }()
	impl.EnqueueKey(types.NamespacedName{Namespace: "team-a", Name: "pi"})
	<-r.started
	until(t, "the unfinished reconcile shows", func() bool {
		return value(t, "workqueue_unfinished_work_seconds", queue) > 0 &&
			value(t, "workqueue_longest_running_processor_seconds", queue) > 0
	})
	r.end <- struct{}{}
	<-r.started // again, after the error
	r.end <- struct{}{}
	until(t, "the second reconcile has ended", func() bool {
		return value(t, "workqueue_work_duration_seconds", queue) == 2
	})
	stop()
	if err := <-running; err != nil {
		t.Error(err)
	}

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer server.Close()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range []string{"one", "two"} {
		if _, err := client.CoreV1().Pods("team-a").Get(t.Context(), pod, metav1.GetOptions{}); err == nil {
			t.Error("the server answered 403")
		}
	}

	aware := impl.Reconciler.(reconciler.LeaderAware)
	for _, lease := range []bucket{leaseA, leaseB, ""} { // without an election the bucket has no name
		if err := aware.Promote(lease, nil); err != nil {
			t.Fatal(err)
		}
	}
	aware.Demote(leaseB)

	host := strings.TrimPrefix(server.URL, "http://")
	want := map[string]float64{
		"workqueue_depth name=" + queue:                                    0,
		"workqueue_adds_total name=" + queue:                               2,
		"workqueue_retries_total name=" + queue:                            1,
		"workqueue_queue_duration_seconds name=" + queue:                   2,
		"workqueue_work_duration_seconds name=" + queue:                    2,
		"rest_client_requests_total code=403 host=" + host + " method=GET": 2,
		"rest_client_request_duration_seconds host=" + host + " verb=GET":  2,
		"leader_election_master_status name=" + leaseA.Name():              1,
		"leader_election_master_status name=" + leaseB.Name():              0,
	}
	got := metricstest.Served(t, registry)
	maps.DeleteFunc(got, func(series string, _ float64) bool {
		changing := strings.Contains(series, "unfinished") || strings.Contains(series, "longest")
		return changing || !strings.Contains(series, run) && !strings.Contains(series, host)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	for _, name := range []string{"kn.workqueue.adds", "kn.workqueue.process.duration", "http.client.request.duration", "kn.k8s.client.http.response.status_code"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(knative.Values(t))), func(series string) bool { return strings.HasPrefix(series, name) }) {
			t.Errorf("Knative's %s is not there", name)
		}
	}
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		return holds(), nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func value(t *testing.T, metric, queue string) float64 {
	t.Helper()
	return metricstest.Served(t, registry)[metric+" name="+queue]
}
