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
	return &configurations{
		kind: "MutatingWebhookConfiguration", informer: cached.Informer(),
		get: func(name string) (configuration, error) { return cached.Lister().Get(name) },
		update: func(ctx context.Context, changed configuration) error {
			wanted := changed.(*admissionregistrationv1.MutatingWebhookConfiguration)
			_, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Update(ctx, wanted, metav1.UpdateOptions{})
			return err
		},
		clients: func(c configuration) (clients []*admissionregistrationv1.WebhookClientConfig) {
			webhooks := c.(*admissionregistrationv1.MutatingWebhookConfiguration).Webhooks
			for i := range webhooks {
				clients = append(clients, &webhooks[i].ClientConfig)
			}
			return clients
		},
	}
}

// Validating is the kind of webhooks that allow or refuse objects.
func Validating(client kubernetes.Interface, factory informers.SharedInformerFactory) *configurations {
	cached := factory.Admissionregistration().V1().ValidatingWebhookConfigurations()
	return &configurations{
		kind: "ValidatingWebhookConfiguration", informer: cached.Informer(),
		get: func(name string) (configuration, error) { return cached.Lister().Get(name) },
		update: func(ctx context.Context, changed configuration) error {
			wanted := changed.(*admissionregistrationv1.ValidatingWebhookConfiguration)
			_, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Update(ctx, wanted, metav1.UpdateOptions{})
			return err
		},
		clients: func(c configuration) (clients []*admissionregistrationv1.WebhookClientConfig) {
			webhooks := c.(*admissionregistrationv1.ValidatingWebhookConfiguration).Webhooks
			for i := range webhooks {
				clients = append(clients, &webhooks[i].ClientConfig)
			}
			return clients
		},
	}
}
