// The webhook gives Pods of plain spark-submit runs what their annotations ask for. It is opt-in: config/webhook. Nothing else of
// Firesteel waits for it.
package main

import (
	"context"
	"flag"
	"log"
	"runtime/debug"
	"time"

	"github.com/kelseyhightower/envconfig"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/signals"
	"knative.dev/pkg/webhook"
	"knative.dev/pkg/webhook/certificates"

	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/admission"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/redact/redactlog"
)

// environment holds the environment variables.
type environment struct {
	// Kubernetes sets variables that begin with the name of a Service, such as WEBHOOK_PORT, in all Pods of its namespace.

	// Port is the port that the API server calls, and the kubelet's probes, too.
	Port int `envconfig:"HTTPS_PORT" default:"8443"`
	// Service is the name of the Service: the certificate is for it.
	Service string `envconfig:"CERTIFICATE_SERVICE" default:"webhook"`
	// Secret is the name of the Secret with the certificates.
	Secret string `envconfig:"CERTIFICATE_SECRET" default:"webhook-certificates"`
	// PodsConfiguration is the name of the MutatingWebhookConfiguration of Pods. Each installation has its own.
	PodsConfiguration string `envconfig:"PODS_WEBHOOK_CONFIGURATION" default:"firesteel-pods"`
	// GracePeriod is how long the webhook answers after a signal to stop: until the API server knows other endpoints.
	GracePeriod time.Duration `envconfig:"GRACE_PERIOD" default:"10s"`
}

// heapGrowth is how much the heap may grow until the next collection, in percent. It overrides $GOGC, but not $GOMEMLIMIT.
const heapGrowth = 30

func main() {
	debug.SetGCPercent(heapGrowth)
	var env environment
	if err := envconfig.Process("", &env); err != nil {
		log.Fatal(err)
	}
	version.AddFlag(flag.CommandLine)
	cluster := injection.ParseAndGetRESTConfigOrDie()
	if flag.NArg() > 0 {
		log.Fatalf("%q is unexpected: the webhook has no arguments but flags", flag.Arg(0))
	}
	cluster.QPS = -1                                      // the API server's Priority and Fairness is the limit
	cluster.UserAgent = rest.DefaultKubernetesUserAgent() // for audit logs and managed fields
	namespaces, err := metadata.NewForConfig(cluster)
	if err != nil {
		log.Fatal(err)
	}
	injection.Default.RegisterInformerFactory(admission.OneSecret(env.Secret))
	ctx := webhook.WithOptions(signals.NewContext(), webhook.Options{
		ServiceName: env.Service, Port: env.Port, SecretName: env.Secret, GracePeriod: env.GracePeriod,
	})
	// All replicas do the same, without leases, and the server answers the kubelet's probes.
	ctx = sharedmain.WithHealthProbesDisabled(sharedmain.WithHADisabled(ctx))
	sharedmain.MainWithConfig(ctx, "webhook", cluster,
		withLogger(certificates.NewController),
		withLogger(admission.NewController(env.PodsConfiguration, admission.PodsPath, func(ctx context.Context, watcher configmap.Watcher) admission.Admit {
			return admission.Pods(followScope(ctx, watcher), lookup.Live(namespaces))
		})),
	)
}

// followScope returns the installation's present scope.
func followScope(ctx context.Context, watcher configmap.Watcher) func() *config.Scope {
	// The controller reports an invalid setting on the ConfigMap.
	store := config.NewStore(logging.FromContext(ctx), func(*config.Config, *config.Config) {}, func(*corev1.ConfigMap, error) {})
	watcher.Watch(config.ScopeName, store.OnConfigChanged)
	return func() *config.Scope { return store.Load().Scope }
}

// withLogger gives a controller a logger that redacts secrets.
func withLogger(constructor injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		return constructor(logging.WithLogger(ctx, logging.FromContext(ctx).WithOptions(redactlog.Option())), watcher)
	}
}
