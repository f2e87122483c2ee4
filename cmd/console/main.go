// The console serves what runs, and what the archive has of applications that are over, to users with a token of the cluster. It is opt-in:
// config/console. Nothing of Firesteel needs it.
package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/kelseyhightower/envconfig"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"
	k8sruntime "knative.dev/pkg/observability/runtime/k8s"

	"github.com/firesteel-dev/firesteel/internal/command"
	"github.com/firesteel-dev/firesteel/internal/gc"
	"github.com/firesteel-dev/firesteel/internal/httpserver"
	"github.com/firesteel-dev/firesteel/pkg/access/review"
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds" // the storage that archives are in
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds/large"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/incluster"
	"github.com/firesteel-dev/firesteel/pkg/console/liveapi"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/pkg/console/site"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/redact/redactlog"
)

type environment struct {
	Port      int `envconfig:"PORT" default:"8080"`
	ProbePort int `envconfig:"PROBE_PORT" default:"8081"`
	// SparkUIPort is the origin of the UIs of drivers.
	SparkUIPort int `envconfig:"SPARK_UI_PORT" default:"8082"`
	// Namespace is the namespace of the config maps.
	Namespace string `envconfig:"SYSTEM_NAMESPACE" required:"true"`
	// Certificate is a folder with tls.crt and tls.key, as a Secret has them. Without these files, the console serves HTTP.
	Certificate string `envconfig:"TLS_FOLDER"`
	// SessionKey is a folder with the entry key of a Secret, which encrypts the sessions of users. Without it, the key is random.
	SessionKey string `envconfig:"SESSION_KEY_FOLDER"`
	// ProxySecret is a folder with the entry secret of a Secret, by which a proxy proves itself that signs users in. Without it, none does.
	ProxySecret string `envconfig:"PROXY_SECRET_FOLDER"`
}

func main() {
	gc.KeepHeapSmall()
	command.Run(run)
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is unexpected: the console has no arguments but flags", args[0])
	}
	var env environment
	if err := envconfig.Process("", &env); err != nil {
		return err
	}
	logger, err := zap.NewProduction(redactlog.Option())
	if err != nil {
		return fmt.Errorf("create logger: %w", err)
	}
	ctx = logging.WithLogger(ctx, logger.Sugar())
	cluster, err := kube.Connect()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	ctx = context.WithValue(ctx, kubeclient.Key{}, client)
	meters, _ := sharedmain.SetupObservabilityOrDie(ctx, "console", logger.Sugar(), k8sruntime.NewProfilingServer(logger.Sugar()))
	defer func() { _ = meters.Shutdown(context.WithoutCancel(ctx)) }() // the process ends
	var running atomic.Pointer[liveapi.Live]
	settings, err := follow(ctx, cluster, env.Namespace, func(after *config.Config) {
		if live := running.Load(); live != nil {
			live.Watch(after.Scope.OnlyNamespaces())
		}
	})
	if err != nil {
		return err
	}
	live, err := incluster.NewLive(ctx, cluster, settings.Load, logger.Sugar())
	if err != nil {
		return err
	}
	running.Store(live)
	live.Watch(settings.Load().Scope.OnlyNamespaces())
	go live.Run(ctx)
	namespaces, err := followNamespaces(ctx, cluster, client, settings)
	if err != nil {
		return err
	}
	reviewer := review.NewReviewer(client, func() []string { return settings.Load().Console.Audiences }, clock.RealClock{})
	key, proxy, err := env.secrets(ctx, settings)
	if err != nil {
		return err
	}
	address := func() string { return settings.Load().Console.URL }
	pages := site.New(site.Options{
		Source: live.Live, Views: live.Views, Clients: incluster.NewClients(cluster, proxy), Address: address, Clock: clock.RealClock{}, Logger: logger.Sugar(),
		Settings: func(context.Context) (*config.Config, error) { return settings.Load(), nil },
		Actions:  func() bool { return settings.Load().Console.Actions },
		Archived: func() bool { return len(settings.Load().Archive.URLs()) > 0 },
		Drivers:  site.Drivers{Live: live.Live}, SparkUIs: func() string { return settings.Load().Console.SparkUIs },
		HistoryServer: func() string { return settings.Load().Console.HistoryServer },
	})
	sessions := session.New(session.Options{
		Key: key, Users: incluster.NewUsers(namespaces, reviewer, proxy, review.NewSelf(client, clock.RealClock{})), Pages: pages, Clock: clock.RealClock{}, Address: address, Proxy: proxy,
	})
	ofAPI := console.NewHandler(sessions, incluster.NewArchives(settings.Load), logger.Sugar(), live.Routes()...)
	handler, sparkUIs := pages.Handlers(sessions, ofAPI)
	return httpserver.Serve(ctx, handler, httpserver.Options{
		Name: "console", Port: env.Port, ProbePort: env.ProbePort, Others: map[int]http.Handler{env.SparkUIPort: sparkUIs},
		Certificate: env.Certificate, Ready: live.HasSynced,
	})
}

// followNamespaces returns the namespaces, which are followed if the console may act in all of them.
func followNamespaces(ctx context.Context, cluster *rest.Config, client kubernetes.Interface, settings *config.Store) (*incluster.Namespaces, error) {
	namespaces := incluster.NewNamespaces(client)
	if settings.Load().Scope.OnlyNamespaces() != nil {
		return namespaces, nil
	}
	followed, err := metadata.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("create client of namespaces: %w", err)
	}
	namespaces.Follow(ctx, followed, logging.FromContext(ctx))
	return namespaces, nil
}

// secrets returns the key of sessions, and the proxy that signs users of the listed groups in.
func (e *environment) secrets(ctx context.Context, settings *config.Store) (*session.Key, *session.Proxy, error) {
	key, shared, err := session.LoadKey(e.SessionKey)
	if err != nil {
		return nil, nil, err
	}
	if !shared {
		logging.FromContext(ctx).Info("the key of sessions is random: users sign in again after a restart, and several replicas need the Secret console-session")
	}
	secret, err := session.LoadProxySecret(e.ProxySecret)
	if err != nil {
		return nil, nil, err
	}
	groups := func() []string { return settings.Load().Console.ImpersonationGroups }
	if len(secret) == 0 && len(groups()) > 0 {
		logging.FromContext(ctx).Warn("impersonation-groups is set and no proxy is trusted: create the Secret console-proxy with the entry secret, and restart the console")
	}
	return key, session.NewProxy(key, secret, groups, clock.RealClock{}), nil
}

// follow returns the settings, which follow the ConfigMaps, and calls changed after each change. The controller reports an invalid change on the
// ConfigMap.
func follow(ctx context.Context, cluster *rest.Config, namespace string, changed func(*config.Config)) (*config.Store, error) {
	client, err := dynamic.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	store := config.NewStore(logging.FromContext(ctx), func(_, after *config.Config) { changed(after) }, func(*corev1.ConfigMap, error) {})
	return store, store.Follow(ctx, client, namespace)
}
