package main

import (
	"context"
	"log"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/injection"

	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	sparkclient "github.com/firesteel-dev/firesteel/pkg/client/injection/client"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
	"github.com/firesteel-dev/firesteel/pkg/kube/kinds"
	"github.com/firesteel-dev/firesteel/pkg/kube/namespaced"
)

// clientset implements the generated clientset with Firesteel's own clients.
type clientset struct {
	kube.Clients
	discovery discovery.DiscoveryInterface
}

func (c clientset) Discovery() discovery.DiscoveryInterface { return c.discovery }

// withClients injects Firesteel's own clients into informers and reconcilers. They replace the generated clients, since the client that is
// registered last is used. With these clients, informers also sync if the CRD of a kind is absent. They read only listed namespaces unless
// listed is nil.
func withClients(installed *kinds.Kinds, listed *namespaced.Namespaces, watchCodec codec.Kind) injection.ClientInjector {
	return func(ctx context.Context, cluster *rest.Config) context.Context {
		cluster = rest.CopyConfig(cluster)
		cluster.Wrap(installed.Wrap)
		httpClient, err := rest.HTTPClientFor(cluster)
		if err != nil {
			log.Fatal(err)
		}
		var clients clientset
		if clients.Clients, err = kube.NewClients(cluster, httpClient, watchCodec); err != nil {
			log.Fatal(err)
		}
		if clients.discovery, err = discovery.NewDiscoveryClientForConfigAndClient(cluster, httpClient); err != nil {
			log.Fatal(err)
		}
		if listed != nil {
			clients.Clients = listed.Firesteel(clients.Clients)
			ctx = context.WithValue(ctx, kubeclient.Key{}, listed.Kubernetes(kubeclient.Get(ctx)))
		}
		return context.WithValue(ctx, sparkclient.Key{}, versioned.Interface(clients))
	}
}
