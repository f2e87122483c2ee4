package kubeflow_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	kubeflowmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow/settings"
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

// Left is a state that another operator wrote.
func (a *application) Left(state v1beta2.ApplicationStateType) *application {
	a.app.Status.AppState.State = state
	return a
}

// Went has the record go through states, and shows the last. A launch precedes the first state but Submitted and those
// that fail before it.
func (a *application) Went(states ...lifecycle.State) *application {
	written := &a.app.Status
	if written.Firesteel == nil {
		written.Firesteel = &v1alpha1.Record{}
	}
	record := written.Firesteel
	for _, state := range states {
		record.Sequence++
		transition := v1alpha1.Transition{Sequence: record.Sequence, State: string(state), Attempt: record.Attempt.ID}
		switch {
		case state == lifecycle.DriverRequested:
			record.Launch = &v1alpha1.Launch{DriverPod: "pi-driver"}
		case state == lifecycle.ScheduledToRestart:
			record.Attempt.ID++
			record.Launch, transition.Attempt = nil, record.Attempt.ID
		case state.Failure():
			transition.End = &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed}
		case state == lifecycle.Succeeded:
			transition.End = &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeSucceeded}
		}
		record.Transitions = append(record.Transitions, transition)
	}
	written.AppState.State = status.State(record)
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
	*kubeflowmetrics.Metrics
	registry *prometheus.Registry
	cache    []*v1beta2.SparkApplication
}

// newCluster makes metrics with labels and one bucket each.
func newCluster(t *testing.T, labels ...string) *cluster {
	return newClusterWith(t, settings.Settings{Labels: labels, SubmitLatencyBuckets: []float64{1}, StartLatencyBuckets: []float64{30}})
}

func newClusterWith(t *testing.T, chosen settings.Settings) *cluster {
	t.Helper()
	c := &cluster{T: t, registry: prometheus.NewRegistry()}
	var err error
	if c.Metrics, err = kubeflowmetrics.New(func(yield func(*v1beta2.SparkApplication) bool) { slices.Values(c.cache)(yield) }, chosen); err != nil {
		t.Fatal(err)
	}
	c.registry.MustRegister(c.Metrics)
	return c
}

// runThrough writes the states of an application, one second after the other.
func (c *cluster) runThrough(became ...*application) {
	for i := range became[1:] {
		c.Changed(became[i].Obj(), became[i+1].Obj(), start.Add(time.Duration(i+1)*time.Second))
	}
}

// scraped is what Prometheus reads, without the help.
func (c *cluster) scraped() string {
	c.Helper()
	file := filepath.Join(c.TempDir(), "metrics.prom")
	if err := prometheus.WriteToTextfile(file, c.registry); err != nil {
		c.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		c.Fatal(err)
	}
	var lines strings.Builder
	for line := range strings.Lines(string(text)) {
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
