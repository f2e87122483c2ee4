package namespaced

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
)

const attributeNamespace = attribute.Key("k8s.namespace.name")

// settle is the time from the first namespace that is allowed until Allowed is called: the rights of several namespaces come together.
const settle = 3 * time.Second

// Namespaces are the namespaces that are read.
type Namespaces struct {
	names []string
	// allowed is called once, when a namespace that was left out can be read.
	allowed func()
	settled sync.Once

	mutex  sync.Mutex
	logger *zap.SugaredLogger
	// refusals counts the watches that each namespace refuses.
	refusals map[string]int
}

// New returns the clients' view of the namespaces. Allowed is called when a namespace that was refused at first can be read. Its objects
// are unknown until the informers start anew: an informer that runs would show old objects as new ones.
func New(names []string, allowed func()) *Namespaces {
	return &Namespaces{names: names, allowed: allowed, logger: zap.NewNop().Sugar(), refusals: map[string]int{}}
}

// LogTo sets the logger. What was refused before is logged now.
func (n *Namespaces) LogTo(logger *zap.SugaredLogger) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.logger = logger
}

// Refused returns the namespaces that refuse at least one watch.
func (n *Namespaces) Refused() []string {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return slices.Sorted(maps.Keys(n.refusals))
}

// Measure reports the namespaces that refuse as a metric.
func (n *Namespaces) Measure(provider metric.MeterProvider) error {
	_, err := provider.Meter("github.com/firesteel-dev/firesteel/pkg/metrics").Int64ObservableGauge("firesteel.namespace.refused",
		metric.WithUnit("{watch}"),
		metric.WithDescription(fmt.Sprintf("Watches that a namespace of the scope refuses, by %s; with access: namespaces.", attributeNamespace)),
		metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
			n.mutex.Lock()
			defer n.mutex.Unlock()
			for namespace, count := range n.refusals {
				observer.Observe(int64(count), metric.WithAttributes(attributeNamespace.String(namespace)))
			}
			return nil
		}))
	if err != nil {
		return fmt.Errorf("make the gauge of namespaces that refuse: %w", err)
	}
	return nil
}

// refused records that a namespace refuses a watch, until the returned function is called.
func (n *Namespaces) refused(namespace string, err error) (over func()) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.refusals[namespace]++; n.refusals[namespace] == 1 {
		n.logger.Warnw("namespace cannot be read, the others are served: create it with the Role and the RoleBinding of the controller, or "+
			"remove it from watched-namespaces of config-scope", "namespace", namespace, zap.Error(err))
	}
	return func() {
		n.mutex.Lock()
		defer n.mutex.Unlock()
		if n.refusals[namespace]--; n.refusals[namespace] == 0 {
			delete(n.refusals, namespace)
		}
	}
}

// allow has Allowed called soon.
func (n *Namespaces) allow(ctx context.Context, namespace string) {
	n.settled.Do(func() {
		n.mutex.Lock()
		n.logger.Infow("namespace can be read now", "namespace", namespace)
		n.mutex.Unlock()
		go func() {
			select {
			case <-ctx.Done():
			case <-time.After(settle):
			}
			n.allowed()
		}()
	})
}
