package metrics_test

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/otlptranslator"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/admission"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/crds/skew"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/kube/namespaced"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/metrics/apiserver"
	applicationmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/applications"
	"github.com/firesteel-dev/firesteel/pkg/metrics/clusters"
	kubeflowmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/metrics/schedules"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
	"github.com/firesteel-dev/firesteel/test/harness/pages"
)

//go:generate go test -run TestReferenceIsCurrent -update .

const reference = "../../docs/operators/metrics.md"

//go:embed testdata/metrics.md.tmpl
var page string

// TestReferenceIsCurrent keeps the documentation of the metrics what the code makes.
func TestReferenceIsCurrent(t *testing.T) {
	provider := &noting{}
	_, requests := apiserver.CountRequests(provider)
	_, relay := events.NewRelay(events.RelayConfig{MeterProvider: provider})
	_, applications := applicationmetrics.New(provider, "", &applicationmetrics.StateCounter{})
	_, ofSchedules := schedules.New(provider)
	_, ofClusters := clusters.New(provider, nil)
	namespaces := namespaced.New(nil, nil).Measure(provider)
	_, ofCRDs := skew.New(nil, provider)
	for _, err := range []error{requests, relay, applications, ofSchedules, ofClusters, namespaces, ofCRDs} {
		if err != nil {
			t.Fatal(err)
		}
	}
	webhook := &noting{}
	if err := admission.MeasureCertificate(webhook, nil, "", time.Now); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(provider.instruments, func(a, b instrument) int { return strings.Compare(a.Name, b.Name) })
	var want bytes.Buffer
	err := template.Must(template.New("").Parse(page)).Execute(&want, map[string]any{
		"Own": provider.instruments, "Webhook": webhook.instruments, "Kubeflow": kubeflows(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := pages.Current(reference, want.Bytes(), *golden.Update, "go generate ./pkg/metrics"); err != nil {
		t.Error(err)
	}
}

// family is a metric under a name of the Kubeflow operator.
type family struct{ Name, Kind, Help string }

// kubeflows are the metrics of which applications leave a trace: one that completes after a submission that failed, and
// one that fails.
func kubeflows(t *testing.T) []family {
	t.Helper()
	now := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	ended := func(states ...lifecycle.State) *v1beta2.SparkApplication {
		app := &v1beta2.SparkApplication{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: now}}
		record := &v1alpha1.Record{Launch: &v1alpha1.Launch{}}
		for i, state := range states {
			transition := v1alpha1.Transition{Sequence: int64(i + 1), State: string(state)}
			if state.AttemptEnded() {
				transition.End = &v1alpha1.AttemptEnd{Outcome: string(state)}
			}
			record.Transitions = append(record.Transitions, transition)
		}
		app.Status = v1beta2.SparkApplicationStatus{
			Firesteel: record, LastSubmissionAttemptTime: now, TerminationTime: now, ExecutionAttempts: 1,
			ExecutorState: map[string]v1beta2.ExecutorState{"1": v1beta2.ExecutorCompletedState, "2": v1beta2.ExecutorFailedState},
		}
		return app
	}
	apps := []*v1beta2.SparkApplication{
		ended(lifecycle.SchedulingFailure, lifecycle.ScheduledToRestart, lifecycle.DriverRequested, lifecycle.DriverStarted,
			lifecycle.Succeeded, lifecycle.ResourceReleased),
		ended(lifecycle.DriverRequested, lifecycle.Failed, lifecycle.ResourceReleased),
	}
	m, err := kubeflowmetrics.New(slices.Values(apps), settings.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	for _, app := range apps {
		m.Changed(&v1beta2.SparkApplication{}, app, now.Time)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	gathered, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var families []family
	for _, g := range gathered {
		families = append(families, family{g.GetName(), strings.ToLower(g.GetType().String()), g.GetHelp()})
	}
	return families
}

// instrument is what a test had made.
type instrument struct {
	Name, Kind, Unit, Description string
	kind                          otlptranslator.MetricType
}

// Prometheus is the name that Prometheus reads.
func (i instrument) Prometheus() (string, error) {
	namer := otlptranslator.NewMetricNamer("", otlptranslator.UnderscoreEscapingWithSuffixes)
	return namer.Build(otlptranslator.Metric{Name: i.Name, Unit: i.Unit, Type: i.kind})
}

// noting is a meter provider that notes what is made.
type noting struct {
	noop.MeterProvider
	instruments []instrument
}

func (n *noting) Meter(string, ...metric.MeterOption) metric.Meter { return &notingMeter{provider: n} }

type notingMeter struct {
	noop.Meter
	provider *noting
}

func (m *notingMeter) note(kind otlptranslator.MetricType, word, name string, config interface {
	Unit() string
	Description() string
},
) {
	m.provider.instruments = append(m.provider.instruments,
		instrument{Name: name, Kind: word, kind: kind, Unit: config.Unit(), Description: config.Description()})
}

func (m *notingMeter) Int64Counter(name string, options ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	m.note(otlptranslator.MetricTypeMonotonicCounter, "counter", name, metric.NewInt64CounterConfig(options...))
	return noop.Int64Counter{}, nil
}

func (m *notingMeter) Float64Counter(name string, options ...metric.Float64CounterOption) (metric.Float64Counter, error) {
	m.note(otlptranslator.MetricTypeMonotonicCounter, "counter", name, metric.NewFloat64CounterConfig(options...))
	return noop.Float64Counter{}, nil
}

func (m *notingMeter) Int64UpDownCounter(
	name string, options ...metric.Int64UpDownCounterOption,
) (metric.Int64UpDownCounter, error) {
	m.note(otlptranslator.MetricTypeNonMonotonicCounter, "gauge", name, metric.NewInt64UpDownCounterConfig(options...))
	return noop.Int64UpDownCounter{}, nil
}

func (m *notingMeter) Int64ObservableGauge(
	name string, options ...metric.Int64ObservableGaugeOption,
) (metric.Int64ObservableGauge, error) {
	m.note(otlptranslator.MetricTypeGauge, "gauge", name, metric.NewInt64ObservableGaugeConfig(options...))
	return noop.Int64ObservableGauge{}, nil
}

func (m *notingMeter) Float64Histogram(name string, options ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	m.note(otlptranslator.MetricTypeHistogram, "histogram", name, metric.NewFloat64HistogramConfig(options...))
	return noop.Float64Histogram{}, nil
}

// Other kinds would be made without being noted.
func (m *notingMeter) unnoted(name string) error {
	return fmt.Errorf("the reference does not know the kind of %s: teach it", name)
}

func (m *notingMeter) Int64Histogram(name string, _ ...metric.Int64HistogramOption) (metric.Int64Histogram, error) {
	return nil, m.unnoted(name)
}

func (m *notingMeter) Int64Gauge(name string, _ ...metric.Int64GaugeOption) (metric.Int64Gauge, error) {
	return nil, m.unnoted(name)
}

func (m *notingMeter) Float64Gauge(name string, _ ...metric.Float64GaugeOption) (metric.Float64Gauge, error) {
	return nil, m.unnoted(name)
}
