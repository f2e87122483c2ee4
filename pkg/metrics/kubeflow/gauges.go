package kubeflow

import (
	"iter"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// gauges count running applications and executors whenever they are read. So they are correct from the start, whatever
// happened before this process began, and for applications that were taken over from another operator.
type gauges struct {
	labels                                labels
	applications                          iter.Seq[*v1beta2.SparkApplication]
	runningApplications, runningExecutors *prometheus.Desc

	mutex sync.Mutex
	// counts are by the values of the labels. An entry stays, at zero: a series that ends keeps its last value for a while.
	counts map[string]*running
}

// running counts what runs with some values of the labels.
type running struct {
	values                  []string
	applications, executors int
}

// Describe describes both gauges.
func (g *gauges) Describe(into chan<- *prometheus.Desc) {
	into <- g.runningApplications
	into <- g.runningExecutors
}

// Collect counts running applications and executors.
func (g *gauges) Collect(into chan<- prometheus.Metric) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, count := range g.counts {
		count.applications, count.executors = 0, 0
	}
	for app := range g.applications {
		g.count(app)
	}
	for _, count := range g.counts {
		into <- prometheus.MustNewConstMetric(g.runningApplications, prometheus.GaugeValue, float64(count.applications), count.values...)
		into <- prometheus.MustNewConstMetric(g.runningExecutors, prometheus.GaugeValue, float64(count.executors), count.values...)
	}
}

func (g *gauges) count(app *v1beta2.SparkApplication) {
	counted := g.with(g.labels.ofApplication(app))
	if app.Status.AppState.State == v1beta2.RunningState {
		counted.applications++
	}
	if ended(app.Status.AppState.State) {
		return // its executors do not run either, whatever the status shows
	}
	executors := 0
	for _, state := range app.Status.ExecutorState {
		if state == v1beta2.ExecutorRunningState {
			executors++
		}
	}
	if executors > 0 {
		g.with(g.labels.ofExecutors(app)).executors += executors
	}
}

func (g *gauges) with(values []string) *running {
	key := joined(values)
	if g.counts[key] == nil {
		g.counts[key] = &running{values: values}
	}
	return g.counts[key]
}
