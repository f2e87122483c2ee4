// The controller runs the reconcilers and, unless config-handlers says otherwise, the handlers. It sends events
// to $K_SINK where that is set.
package main

import (
	"context"
	"flag"
	"log"
	"slices"

	"github.com/kelseyhightower/envconfig"
	"go.opentelemetry.io/otel"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	podinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered"
	filteredfactory "knative.dev/pkg/client/injection/kube/informers/factory/filtered"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/clients/dynamicclient"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/signals"
	"knative.dev/pkg/system"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	sparkclient "github.com/firesteel-dev/firesteel/pkg/client/injection/client"
	apacheinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/spark/v1/sparkapplication"
	clusterinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/spark/v1/sparkcluster"
	kubeflowinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/sparkoperator/v1beta2/sparkapplication"
	"github.com/firesteel-dev/firesteel/pkg/cluster/masterui"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/config/knative"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
	"github.com/firesteel-dev/firesteel/pkg/handlers"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/kube/kinds"
	"github.com/firesteel-dev/firesteel/pkg/metrics/apiserver"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate/fetch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/kubeflowapplication"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/schedule"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/sparkapplication"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/sparkcluster"
	"github.com/firesteel-dev/firesteel/pkg/redact/redactlog"
)

// environment is what the process is told by variables.
type environment struct {
	events.SinkBinding
	// ProbePort is where the kubelet asks for the health.
	ProbePort int `envconfig:"PROBE_PORT" default:"8080"`
}

func main() {
	var env environment
	if err := envconfig.Process("", &env); err != nil {
		log.Fatal(err)
	}
	drivers, executors := applications.PodSelectors()
	ctx := filteredfactory.WithSelectors(signals.NewContext(), slices.Concat(drivers, executors)...)
	tuneGarbageCollector()
	local := flag.Bool("local", false, "Run outside the cluster as the only controller: no leader election, no health probes.")
	config := injection.ParseAndGetRESTConfigOrDie()
	if config.QPS == 0 {
		config.QPS = -1 // the API server's Priority and Fairness is the limit
	}
	config.UserAgent = rest.DefaultKubernetesUserAgent() // audit logs and managed fields name who wrote
	application.WithoutCreateRetries(config)
	kube.WithFreshWatches(config)
	counted, err := apiserver.CountRequests(otel.GetMeterProvider())
	if err != nil {
		log.Fatal(err)
	}
	config.Wrap(counted)
	if err := checkKnativeConfigMaps(ctx, config); err != nil {
		log.Fatalf("invalid configuration: correct the ConfigMap and start again: %v", err)
	}
	masters, err := newMasterReader(config)
	if err != nil {
		log.Fatal(err)
	}
	installed, err := kinds.New(config, kinds.DiscoveryPeriod)
	if err != nil {
		log.Fatal(err)
	}
	injection.Default.RegisterClient(withClients(installed))
	fetch := fetch.New().Fetch
	process := base.NewProcess(relays{env.SinkBinding, events.NewLimiter(), events.NewLimiter()}.newRelay)
	constructors := controllers(process, masters.Read, fetch)
	constructors[0] = following(installed, constructors[0])
	if *local {
		ctx = sharedmain.WithHADisabled(ctx)
	} else {
		last := len(constructors) - 1
		constructors[last] = env.withProbes(constructors[last])
	}
	for i, constructor := range constructors {
		constructors[i] = redactingLogs(constructor)
	}
	// Its own probes have a port that cannot be chosen.
	sharedmain.MainWithConfig(sharedmain.WithHealthProbesDisabled(ctx), "controller", config, constructors...)
}

// controllers returns the constructors of all controllers.
func controllers(process *base.Process, read masterui.Read, fetch podtemplate.Fetch) []injection.ControllerConstructor {
	return append(schedule.NewControllers(process),
		sparkcluster.NewController(process, read),
		sparkapplication.NewController(process, fetch, schedule.AwaitsOfApaches),
		kubeflowapplication.NewController(process, fetch, schedule.AwaitsOfKubeflows))
}

// redactingLogs has a controller log no values of secrets.
func redactingLogs(constructor injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		logger := logging.FromContext(ctx).WithOptions(redactlog.Option())
		return constructor(logging.WithLogger(ctx, logger), watcher)
	}
}

