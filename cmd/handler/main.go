// The handler runs one handler function behind a broker: handler <name>. It takes CloudEvents over HTTP.
package main

import (
	"context"
	"fmt"
	"log"
	"maps"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/kelseyhightower/envconfig"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/function"
	"github.com/firesteel-dev/firesteel/pkg/function/oidc"
	"github.com/firesteel-dev/firesteel/pkg/handlers"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/redact/redactlog"
)

type environment struct {
	Port int `envconfig:"PORT" default:"8080"`
	// ProbePort is where the kubelet asks for the health; at the port of the events if it is not set.
	ProbePort int `envconfig:"PROBE_PORT"`
	// Audience is whom the tokens of the senders must be for. If it is not set, no token is asked for.
	Audience string `envconfig:"OIDC_AUDIENCE"`
	// Namespace holds the config maps.
	Namespace string `envconfig:"SYSTEM_NAMESPACE" required:"true"`
}

// heapGrowth is how far the heap may grow before it is collected, in percent. $GOGC would be overruled, $GOMEMLIMIT counts.
const heapGrowth = 30

func main() {
	debug.SetGCPercent(heapGrowth)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	logger, err := zap.NewProduction(redactlog.Option())
	if err != nil {
		return fmt.Errorf("make logger: %w", err)
	}
	ctx = logging.WithLogger(ctx, logger.Sugar())
	var env environment
	if err := envconfig.Process("", &env); err != nil {
		return err
	}
	cluster, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	cluster.UserAgent = rest.DefaultKubernetesUserAgent() // audit logs and managed fields name who wrote
	cluster.QPS = -1                                      // the API server's Priority and Fairness is the limit
	kube.WithFreshWatches(cluster)
	handler, err := newHandler(ctx, cluster, env.Namespace, args)
	if err != nil {
		return err
	}
	options := []function.Option{function.WithProbes(env.ProbePort)}
	if env.Audience != "" {
		verifier, err := oidc.NewVerifier(cluster, env.Audience)
		if err != nil {
			return err
		}
		options = append(options, function.WithAuthentication(verifier.Authenticate))
	}
	return function.Serve(ctx, env.Port, ignoringOtherTypes(handler), options...)
}

// ignoringOtherTypes has a handler take the events of Firesteel alone. A broker may carry others, such as what another function
// replied with, and repeating those would change nothing.
func ignoringOtherTypes(handler events.Handler) events.Handler {
	return func(ctx context.Context, event cloudevents.Event) error {
		if _, ok := events.TypeByName(event.Type()); !ok {
			logging.FromContext(ctx).Infow("event is of no type of Firesteel's", "type", event.Type(), "id", event.ID(), "source", event.Source())
			return nil
		}
		return handler(ctx, event)
	}
}

// newHandler makes the handler of the arguments. Its settings are the controller's: handlers act as it would, and on what it
// serves.
func newHandler(ctx context.Context, cluster *rest.Config, namespace string, args []string) (events.Handler, error) {
	connections, err := rest.HTTPClientFor(cluster)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	clients, err := kube.NewClients(cluster, connections)
	if err != nil {
		return nil, err
	}
	dynamicClient, err := dynamic.NewForConfigAndClient(cluster, connections)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	metadataClient, err := metadata.NewForConfigAndClient(cluster, connections)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	// The controller says on the ConfigMap what is refused.
	store := config.NewStore(logging.FromContext(ctx), func(*config.Config, *config.Config) {}, func(*corev1.ConfigMap, error) {})
	handler, err := selectHandler(handlers.All(clients, dynamicClient, store.Load, lookup.Live(metadataClient)), args)
	if err != nil {
		return nil, err
	}
	return handler, store.Follow(ctx, dynamicClient, namespace)
}

func selectHandler(all map[string]events.Handler, args []string) (events.Handler, error) {
	names := strings.Join(slices.Sorted(maps.Keys(all)), ", ")
	if len(args) != 1 {
		return nil, fmt.Errorf("name one handler: %s", names)
	}
	handler, ok := all[args[0]]
	if !ok {
		return nil, fmt.Errorf("there is no handler %q: name one of %s", args[0], names)
	}
	return handler, nil
}
