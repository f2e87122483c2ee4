// Package skew reports CustomResourceDefinitions in the cluster that are not of this version of Firesteel.
package skew

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/crds"
)

// Reporter reports them in the log and by a metric.
type Reporter struct {
	client metadata.Interface
	// own are the schemas of this version, and running is its name.
	own     map[string]string
	running string

	mutex sync.Mutex
	// last is the schema of each CRD in the cluster that is not of this version.
	last map[string]string
}

// New returns a Reporter, and registers its metric.
func New(client metadata.Interface, provider metric.MeterProvider) (*Reporter, error) {
	own, err := crds.Schemas()
	if err != nil {
		return nil, err
	}
	r := &Reporter{client: client, own: own, running: version.String(), last: map[string]string{}}
	_, err = provider.Meter("github.com/firesteel-dev/firesteel/pkg/crds/skew").Int64ObservableGauge("firesteel.crds.mismatched",
		metric.WithDescription("CRDs in the cluster that are not of this version of Firesteel."), metric.WithUnit("{crd}"),
		metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
			r.mutex.Lock()
			defer r.mutex.Unlock()
			observer.Observe(int64(len(r.last)))
			return nil
		}))
	return r, err
}

// Run watches the CRDs until the context is done.
func (r *Reporter) Run(ctx context.Context, logger *zap.SugaredLogger) {
	var forbidden sync.Once
	var informers sync.WaitGroup
	for name := range r.own {
		informers.Go(func() {
			r.follow(ctx, name, logger, func(err error) {
				forbidden.Do(func() {
					logger.Infow("CRDs cannot be watched: whether they are of this version is not known", zap.Error(err))
				})
			})
		})
	}
	informers.Wait()
}

// follow watches one CRD: the role of the controller allows no other watch.
func (r *Reporter) follow(ctx context.Context, name string, logger *zap.SugaredLogger, forbidden func(error)) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	informer := metadatainformer.NewFilteredMetadataInformer(r.client, apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"),
		metav1.NamespaceAll, 0, cache.Indexers{}, func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
		}).Informer()
	see := func(object any) {
		if crd, ok := object.(metav1.Object); ok {
			r.compare(crd, logger)
		}
	}
	// Neither fails before the informer runs.
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: see, UpdateFunc: func(_, now any) { see(now) }, DeleteFunc: func(any) { r.forget(name) },
	})
	_ = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		if !apierrors.IsForbidden(err) {
			cache.DefaultWatchErrorHandler(ctx, reflector, err)
			return
		}
		forbidden(err)
		stop()
	})
	informer.RunWithContext(ctx)
}

func (r *Reporter) forget(name string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.last, name)
}

// compare logs whether a CRD is of this version, if that changed.
func (r *Reporter) compare(crd metav1.Object, logger *zap.SugaredLogger) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	name, schema := crd.GetName(), crd.GetAnnotations()[crds.AnnotationSchema]
	last, differed := r.last[name]
	switch {
	case schema == r.own[name] && differed:
		delete(r.last, name)
		logger.Infow("CRD is of this version", "crd", name)
	case schema != r.own[name] && (!differed || last != schema):
		r.last[name] = schema
		logger.Warnw("CRD is not of this version", "crd", name, "detail", crds.Skew(crd, r.running))
	}
}
