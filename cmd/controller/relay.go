package main

import (
	"context"
	"sync"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/injection/clients/dynamicclient"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/system"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds" // s3:// and file://
	sparkclient "github.com/firesteel-dev/firesteel/pkg/client/injection/client"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
	"github.com/firesteel-dev/firesteel/pkg/handlers"
	"github.com/firesteel-dev/firesteel/pkg/handlers/archiver"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
)

// relayFactory creates the relays of the controllers. They share the sink's settings and the limiters.
type relayFactory struct {
	binding         events.SinkBinding
	sends, requests *fairshare.Limiter
	// stores are the archives that are open.
	stores    *archive.Stores
	retention sync.Once
}

func (f *relayFactory) newRelay(
	ctx context.Context, store *config.Store, namespaces config.NamespaceLabels, owned func(events.Object) bool,
	progress func(types.NamespacedName),
) *events.Relay {
	logger := logging.FromContext(ctx)
	inProcess := func(handler string) bool { return store.Load().Handlers.InProcess(handler) }
	labels := lookup.Cached(namespaces)
	all := handlers.All(sparkclient.Get(ctx), dynamicclient.Get(ctx), store.Load, labels)
	all[archiver.Name] = archiver.NewHandler(sparkclient.Get(ctx), kubeclient.Get(ctx).CoreV1(), f.stores, store.Load, labels, clock.RealClock{})
	f.retention.Do(func() {
		follower := archiver.NewFollower(sparkclient.Get(ctx), kubeclient.Get(ctx).CoreV1(), kubeclient.Get(ctx).CoordinationV1(), system.Namespace(), f.stores,
			store.Load, labels, func() bool { return inProcess(archiver.Name) })
		go follower.Run(ctx)
		go archiver.Retain(ctx, f.stores, func() (*config.Archive, bool) { return store.Load().Archive, inProcess(archiver.Name) })
	})
	broker, err := events.NewBroker(all, inProcess)
	if err != nil {
		logger.Fatalw("cannot set up the handlers", "error", err)
	}
	relay, err := events.NewRelay(events.RelayConfig{
		Sink: f.newSink(logger), Handlers: broker, Sends: f.sends, Requests: f.requests, Owned: owned, OnProgress: progress, Logger: logger,
	})
	if err != nil {
		logger.Fatalw("cannot set up the relay", "error", err)
	}
	go relay.Run(ctx)
	return relay
}

// newSink creates the sink. It returns nil if there is none. With an invalid binding, objects with pending events keep them, and the
// controller works on all others.
func (f *relayFactory) newSink(logger *zap.SugaredLogger) events.Sink {
	sink, err := f.binding.NewSink()
	switch {
	case err != nil:
		logger.Errorw("no event is sent: correct the variable, or the SinkBinding that sets it, and start again", "error", err)
		return events.InvalidSink(err)
	case sink == nil:
		logger.Info("K_SINK is not set: events stay in this process")
	}
	return sink
}
