// Package kubeflow has the metrics of Kubeflow's spark-operator for applications of sparkoperator.k8s.io. It uses that
// operator's names and labels, so that existing dashboards and alerts continue to work.
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
	"github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow/settings"
)

// Metrics are the metrics of the applications that this process serves. They are a prometheus.Collector and do not use
// OpenTelemetry: its exporter would add the labels of the scope to each metric, and the suffix _total to each counter.
type Metrics struct {
	applications iter.Seq[*v1beta2.SparkApplication]

	mutex    sync.Mutex
	settings settings.Settings
	current  atomic.Pointer[instruments]
}

// New makes the metrics. applications are those in the cache that the process serves. The gauges count them whenever they
// are read.
func New(applications iter.Seq[*v1beta2.SparkApplication], chosen settings.Settings) (*Metrics, error) {
	m := &Metrics{applications: applications}
	_, err := m.Configure(chosen)
	return m, err
}

// Configure applies the settings to the metrics, and reports whether they changed. If they changed, all counters start again
// at zero. If the settings are invalid, nothing changes.
func (m *Metrics) Configure(chosen settings.Settings) (changed bool, err error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.current.Load() != nil && reflect.DeepEqual(m.settings, chosen) {
		return false, nil
	}
	if err := settings.Check(chosen); err != nil {
		return false, fmt.Errorf("metrics of sparkoperator.k8s.io: %w", err)
	}
	m.settings = chosen
	m.current.Store(newInstruments(chosen, m.applications))
	return true, nil
}

// Changed counts the changes of a status write. before is the application as it was read, after as it was stored, with its
// record.
func (m *Metrics) Changed(before, after *v1beta2.SparkApplication, now time.Time) {
	m.current.Load().changed(before, after, now)
}

// Describe describes nothing. A registry would bind described names to their labels, and the settings could not change them.
func (*Metrics) Describe(chan<- *prometheus.Desc) {}

// Collect collects the metrics.
func (m *Metrics) Collect(into chan<- prometheus.Metric) { m.current.Load().registry.Collect(into) }
