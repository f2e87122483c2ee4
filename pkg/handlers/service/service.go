// Package service runs one of Firesteel's handlers as a service behind a broker. It receives CloudEvents over HTTP.
package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/kelseyhightower/envconfig"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/function"
	"github.com/firesteel-dev/firesteel/pkg/function/oidc"
	"github.com/firesteel-dev/firesteel/pkg/handlers"
	"github.com/firesteel-dev/firesteel/pkg/handlers/archiver"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
	"github.com/firesteel-dev/firesteel/pkg/redact/redactlog"
)

type environment struct {
	Port int `envconfig:"PORT" default:"8080"`
	// ProbePort is the port for the kubelet's probes. If it is not set, they use Port.
	ProbePort int `envconfig:"PROBE_PORT"`
	// Audience is the audience of the senders' tokens. If it is not set, no token is required.
	Audience string `envconfig:"OIDC_AUDIENCE"`
	// Namespace is the namespace of the config maps.
	Namespace string `envconfig:"SYSTEM_NAMESPACE" required:"true"`
	// WatchCodec is the codec for responses of the API server.
	WatchCodec codec.Kind `envconfig:"WATCH_CODEC"`
}

// Run serves one handler until ctx ends: the one that args name, if serves reports that the program has it.
func Run(ctx context.Context, args []string, serves func(handler string) bool) error {
	logger, err := zap.NewProduction(redactlog.Option())
	if err != nil {
		return fmt.Errorf("create logger: %w", err)
	}
	ctx = logging.WithLogger(ctx, logger.Sugar())
	var env environment
	if err := envconfig.Process("", &env); err != nil {
		return err
	}
	cluster, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	kube.Configure(cluster)
	handler, err := newHandler(ctx, cluster, env, args, serves)
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

// ignoringOtherTypes calls a handler only for Firesteel's event types. A broker may carry others, such as replies of other functions. An
// error for such an event would only cause retries.
func ignoringOtherTypes(handler events.Handler) events.Handler {
	return func(ctx context.Context, event cloudevents.Event) error {
		if _, ok := events.TypeByName(event.Type()); !ok {
			logging.FromContext(ctx).Infow("ignoring an event of another type", "type", event.Type(), "id", event.ID(), "source", event.Source())
			return nil
		}
		return handler(ctx, event)
	}
}

// newHandler creates the handler that the arguments name. It follows the controller's settings, and so serves the same objects.
func newHandler(
	ctx context.Context, cluster *rest.Config, env environment, args []string, serves func(handler string) bool,
) (events.Handler, error) {
	connections, err := rest.HTTPClientFor(cluster)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	clients, err := kube.NewClients(cluster, connections, env.WatchCodec)
	if err != nil {
		return nil, err
	}
	dynamicClient, err := dynamic.NewForConfigAndClient(cluster, connections)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	metadataClient, err := metadata.NewForConfigAndClient(cluster, connections)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	defaults := &defaultsFollower{client: dynamicClient}
	// The controller reports an invalid setting on the ConfigMap.
	store := config.NewStore(logging.FromContext(ctx), func(before, after *config.Config) {
		if before.Scope != after.Scope {
			defaults.scopeChanged(ctx, after.Scope)
		}
	}, func(*corev1.ConfigMap, error) {})
	coreClient, err := corev1client.NewForConfigAndClient(cluster, connections)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	stores := archive.NewStores()
	all := handlers.All(clients, dynamicClient, coreClient, stores, store.Load, lookup.Live(metadataClient))
	maps.DeleteFunc(all, func(name string, _ events.Handler) bool { return !serves(name) })
	handler, err := selectHandler(all, args)
	if err != nil {
		return nil, err
	}
	if args[0] == archiver.Name {
		go archiver.Retain(ctx, stores, func() (*config.Archive, bool) { return store.Load().Archive, true })
	}
	if err := store.Follow(ctx, dynamicClient, env.Namespace); err != nil || !handlers.UsesDefaults(args[0]) {
		return handler, err
	}
	return handler, defaults.start(ctx, store)
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
