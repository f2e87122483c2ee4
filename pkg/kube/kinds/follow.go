package kinds

import (
	"context"
	"time"

	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"knative.dev/pkg/logging"
)

// crds is the resource of CustomResourceDefinitions.
var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// established is how discovery is asked after a change of a CRD: the API server serves a kind some moments after its CRD is
// created. A CRD may have no version that Firesteel serves, so the tries end. The next change of the CRD begins them again.
var established = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Steps: 10}

// Run waits for the kinds that are found absent, until the context is done.
func (k *Kinds) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case absent := <-k.absences:
			go k.follow(ctx, absent)
		}
	}
}

// follow waits until an absent kind appears, and logs both.
func (k *Kinds) follow(ctx context.Context, kind *kind) {
	logger := logging.FromContext(ctx).With("kind", kind.Kind, "apiVersion", kind.GroupVersion().String(), "crd", kind.crd())
	logger.Info("kind is absent, waiting for its CRD")
	ctx = logging.WithLogger(ctx, logger)
	if k.await(ctx, kind) {
		logger.Info("kind is served")
		kind.present()
	}
}

// await returns true when discovery has a kind, and false when the context is done.
func (k *Kinds) await(ctx context.Context, kind *kind) bool {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		changed   <-chan struct{}
		forbidden <-chan error
	)
	ticker := time.NewTicker(k.period)
	defer ticker.Stop()
	period := ticker.C
	if !k.discoveryOnly {
		period = nil
		changed, forbidden = k.watch(ctx, kind)
	}
	for {
		var tries wait.Backoff
		select {
		case <-ctx.Done():
			return false
		case err := <-forbidden:
			k.reportForbidden.Do(func() {
				logging.FromContext(ctx).Warnw("CRDs cannot be watched, asking discovery for absent kinds from time to time: "+
					"allow list and watch on customresourcedefinitions, and start again",
					"period", k.period, zap.Error(err))
			})
			ticker.Reset(k.period)
			period = ticker.C
			continue
		case <-changed:
			tries = established
		case <-period:
			tries = wait.Backoff{Steps: 1}
		}
		err := wait.ExponentialBackoffWithContext(ctx, tries, func(ctx context.Context) (bool, error) {
			served, err := k.serves(ctx, kind)
			if err != nil {
				logging.FromContext(ctx).Debugw("discovery failed", zap.Error(err))
			}
			return served, nil
		})
		if err == nil {
			return true
		}
	}
}

// watch watches the CRD of a kind. changed receives after each change. forbidden receives an error if the right is missing, and
// the watch ends.
func (k *Kinds) watch(ctx context.Context, kind *kind) (changed <-chan struct{}, forbidden <-chan error) {
	changes, errs := make(chan struct{}, 1), make(chan error, 1)
	note := func(any) {
		select {
		case changes <- struct{}{}:
		default: // a change is noted already
		}
	}
	informer := metadatainformer.NewFilteredMetadataInformer(k.metadata, crds, metav1.NamespaceAll, 0, cache.Indexers{},
		func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, kind.crd()).String()
		}).Informer()
	ctx, stop := context.WithCancel(ctx)
	// Neither fails before the informer runs.
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: note, UpdateFunc: func(_, crd any) { note(crd) }})
	_ = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
		if !apierrors.IsForbidden(err) {
			cache.DefaultWatchErrorHandler(ctx, r, err)
			return
		}
		stop()
		errs <- err
	})
	go func() {
		defer stop()
		informer.RunWithContext(ctx)
	}()
	return changes, errs
}
