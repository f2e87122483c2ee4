package admission

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// configuration is a webhook configuration of either kind.
type configuration interface {
	metav1.Object
	runtime.Object
}

// configurations are the webhook configurations of one kind.
type configurations struct {
	kind     string
	informer cache.SharedIndexInformer
	// get reads one from the cache of the informer.
	get    func(name string) (configuration, error)
	update func(ctx context.Context, changed configuration) error
	// clients returns how the API server calls each webhook of a configuration.
	clients func(configuration) []*admissionregistrationv1.WebhookClientConfig
}

// Kind is a kind of webhook configurations.
type Kind func(client kubernetes.Interface, factory informers.SharedInformerFactory) *configurations

// Mutating is the kind of webhooks that change objects.
func Mutating(client kubernetes.Interface, factory informers.SharedInformerFactory) *configurations {
	cached := factory.Admissionregistration().V1().MutatingWebhookConfigurations()
	written := client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	return configurationsOf("MutatingWebhookConfiguration", cached.Informer(), cached.Lister().Get, written.Update,
		func(c *admissionregistrationv1.MutatingWebhookConfiguration) (clients []*admissionregistrationv1.WebhookClientConfig) {
			for i := range c.Webhooks {
				clients = append(clients, &c.Webhooks[i].ClientConfig)
			}
			return clients
		})
}

// Validating is the kind of webhooks that allow or refuse objects.
func Validating(client kubernetes.Interface, factory informers.SharedInformerFactory) *configurations {
	cached := factory.Admissionregistration().V1().ValidatingWebhookConfigurations()
	written := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	return configurationsOf("ValidatingWebhookConfiguration", cached.Informer(), cached.Lister().Get, written.Update,
		func(c *admissionregistrationv1.ValidatingWebhookConfiguration) (clients []*admissionregistrationv1.WebhookClientConfig) {
			for i := range c.Webhooks {
				clients = append(clients, &c.Webhooks[i].ClientConfig)
			}
			return clients
		})
}

// configurationsOf returns the configurations of a kind from the methods that have its type.
func configurationsOf[C configuration](
	kind string, informer cache.SharedIndexInformer, get func(name string) (C, error),
	update func(ctx context.Context, changed C, options metav1.UpdateOptions) (C, error),
	clients func(C) []*admissionregistrationv1.WebhookClientConfig,
) *configurations {
	return &configurations{
		kind: kind, informer: informer,
		get: func(name string) (configuration, error) { return get(name) },
		update: func(ctx context.Context, changed configuration) error {
			_, err := update(ctx, changed.(C), metav1.UpdateOptions{})
			return err
		},
		clients: func(c configuration) []*admissionregistrationv1.WebhookClientConfig { return clients(c.(C)) },
	}
}
