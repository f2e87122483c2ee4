package main

import (
	"context"

	"k8s.io/client-go/tools/cache"
	podinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	earlyinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/early/v1alpha1/sparkapplication"
	apacheinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/spark/v1/sparkapplication"
	clusterinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/spark/v1/sparkcluster"
	kubeflowinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/sparkoperator/v1beta2/sparkapplication"
)

// withProbes serves the health probes as soon as the informers have synced. It must wrap the constructor that is called last.
func (e environment) withProbes(construct injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		impl := construct(ctx, watcher)
		synced := []cache.InformerSynced{
			apacheinformer.Get(ctx).Informer().HasSynced, kubeflowinformer.Get(ctx).Informer().HasSynced,
			earlyinformer.Get(ctx).Informer().HasSynced, clusterinformer.Get(ctx).Informer().HasSynced,
		}
		drivers, _ := applications.PodSelectors()
		for _, selector := range drivers {
			synced = append(synced, podinformer.Get(ctx, selector).Informer().HasSynced)
		}
		go func() {
			if !cache.WaitForCacheSync(ctx.Done(), synced...) {
				return
			}
			if err := injection.ServeHealthProbes(ctx, e.ProbePort); err != nil {
				logging.FromContext(ctx).Fatalw("cannot serve health probes", "port", e.ProbePort, "error", err)
			}
		}()
		return impl
	}
}
