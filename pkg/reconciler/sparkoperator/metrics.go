package sparkoperator

import (
	"context"
	"iter"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/metrics"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application"
)

// kubeflowMetrics are the metrics under the Kubeflow operator's names.
type kubeflowMetrics struct {
	*metrics.Metrics
	logger *zap.SugaredLogger
}

var _ application.Metrics = kubeflowMetrics{}

// newMetrics makes the metrics, and has them served where the others are: the exporter of these collects into the same
// registry.
func newMetrics(ctx context.Context, led iter.Seq[dialect.Application]) application.Metrics {
	return newMetricsIn(ctx, led, prometheus.DefaultRegisterer)
}

func newMetricsIn(ctx context.Context, led iter.Seq[dialect.Application], registry prometheus.Registerer) application.Metrics {
	logger := logging.FromContext(ctx).Named("metrics")
	m, err := metrics.New(typed(led), kubeflow.NewDefaults().Metrics)
	if err != nil {
		logger.Fatalw("The metrics of the Kubeflow operator cannot be made", "error", err)
	}
	if err := registry.Register(m); err != nil {
		logger.Fatalw("The metrics of the Kubeflow operator cannot be served", "error", err)
	}
	return kubeflowMetrics{m, logger}
}

// typed are applications of this API.
func typed(applications iter.Seq[dialect.Application]) iter.Seq[*v1beta2.SparkApplication] {
	return func(yield func(*v1beta2.SparkApplication) bool) {
		for app := range applications {
			if !yield(app.(*v1beta2.SparkApplication)) {
				return
			}
		}
	}
}

// Written counts what a write of a status brought.
func (m kubeflowMetrics) Written(before, after dialect.Application, now time.Time) {
	m.Changed(before.(*v1beta2.SparkApplication), after.(*v1beta2.SparkApplication), now)
}

// Follow has the metrics follow the settings.
func (m kubeflowMetrics) Follow(settings *config.Config) {
	its := settings.Kubeflow.Metrics
	changed, err := m.Configure(its)
	switch {
	case err != nil: // config-kubeflow was checked
		m.logger.Errorw("The settings of the Kubeflow operator's metrics cannot be used, and what was before stays", "error", err)
	case changed:
		m.logger.Infow("The Kubeflow operator's metrics begin at zero, under the names and with the labels and buckets of the settings",
			"prefix", its.Prefix, "labels", its.Labels,
			"submitLatencyBuckets", its.SubmitLatencyBuckets, "startLatencyBuckets", its.StartLatencyBuckets)
	}
}
