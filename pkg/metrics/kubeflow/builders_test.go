package kubeflow_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow"
)

// start is when applications are created and submitted.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// application builds a SparkApplication.
type application struct{ app v1beta2.SparkApplication }

func pi() *application {
	a := &application{}
	a.app.Namespace, a.app.Name, a.app.CreationTimestamp = "team-a", "pi", metav1.NewTime(start)
	return a
}

func (a *application) Obj() *v1beta2.SparkApplication { return a.app.DeepCopy() }

func (a *application) Labels(labels map[string]string) *application {
	a.app.Labels = labels
	return a
}

func (a *application) ExecutorLabels(labels map[string]string) *application {
	a.app.Spec.Executor.Labels = labels
	return a
}

func (a *application) State(state v1beta2.ApplicationStateType) *application {
	a.app.Status.AppState.State = state
	return a
}

// Submitted says when, and how often with success.
func (a *application) Submitted(since time.Duration, executions int32) *application {
	a.app.Status.LastSubmissionAttemptTime = metav1.NewTime(start.Add(since))
	a.app.Status.ExecutionAttempts = executions
	return a
}

func (a *application) Terminated(since time.Duration) *application {
	a.app.Status.TerminationTime = metav1.NewTime(start.Add(since))
	return a
}

func (a *application) Executors(states map[string]v1beta2.ExecutorState) *application {
	a.app.Status.ExecutorState = maps.Clone(states)
	return a
}

// cluster are metrics under a registry, and the applications that they count.
type cluster struct {
	*testing.T
	*kubeflow.Metrics
	registry *prometheus.Registry
	cache    []*v1beta2.SparkApplication
}

// newCluster makes metrics with labels and one bucket each.
func newCluster(t *testing.T, labels ...string) *cluster {
	return newClusterWith(t, kubeflow.Settings{Labels: labels, SubmitLatencyBuckets: []float64{1}, StartLatencyBuckets: []float64{30}})
}

func newClusterWith(t *testing.T, settings kubeflow.Settings) *cluster {
	t.Helper()
	c := &cluster{T: t, registry: prometheus.NewRegistry()}
	var err error
	if c.Metrics, err = kubeflow.New(func() []*v1beta2.SparkApplication { return c.cache }, settings); err != nil {
		t.Fatal(err)
	}
	c.registry.MustRegister(c.Metrics)
	return c
}

// live has an application go through what it shows, each of which is written a second after the one before.
func (c *cluster) live(shown ...*application) {
	for i := range shown[1:] {
		c.Changed(shown[i].Obj(), shown[i+1].Obj(), start.Add(time.Duration(i+1)*time.Second))
	}
}

// scraped is what Prometheus reads, without the help.
func (c *cluster) scraped() string {
	c.Helper()
	response := httptest.NewRecorder()
	handler := promhttp.HandlerFor(c.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError})
	handler.ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if response.Code != http.StatusOK {
		c.Fatalf("%d %s", response.Code, response.Body)
	}
	var lines strings.Builder
	for line := range strings.Lines(response.Body.String()) {
		if !strings.HasPrefix(line, "# HELP ") {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

// samples are the values that are scraped and whose names begin so, without that beginning.
func (c *cluster) samples(prefix string) map[string]string {
	c.Helper()
	samples := map[string]string{}
	for line := range strings.Lines(c.scraped()) {
		rest, found := strings.CutPrefix(strings.TrimSpace(line), prefix)
		if name, value, _ := strings.Cut(rest, " "); found {
			samples[name] = value
		}
	}
	return samples
}
