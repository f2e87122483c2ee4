// The controller runs the reconcilers, and also the handlers that config-handlers does not move elsewhere. It sends events to $K_SINK if
// that is set.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"os"
	"slices"
	"time"

	"github.com/kelseyhightower/envconfig"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	filteredfactory "knative.dev/pkg/client/injection/kube/informers/factory/filtered"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/signals"
	"knative.dev/pkg/system"

	"github.com/firesteel-dev/firesteel/internal/gc"
	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/cluster/masterui"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/crds/skew"
	kubeflowflags "github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/flags"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
	"github.com/firesteel-dev/firesteel/pkg/kube/kinds"
	"github.com/firesteel-dev/firesteel/pkg/metrics/apiserver"
	kubernetesmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/kubernetes"
	"github.com/firesteel-dev/firesteel/pkg/operators"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate/fetch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/launch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/earlyapplication"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/kubeflowapplication"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/namespace"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/schedule"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/sparkapplication"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/sparkcluster"
	"github.com/firesteel-dev/firesteel/pkg/redact/redactlog"
)

// environment holds the environment variables.
type environment struct {
	events.SinkBinding
	// ProbePort is the port for the kubelet's probes.
	ProbePort int `envconfig:"PROBE_PORT" default:"8080"`
	// WatchCodec is the codec for responses of the API server.
	WatchCodec codec.Kind `envconfig:"WATCH_CODEC"`
}

func main() {
	var env environment
	if err := envconfig.Process("", &env); err != nil {
		log.Fatal(err)
	}
	drivers, executors := applications.PodSelectors()
	signalled := signals.NewContext()
	ctx, end := context.WithCancelCause(filteredfactory.WithSelectors(context.Background(), slices.Concat(drivers, executors)...))
	gc.FollowHeapSize()
	local := flag.Bool("local", false, "Run outside the cluster as the only controller: no leader election, no health probes.")
	version.AddFlag(flag.CommandLine)
	cluster := parseFlags()
	if err := tune(cluster); err != nil {
		log.Fatal(err)
	}
	leaders, err := kubernetesmetrics.Install(prometheus.DefaultRegisterer, otel.GetMeterProvider())
	if err != nil {
		log.Fatal(err)
	}
	scope, handlers, err := readConfigMaps(signalled, cluster)
	if err != nil {
		log.Fatal(err)
	}
	masters, templates, err := newReaders(cluster)
	if err != nil {
		log.Fatal(err)
	}
	installed, err := kinds.New(cluster, kinds.DiscoveryPeriod)
	if err != nil {
		log.Fatal(err)
	}
	reporter, err := newSkewReporter(cluster)
	if err != nil {
		log.Fatal(err)
	}
	restart := func() { end(errRestart) }
	listed := listedNamespaces(scope, restart)
	if listed != nil {
		installed.DiscoveryOnly()
	}
	injection.Default.RegisterClient(withClients(installed, listed, env.WatchCodec))
	process := base.NewProcess((&relayFactory{
		binding: env.SinkBinding, sends: events.NewLimiter(), requests: events.NewLimiter(), stores: archive.NewStores(),
	}).newRelay, base.StartedWith(scope, handlers), restart)
	go func() {
		<-signalled.Done()
		process.Settle(ctx)
		end(signalled.Err())
	}()
	constructors := controllers(process, masters.Read, templates.Fetch)
	constructors[0] = following(installed, constructors[0])
	if listed != nil {
		constructors[0] = reporting(listed, scope, constructors[0])
	} else {
		constructors[0] = comparing(reporter, noticing(process, constructors[0]))
	}
	if *local {
		ctx = sharedmain.WithHADisabled(ctx)
	} else {
		last := len(constructors) - 1
		constructors[last] = env.withProbes(constructors[last])
	}
	for i, constructor := range constructors {
		constructors[i] = leaders.Wrap(withLogger(constructor))
	}
	// The port of sharedmain's own probes cannot be chosen.
	sharedmain.MainWithConfig(sharedmain.WithHealthProbesDisabled(ctx), "controller", cluster, constructors...)
	if errors.Is(context.Cause(ctx), errRestart) && signalled.Err() == nil {
		startAgain()
	}
}