// clientset are Firesteel's own clients as informers and reconcilers want them.
type clientset struct {
	kube.Clients
	discovery discovery.DiscoveryInterface
}

func (c clientset) Discovery() discovery.DiscoveryInterface { return c.discovery }

// withClients has informers and reconcilers use Firesteel's own clients, in the place of the generated ones: what is
// registered last is used. Their informers sync without the kinds that are absent.
func withClients(installed *kinds.Kinds) injection.ClientInjector {
	return func(ctx context.Context, cluster *rest.Config) context.Context {
		cluster = rest.CopyConfig(cluster)
		cluster.Wrap(installed.Wrap)
		connections, err := rest.HTTPClientFor(cluster)
		if err != nil {
			log.Fatal(err)
		}
		var its clientset
		if its.Clients, err = kube.NewClients(cluster, connections); err != nil {
			log.Fatal(err)
		}
		if its.discovery, err = discovery.NewDiscoveryClientForConfigAndClient(cluster, connections); err != nil {
			log.Fatal(err)
		}
		return context.WithValue(ctx, sparkclient.Key{}, versioned.Interface(its))
	}
}

// following follows the kinds that come and go, from when there is a logger. Informers start after the controllers are
// constructed.
func following(installed *kinds.Kinds, construct injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		go installed.Run(ctx)
		return construct(ctx, watcher)
	}
}

// newMasterReader asks the masters of clusters themselves where this process is in the cluster, and else through the API
// server.
func newMasterReader(cluster *rest.Config) (masterui.Reader, error) {
	if _, err := rest.InClusterConfig(); err == nil {
		return masterui.Direct(), nil
	}
	return masterui.ThroughAPIServer(cluster)
}

// checkKnativeConfigMaps checks what Knative is about to read.
func checkKnativeConfigMaps(ctx context.Context, cluster *rest.Config) error {
	client, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return err
	}
	return knative.Check(ctx, client.CoreV1().ConfigMaps(system.Namespace()))
}

// withProbes serves the health, from when the controllers know what there is. The others are constructed before.
func (e environment) withProbes(construct injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		impl := construct(ctx, watcher)
		known := []cache.InformerSynced{
			apacheinformer.Get(ctx).Informer().HasSynced, kubeflowinformer.Get(ctx).Informer().HasSynced,
			clusterinformer.Get(ctx).Informer().HasSynced,
		}
		drivers, _ := applications.PodSelectors()
		for _, selector := range drivers {
			known = append(known, podinformer.Get(ctx, selector).Informer().HasSynced)
		}
		go func() {
			if !cache.WaitForCacheSync(ctx.Done(), known...) {
				return
			}
			if err := injection.ServeHealthProbes(ctx, e.ProbePort); err != nil {
				logging.FromContext(ctx).Fatalw("The health cannot be served", "port", e.ProbePort, "error", err)
			}
		}()
		return impl
	}
}

// relays makes the relays of the controllers, which share the slots for their sends.
type relays struct {
	events.SinkBinding
	sends, requests *fairshare.Limiter
}

func (r relays) newRelay(
	ctx context.Context, store *config.Store, namespaces config.NamespaceLabels, owned func(events.Object) bool,
	progress func(types.NamespacedName),
) *events.Relay {
	logger := logging.FromContext(ctx)
	sink, err := r.NewSink()
	switch {
	case err != nil:
		// What has no events to send goes on, and what has keeps them.
		logger.Errorw("No event is sent: correct the variable, or the SinkBinding that sets it, and start again", "error", err)
		sink = events.InvalidSink(err)
	case sink == nil:
		logger.Info("K_SINK is not set: events stay in this process")
	}
	inProcess := func(handler string) bool { return store.Load().Handlers.InProcess(handler) }
	all := handlers.All(sparkclient.Get(ctx), dynamicclient.Get(ctx), store.Load, lookup.Cached(namespaces))
	broker, err := events.NewBroker(all, inProcess)
	if err != nil {
		logger.Fatalw("The handlers cannot be set up", "error", err)
	}
	relay, err := events.NewRelay(events.RelayConfig{
		Sink: sink, Handlers: broker, Sends: r.sends, Requests: r.requests, Owned: owned, OnProgress: progress, Logger: logger,
	})
	if err != nil {
		logger.Fatalw("The relay cannot be set up", "error", err)
	}
	go relay.Run(ctx)
	return relay
}
