package model

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	filteredfactory "knative.dev/pkg/client/injection/kube/informers/factory/filtered"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/clients/dynamicclient"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	sparkclient "github.com/firesteel-dev/firesteel/pkg/client/injection/client"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/handlers"
	"github.com/firesteel-dev/firesteel/pkg/handlers/archiver"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/launch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/earlyapplication"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/kubeflowapplication"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/sparkapplication"
)

// replica is a controller process: all that cmd/controller runs, and none of it shared with another.
type replica struct {
	connection *connection
	process    *base.Process
	stop       context.CancelFunc
	running    sync.WaitGroup
}

// election is how replicas elect their leaders: by leases with the times of config-leader-election. Two buckets let both replicas
// lead at once.
var election = leaderelection.ComponentConfig{
	Component: "controller", Buckets: 2, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
}

// startReplica starts a replica. inProcess says which handlers run in it; nil for all.
func startReplica(t *testing.T, connection *connection, sink events.Sink, inProcess func(handler string) bool) *replica {
	ctx, stop := context.WithCancel(t.Context())
	r := &replica{connection: connection, stop: stop}
	ctx = logging.WithLogger(ctx, zap.NewNop().Sugar())
	ctx = controller.WithEventRecorder(ctx, silent{})
	ctx = filteredfactory.WithSelectors(ctx, slices.Concat(applications.PodSelectors())...)
	config := connection.config()
	launch.WithoutCreateRetries(config)
	ctx, informers := injection.Default.SetupInformers(ctx, config)
	ctx = leaderelection.WithStandardLeaderElectorBuilder(ctx, kubeclient.Get(ctx), election)

	r.process = base.NewProcess(r.newRelay(t, sink, inProcess), base.Started{}, nil)
	impls := []*controller.Impl{
		sparkapplication.NewController(r.process, nil, nil)(ctx, &configmap.ManualWatcher{}),
		kubeflowapplication.NewController(r.process, nil, nil)(ctx, &configmap.ManualWatcher{}),
		earlyapplication.NewController(r.process, nil)(ctx, &configmap.ManualWatcher{}),
	}
	r.running.Go(func() {
		wait, err := controller.RunInformers(ctx.Done(), informers...)
		if err == nil {
			_ = controller.StartAll(ctx, impls...)
		}
		for _, impl := range impls { // it may have ended before its caches were filled
			impl.WorkQueue().ShutDown()
		}
		wait()
	})
	return r
}

// joinBurst lets the replica see many other applications that wait for their first reconcile, as long as it lives.
func (r *replica) joinBurst() {
	for n := range 100 {
		r.process.FirstLaunches.Set(types.UID(fmt.Sprint("another-", n)), true)
	}
}

func (r *replica) newRelay(t *testing.T, sink events.Sink, inProcess func(handler string) bool) base.NewRelay {
	return func(
		ctx context.Context, store *config.Store, namespaces config.NamespaceLabels, owned func(events.Object) bool,
		progress func(types.NamespacedName),
	) *events.Relay {
		labels := lookup.Cached(namespaces)
		all := handlers.All(sparkclient.Get(ctx), dynamicclient.Get(ctx), store.Load, labels)
		all[archiver.Name] = archiver.NewHandler(sparkclient.Get(ctx), kubeclient.Get(ctx).CoreV1(), archive.NewStores(), store.Load, labels, clock.RealClock{})
		if settings := r.connection.archive; settings != nil {
			store.OnConfigChanged(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: config.ArchiveName}, Data: settings})
			all[archiver.Name] = func(context.Context, cloudevents.Event) error { return nil }
		}
		broker, err := events.NewBroker(all, inProcess)
		if err != nil {
			t.Fatal(err)
		}
		relay, err := events.NewRelay(events.RelayConfig{
			Sink: sentBy{sink, r.connection}, Handlers: broker, Owned: owned, OnProgress: progress,
		})
		if err != nil {
			t.Fatal(err)
		}
		r.running.Go(func() { relay.Run(ctx) })
		return relay
	}
}

// terminate stops the process as SIGTERM does: it releases its leases at once, and ends the reconciles that it has begun.
func (r *replica) terminate() {
	r.stop()
	r.running.Wait()
	r.end()
}

// end kills the process, and waits until nothing of it runs.
func (r *replica) end() {
	r.connection.kill()
	r.stop()
	r.running.Wait()
	r.connection.watches.Wait()
}

// silent records no Kubernetes Events: they are no part of what must not be lost.
type silent struct{}

func (silent) Event(runtime.Object, string, string, string)          {}
func (silent) Eventf(runtime.Object, string, string, string, ...any) {}
func (silent) AnnotatedEventf(runtime.Object, map[string]string, string, string, string, ...any) {
}
