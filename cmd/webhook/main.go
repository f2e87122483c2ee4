// The webhook checks what users apply, and gives Pods of plain spark-submit runs what their annotations ask for. It is opt-in:
// config/webhook. Nothing of Firesteel needs it.
package main

import (
	"context"
	"flag"
	"log"
	"sync"
	"time"

	"github.com/kelseyhightower/envconfig"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/signals"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"
	"knative.dev/pkg/webhook/certificates"

	"github.com/firesteel-dev/firesteel/internal/gc"
	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/admission"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
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
	// ValidationConfiguration is the name of the ValidatingWebhookConfiguration.
	ValidationConfiguration string `envconfig:"VALIDATION_WEBHOOK_CONFIGURATION" default:"firesteel-validation"`
	// GracePeriod is how long the webhook answers after a signal to stop: until the API server knows other endpoints.
	GracePeriod time.Duration `envconfig:"GRACE_PERIOD" default:"10s"`
}

func main() {
	gc.KeepHeapSmall()
	var env environment
	if err := envconfig.Process("", &env); err != nil {
		log.Fatal(err)
	}
	version.AddFlag(flag.CommandLine)
	cluster := injection.ParseAndGetRESTConfigOrDie()
	if flag.NArg() > 0 {
		log.Fatalf("%q is unexpected: the webhook has no arguments but flags", flag.Arg(0))
	}
	kube.Configure(cluster)
	namespaces, err := metadata.NewForConfig(cluster)
	if err != nil {
		log.Fatal(err)
	}
	connections, err := rest.HTTPClientFor(cluster)
	if err != nil {
		log.Fatal(err)
	}
	clients, err := kube.NewClients(cluster, connections, codec.Firesteel)
	if err != nil {
		log.Fatal(err)
	}
	injection.Default.RegisterInformerFactory(admission.OneSecret(env.Secret))
	ctx := webhook.WithOptions(signals.NewContext(), webhook.Options{
		ServiceName: env.Service, Port: env.Port, SecretName: env.Secret, GracePeriod: env.GracePeriod,
	})
	settings := &settings{clients: clients, namespaces: lookup.Live(namespaces)}
	// All replicas do the same, without leases, and the server answers the kubelet's probes.
	ctx = sharedmain.WithHealthProbesDisabled(sharedmain.WithHADisabled(ctx))
	ctx = sharedmain.WithOTelViews(ctx, answerTimes("kn.webhook.handler.duration"), answerTimes("http.server.request.duration"))
	sharedmain.MainWithConfig(ctx, "webhook", cluster,
		withLogger(measured(env.Secret, certificates.NewController)),
		withLogger(admission.NewController(admission.Mutating, env.PodsConfiguration, admission.PodsPath, settings.pods)),
		withLogger(admission.NewController(admission.Validating, env.ValidationConfiguration, admission.ValidationPath, settings.validation)),
	)
}

// answerTimes gives a histogram buckets for answers: most take less than the first bucket of the libraries.
func answerTimes(instrument string) metric.View {
	seconds := []float64{0.00025, 0.0005, 0.001, 0.002, 0.003, 0.004, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	return metric.NewView(metric.Instrument{Name: instrument}, metric.Stream{Aggregation: metric.AggregationExplicitBucketHistogram{Boundaries: seconds}})
}

// settings are the installation's settings, which both webhooks share, and the quotas that are read by them.
type settings struct {
	clients    kube.Clients
	namespaces lookup.Namespaces

	once   sync.Once
	store  *config.Store
	quotas *admission.Quotas
}

// pods returns the decision about Pods.
func (s *settings) pods(ctx context.Context, watcher configmap.Watcher) admission.Admit {
	store := s.follow(ctx, watcher)
	return admission.Pods(func() *config.Scope { return store.Load().Scope }, s.namespaces)
}

// validation returns the decision about what users apply.
func (s *settings) validation(ctx context.Context, watcher configmap.Watcher) admission.Admit {
	validator := &admission.Validator{
		Settings: s.follow(ctx, watcher).Load, Namespaces: s.namespaces, Installation: system.Namespace(), Version: version.String(),
		Quotas: s.quotas.Of, Admitted: s.quotas.Admitted, Now: time.Now,
	}
	return validator.Admit
}

// follow returns the store, which follows the ConfigMaps from the first call on. Like the controller, the process does not start with
// invalid settings. The controller reports an invalid change on the ConfigMap.
func (s *settings) follow(ctx context.Context, watcher configmap.Watcher) *config.Store {
	s.once.Do(func() {
		logger, client := logging.FromContext(ctx), kubeclient.Get(ctx)
		s.quotas = admission.NewQuotas(ctx, client, s.clients, logger, time.Now)
		s.store = config.NewStore(logger, func(_, after *config.Config) { s.quotas.Configure(after, s.store.Load) }, func(*corev1.ConfigMap, error) {})
		configMaps := client.CoreV1().ConfigMaps(metav1.NamespaceAll)
		if err := s.store.FollowNamespaces(ctx, kube.NewSource(client, configMaps.List, configMaps.Watch), func(string) {}); err != nil {
			logger.Fatalw("The webhook cannot be set up", zap.Error(err))
		}
		s.store.WatchConfigs(watcher)
	})
	return s.store
}

// measured has a metric of the certificate that the controller keeps valid.
func measured(secret string, construct injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		secrets := secretinformer.Get(ctx).Lister().Secrets(system.Namespace())
		if err := admission.MeasureCertificate(otel.GetMeterProvider(), secrets, secret, time.Now); err != nil {
			logging.FromContext(ctx).Fatalw("The webhook cannot be set up", zap.Error(err))
		}
		return construct(ctx, watcher)
	}
}

// withLogger gives a controller a logger that redacts secrets.
func withLogger(constructor injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		return constructor(logging.WithLogger(ctx, logging.FromContext(ctx).WithOptions(redactlog.Option())), watcher)
	}
}
