// Package kubeflow has the metrics of Kubeflow's spark-operator about applications of sparkoperator.k8s.io, under its names
// and with its labels, so that the dashboards and alerts made for it go on.
package kubeflow

import (
	"fmt"
	"iter"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// Metrics are the metrics of the applications that this process works for. They are those of a prometheus.Collector, and
// not OpenTelemetry's, whose exporter would give each the labels of its scope, and each counter the suffix _total.
type Metrics struct {
	applications iter.Seq[*v1beta2.SparkApplication]

	mutex    sync.Mutex
	settings Settings
	current  atomic.Pointer[instruments]
}

// New makes the metrics. applications are those that the process works for, as its cache has them; the gauges count them
// whenever they are read.
func New(applications iter.Seq[*v1beta2.SparkApplication], settings Settings) (*Metrics, error) {
	m := &Metrics{applications: applications}
	_, err := m.Configure(settings)
	return m, err
}

// Configure applies the settings to the metrics, and reports whether they changed: then all counters start again
// at zero. If the settings are invalid, everything stays unchanged.
func (m *Metrics) Configure(settings Settings) (changed bool, err error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.current.Load() != nil && reflect.DeepEqual(m.settings, settings) {
		return false, nil
	}
	if err := check(settings); err != nil {
		return false, fmt.Errorf("metrics of sparkoperator.k8s.io: %w", err)
	}
	m.settings = settings
	m.current.Store(newInstruments(settings, m.applications))
	return true, nil
}

// Changed counts what a write of an application's status brought. before is the application as it was read, after as it
// was stored, with its record.
func (m *Metrics) Changed(before, after *v1beta2.SparkApplication, now time.Time) {
	m.current.Load().changed(before, after, now)
}

// Describe describes nothing, so that the settings may change under a registry that would hold names to their labels.
func (*Metrics) Describe(chan<- *prometheus.Desc) {}

// Collect collects the metrics.
func (m *Metrics) Collect(into chan<- prometheus.Metric) { m.current.Load().registry.Collect(into) }