// parseFlags reads the flags, and returns the configuration of the cluster. It ends the process on an argument that the controller does
// not have.
func parseFlags() *rest.Config {
	if err := kubeflowflags.Check(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
	cluster := injection.ParseAndGetRESTConfigOrDie()
	if flag.NArg() > 0 {
		log.Fatalf("%q is unexpected: the controller has no arguments but flags", flag.Arg(0))
	}
	return cluster
}

// tune prepares the configuration of all clients.
func tune(cluster *rest.Config) error {
	launch.WithoutCreateRetries(cluster)
	kube.Configure(cluster)
	counted, err := apiserver.CountRequests(otel.GetMeterProvider())
	if err != nil {
		return err
	}
	cluster.Wrap(counted)
	return nil
}

// controllers returns the constructors of all controllers.
func controllers(process *base.Process, read masterui.Read, fetchTemplate fetch.Func) []injection.ControllerConstructor {
	constructors := schedule.NewControllers(process)
	if process.Started().NamespaceHandler {
		constructors = append(constructors, namespace.NewController(process))
	}
	return append(constructors,
		sparkcluster.NewController(process, read),
		sparkapplication.NewController(process, fetchTemplate, schedule.KeepApacheRuns),
		kubeflowapplication.NewController(process, fetchTemplate, schedule.KeepKubeflowRuns),
		earlyapplication.NewController(process, fetchTemplate))
}

// withLogger gives a controller a logger that redacts secrets and writes nothing at info for each reconcile.
func withLogger(constructor injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		logger := logging.FromContext(ctx).WithOptions(redactlog.Option(), base.QuietReconciles())
		return constructor(logging.WithLogger(ctx, logger), watcher)
	}
}

// following follows the CRDs that are created and deleted, as soon as there is a logger. Informers start later, when all controllers are
// constructed.
func following(installed *kinds.Kinds, construct injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		go installed.Run(ctx)
		return construct(ctx, watcher)
	}
}

// noticing reports other Spark operators in the cluster, at the start and after each change of the scope.
func noticing(process *base.Process, construct injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		ctx = process.WithRecorder(ctx)
		reporter := &operators.Reporter{
			Kube: kubeclient.Get(ctx), Recorder: controller.GetEventRecorder(ctx), Logger: logging.FromContext(ctx), Namespace: system.Namespace(), Now: time.Now,
		}
		scopeChanged := reporter.Start(ctx)
		process.Listen(base.Listener{
			SettingsChanged: func(before, after *config.Config) {
				if before.Scope != after.Scope {
					scopeChanged(after.Scope)
				}
			},
			NamespaceChanged: func(string) {},
		})
		return construct(ctx, watcher)
	}
}

// comparing reports the CRDs that are not of this version, as soon as there is a logger.
func comparing(reporter *skew.Reporter, construct injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		go reporter.Run(ctx, logging.FromContext(ctx))
		return construct(ctx, watcher)
	}
}

// newSkewReporter returns the reporter of CRDs of other versions.
func newSkewReporter(cluster *rest.Config) (*skew.Reporter, error) {
	client, err := metadata.NewForConfig(cluster)
	if err != nil {
		return nil, err
	}
	return skew.New(client, otel.GetMeterProvider())
}

// newReaders returns the readers of what reconcilers do not watch: the masters of clusters, and pod templates. ConfigMaps with templates are
// those of the controller's namespace.
func newReaders(cluster *rest.Config) (masterui.Reader, *fetch.Reader, error) {
	masters, err := newMasterReader(cluster)
	if err != nil {
		return masterui.Reader{}, nil, err
	}
	client, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return masterui.Reader{}, nil, err
	}
	return masters, fetch.New(client.CoreV1().ConfigMaps(system.Namespace())), nil
}

// newMasterReader returns a reader that sends requests to the masters of clusters. Outside Kubernetes, it sends them through the API
// server.
func newMasterReader(cluster *rest.Config) (masterui.Reader, error) {
	if _, err := rest.InClusterConfig(); err == nil {
		return masterui.Direct(), nil
	}
	return masterui.ThroughAPIServer(cluster)
}
