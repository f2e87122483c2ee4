package kubeflowapplication

import (
	"context"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	kubeflowmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow/settings"
)

// kubeflowMetrics are the metrics under the Kubeflow operator's names, of the applications that this replica leads.
type kubeflowMetrics struct {
	metrics *kubeflowmetrics.Metrics
	cache   cache.Store
	clock   clock.PassiveClock
	logger  *zap.SugaredLogger
	scope   atomic.Pointer[config.Scope]
	// namespaces returns the labels of a namespace, for the scope.
	namespaces config.NamespaceLabels
	// leads reports whether this replica leads an application; nil until there is a controller.
	leads atomic.Pointer[func(types.NamespacedName) bool]
}

// newMetrics makes the metrics of the applications in a cache.
func newMetrics(
	ctx context.Context, applications cache.Store, namespaces config.NamespaceLabels, clock clock.PassiveClock,
) *kubeflowMetrics {
	m := &kubeflowMetrics{
		cache: applications, namespaces: namespaces, clock: clock, logger: logging.FromContext(ctx).Named("metrics"),
	}
	var err error
	if m.metrics, err = kubeflowmetrics.New(m.led, settings.Defaults()); err != nil {
		m.logger.Fatalw("The metrics of the Kubeflow operator cannot be made", "error", err)
	}
	return m
}

// serve has the metrics served where the others are, whose exporter collects into the same registry:
// prometheus.DefaultRegisterer.
func (m *kubeflowMetrics) serve(registry prometheus.Registerer, impl *controller.Impl) {
	leads := impl.Reconciler.(interface {
		IsLeaderFor(app types.NamespacedName) bool
	}).IsLeaderFor
	m.leads.Store(&leads)
	registry.MustRegister(m.metrics)
}

// led goes through the applications that are this replica's to take further, as the cache has them.
func (m *kubeflowMetrics) led(yield func(*v1beta2.SparkApplication) bool) {
	scope, leads := m.scope.Load(), m.leads.Load()
	if scope == nil || leads == nil {
		return
	}
	for _, object := range m.cache.List() {
		app, ok := object.(*v1beta2.SparkApplication)
		if ok && scope.Serves(app, m.namespaces) && (*leads)(kube.KeyOf(app)) && !yield(app) {
			return
		}
	}
}

// wrote counts what a write of a status brought.
func (m *kubeflowMetrics) wrote(before, after dialect.Application) {
	m.metrics.Changed(before.(*v1beta2.SparkApplication), after.(*v1beta2.SparkApplication), m.clock.Now())
}

// follow has the metrics follow the settings.
func (m *kubeflowMetrics) follow(settings *config.Config) {
	m.scope.Store(settings.Scope)
	metrics := settings.Kubeflow.Metrics
	changed, err := m.metrics.Configure(metrics)
	switch {
	case err != nil: // config-kubeflow was checked
		m.logger.Errorw("invalid metrics settings of config-kubeflow, the previous ones stay in effect", "error", err)
	case changed:
		m.logger.Infow("metrics settings of config-kubeflow changed, these metrics begin at zero", "prefix", metrics.Prefix, "labels", metrics.Labels,
			"submitLatencyBuckets", metrics.SubmitLatencyBuckets, "startLatencyBuckets", metrics.StartLatencyBuckets)
	}
}
