package admission

import (
	"context"
	"fmt"
	"slices"

	"go.uber.org/zap"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	namespacedfactory "knative.dev/pkg/injection/clients/namespacedkube/informers/factory"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"
)

// The paths of the webhooks: one changes Pods, the other validates what users apply.
const (
	PodsPath       = "/pods"
	ValidationPath = "/validate"
)

// server serves a webhook, and writes the certificate of its authority into the webhook configuration. The manifest has the rest of the
// configuration. Each replica does this. A write has the resourceVersion that was read: if two replicas write, one has a conflict and reads again.
type server struct {
	// It gets requests before the informers of its configuration and of the certificates have synced. A decision needs neither. Before the settings
	// and the quotas are read, objects pass with a warning.
	webhook.StatelessAdmissionImpl
	reconciler.LeaderAwareFuncs

	path   string
	admit  Admit
	client kubernetes.Interface
	// configuration is the name of the webhook configuration, and secret that of the Secret with the certificates.
	configuration, secret string
	configurations        *configurations
	secrets               corelisters.SecretLister
}

var (
	_ controller.Reconciler                = (*server)(nil)
	_ reconciler.LeaderAware               = (*server)(nil)
	_ webhook.AdmissionController          = (*server)(nil)
	_ webhook.StatelessAdmissionController = (*server)(nil)
)

// NewController returns the constructor of a webhook with a configuration of its own, of the given kind and name.
func NewController(
	kind Kind, configuration, path string, newAdmit func(ctx context.Context, watcher configmap.Watcher) Admit,
) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		client := kubeclient.Get(ctx)
		// The role allows this object only.
		factory := informers.NewSharedInformerFactoryWithOptions(client, controller.GetResyncPeriod(ctx), informers.WithTweakListOptions(named(configuration)))
		secrets := secretinformer.Get(ctx)
		s := &server{
			LeaderAwareFuncs: reconciler.LeaderAwareFuncs{
				PromoteFunc: func(bucket reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
					enqueue(bucket, types.NamespacedName{Name: configuration})
					return nil
				},
			},
			path: path, admit: newAdmit(ctx, watcher), client: client,
			configuration: configuration, secret: webhook.GetOptions(ctx).SecretName,
			configurations: kind(client, factory), secrets: secrets.Lister(),
		}
		queue := s.configurations.kind
		impl := controller.NewContext(ctx, s, controller.ControllerOptions{WorkQueueName: queue, Logger: logging.FromContext(ctx).Named(queue)})
		enqueue := controller.HandleAll(func(any) { impl.EnqueueKey(types.NamespacedName{Name: configuration}) })
		for _, informer := range []cache.SharedIndexInformer{s.configurations.informer, secrets.Informer()} {
			if _, err := informer.AddEventHandler(enqueue); err != nil {
				logging.FromContext(ctx).Fatalw("the webhook cannot be set up", zap.Error(err))
			}
		}
		factory.Start(ctx.Done())
		return impl
	}
}

// OneSecret returns a context whose informer of Secrets reads only the Secret with the certificates: the role allows no other.
func OneSecret(name string) injection.InformerFactoryInjector {
	return func(ctx context.Context) context.Context {
		return context.WithValue(ctx, namespacedfactory.Key{}, informers.NewSharedInformerFactoryWithOptions(
			kubeclient.Get(ctx), controller.GetResyncPeriod(ctx), informers.WithNamespace(system.Namespace()), informers.WithTweakListOptions(named(name)),
		))
	}
}

// named selects one object.
func named(name string) func(*metav1.ListOptions) {
	return func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	}
}

// Path implements webhook.AdmissionController.
func (s *server) Path() string { return s.path }

// Admit implements webhook.AdmissionController.
func (s *server) Admit(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return s.admit(ctx, request)
}

// Reconcile implements controller.Reconciler. Events of both objects lead to the next one.
func (s *server) Reconcile(ctx context.Context, _ string) error {
	secret, err := s.secrets.Secrets(system.Namespace()).Get(s.secret)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("read the Secret %s/%s: %w", system.Namespace(), s.secret, err)
	}
	current, err2 := s.configurations.get(s.configuration)
	if err2 != nil && !apierrors.IsNotFound(err2) {
		return fmt.Errorf("read the %s %s: %w", s.configurations.kind, s.configuration, err2)
	}
	if err != nil || err2 != nil || len(secret.Data[certresources.CACert]) == 0 {
		logging.FromContext(ctx).Debugw("waiting for the Secret with the certificates and for the webhook configuration",
			"secret", s.secret, "configuration", s.configuration)
		return nil
	}
	namespace, err := s.client.CoreV1().Namespaces().Get(ctx, system.Namespace(), metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read the namespace %s: %w", system.Namespace(), err)
	}
	wanted := s.completed(current, namespace, secret.Data[certresources.CACert])
	if equality.Semantic.DeepEqual(current, wanted) {
		return nil
	}
	if err := s.configurations.update(ctx, wanted); err != nil {
		return fmt.Errorf("update the %s %s: %w", s.configurations.kind, s.configuration, err)
	}
	logging.FromContext(ctx).Infow("updated the webhook configuration", "kind", s.configurations.kind, "configuration", s.configuration)
	return nil
}

// completed returns the configuration with the certificate of the authority. The namespace of the installation becomes its owner: so the
// configuration is deleted with the namespace, and the API server does not call a webhook that is gone.
func (s *server) completed(current configuration, namespace *corev1.Namespace, authority []byte) configuration {
	wanted := current.DeepCopyObject().(configuration)
	for _, client := range s.configurations.clients(wanted) {
		client.CABundle = authority
	}
	owners := wanted.GetOwnerReferences()
	if !slices.ContainsFunc(owners, func(owner metav1.OwnerReference) bool { return owner.UID == namespace.UID }) {
		wanted.SetOwnerReferences(append(owners, metav1.OwnerReference{
			APIVersion: "v1", Kind: "Namespace", Name: namespace.Name, UID: namespace.UID,
		}))
	}
	return wanted
}
