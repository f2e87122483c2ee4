package kubernetes

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

// queueBuckets are those of Kubernetes: from 10 ns to 10 s.
var queueBuckets = prometheus.ExponentialBuckets(10e-9, 10, 10)

// queues has the metrics of the work queues, by their names.
type queues struct {
	collectors
	depth, unfinished, longest *prometheus.GaugeVec
	adds, retries              *prometheus.CounterVec
	waits, work                *prometheus.HistogramVec

	mutex sync.Mutex
	// named holds the queues that have a metric of unfinished work.
	named map[string]bool
}

func newQueues() *queues {
	label := []string{"name"}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "workqueue_" + name, Help: help}, label)
	}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "workqueue_" + name, Help: help}, label)
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "workqueue_" + name, Help: help, Buckets: queueBuckets}, label)
	}
	q := &queues{
		depth:      gauge("depth", "Keys that wait in the queue, by name."),
		adds:       counter("adds_total", "Keys that were added to the queue, by name."),
		retries:    counter("retries_total", "Keys that were added again after an error, by name."),
		waits:      histogram("queue_duration_seconds", "Time that a key waited in the queue, by name."),
		work:       histogram("work_duration_seconds", "Time that the reconcile of a key took, by name."),
		unfinished: gauge("unfinished_work_seconds", "Time that the reconciles in progress have taken together, by name."),
		longest:    gauge("longest_running_processor_seconds", "Time that the longest of the reconciles in progress has taken, by name."),
		named:      map[string]bool{},
	}
	q.collectors = collectors{q.depth, q.adds, q.retries, q.waits, q.work, q.unfinished, q.longest}
	return q
}

func (q *queues) NewDepthMetric(name string) workqueue.GaugeMetric {
	return q.depth.WithLabelValues(name)
}

func (q *queues) NewAddsMetric(name string) workqueue.CounterMetric {
	return q.adds.WithLabelValues(name)
}

func (q *queues) NewRetriesMetric(name string) workqueue.CounterMetric {
	return q.retries.WithLabelValues(name)
}

func (q *queues) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return q.waits.WithLabelValues(name)
}

func (q *queues) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return q.work.WithLabelValues(name)
}

// NewUnfinishedWorkSecondsMetric returns the metric of unfinished work. Knative's queue calls it a second time for its longest
// reconcile, so that call returns the metric of the longest.
func (q *queues) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if q.named[name] {
		return q.NewLongestRunningProcessorSecondsMetric(name)
	}
	q.named[name] = true
	return q.unfinished.WithLabelValues(name)
}

func (q *queues) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return q.longest.WithLabelValues(name)
}

// bothQueues records each value with two providers.
type bothQueues [2]workqueue.MetricsProvider

func (b bothQueues) NewDepthMetric(name string) workqueue.GaugeMetric {
	return bothGauges{b[0].NewDepthMetric(name), b[1].NewDepthMetric(name)}
}

func (b bothQueues) NewAddsMetric(name string) workqueue.CounterMetric {
	return bothCounters{b[0].NewAddsMetric(name), b[1].NewAddsMetric(name)}
}

func (b bothQueues) NewRetriesMetric(name string) workqueue.CounterMetric {
	return bothCounters{b[0].NewRetriesMetric(name), b[1].NewRetriesMetric(name)}
}

func (b bothQueues) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return bothHistograms{b[0].NewLatencyMetric(name), b[1].NewLatencyMetric(name)}
}

func (b bothQueues) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return bothHistograms{b[0].NewWorkDurationMetric(name), b[1].NewWorkDurationMetric(name)}
}

func (b bothQueues) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return bothSettable{b[0].NewUnfinishedWorkSecondsMetric(name), b[1].NewUnfinishedWorkSecondsMetric(name)}
}

func (b bothQueues) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return bothSettable{b[0].NewLongestRunningProcessorSecondsMetric(name), b[1].NewLongestRunningProcessorSecondsMetric(name)}
}

type bothGauges [2]workqueue.GaugeMetric

func (b bothGauges) Inc() { b[0].Inc(); b[1].Inc() }
func (b bothGauges) Dec() { b[0].Dec(); b[1].Dec() }

type bothCounters [2]workqueue.CounterMetric

func (b bothCounters) Inc() { b[0].Inc(); b[1].Inc() }

type bothHistograms [2]workqueue.HistogramMetric

func (b bothHistograms) Observe(value float64) { b[0].Observe(value); b[1].Observe(value) }

type bothSettable [2]workqueue.SettableGaugeMetric

func (b bothSettable) Set(value float64) { b[0].Set(value); b[1].Set(value) }
