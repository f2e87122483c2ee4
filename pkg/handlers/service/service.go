// Package service runs one of Firesteel's handlers as a service behind a broker. It receives CloudEvents over HTTP.
package service

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/kelseyhightower/envconfig"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/function"
	"github.com/firesteel-dev/firesteel/pkg/function/oidc"
	"github.com/firesteel-dev/firesteel/pkg/handlers"
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

// Parts are what handlers are made of.
type Parts struct {
	// Namespace is Firesteel's namespace.
	Namespace string
	// Cluster and Connections are for further clients.
	Cluster     *rest.Config
	Connections *http.Client
	Clients     kube.Clients
	Dynamic     dynamic.Interface
	// Settings returns the present settings.
	Settings   func() *config.Config
	Namespaces lookup.Namespaces
}

// Run serves one handler until ctx ends: the one that args name, of those that all makes.
func Run(ctx context.Context, args []string, all func(context.Context, Parts) (map[string]events.Handler, error)) error {
	logger, err := zap.NewProduction(redactlog.Option())
	if err != nil {
		return fmt.Errorf("create logger: %w", err)
	}
	ctx = logging.WithLogger(ctx, logger.Sugar())
	var env environment
	if err := envconfig.Process("", &env); err != nil {
		return err
	}
	cluster, err := kube.Connect()
	if err != nil {
		return err
	}
	handler, err := newHandler(ctx, cluster, env, args, all)
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
	return function.Serve(ctx, env.Port, ignoringOtherTypes(namingObject(handler)), options...)
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

// namingObject calls a handler with a logger that names the object of the event, as the controller does for a handler in its process.
func namingObject(handler events.Handler) events.Handler {
	return func(ctx context.Context, event cloudevents.Event) error {
		if object, err := events.Identify(event); err == nil {
			ctx = logging.WithLogger(ctx, logging.FromContext(ctx).With(object.LogKeys()...).With("event", event.ID()))
		}
		return handler(ctx, event)
	}
}

// newHandler creates the handler that the arguments name. It follows the controller's settings, and so serves the same objects.
func newHandler(
	ctx context.Context, cluster *rest.Config, env environment, args []string, all func(context.Context, Parts) (map[string]events.Handler, error),
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
	made, err := all(ctx, Parts{env.Namespace, cluster, connections, clients, dynamicClient, store.Load, lookup.Live(metadataClient)})
	if err != nil {
		return nil, err
	}
	handler, err := selectHandler(made, args)
	if err != nil {
		return nil, err
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
