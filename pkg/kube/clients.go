package kube

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/flowcontrol"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/scheme"
	typedearlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/early/v1alpha1"
	typedfiresteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/firesteel/v1alpha1"
	typedsparkv1 "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/spark/v1"
	typedv1beta2 "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
)

// Connect returns how a process reaches the API server, by $KUBECONFIG or, in a Pod, by its service account. It is configured as Configure does it.
func Connect() (*rest.Config, error) {
	cluster, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	Configure(cluster)
	return cluster, nil
}

// Configure sets what the clients of a process with informers share. It is called before the first client is made.
func Configure(cluster *rest.Config) {
	if cluster.QPS == 0 {
		cluster.QPS = -1 // the API server's Priority and Fairness is the limit
	}
	cluster.UserAgent = rest.DefaultKubernetesUserAgent() // for audit logs and managed fields
	withFreshWatches(cluster)
}

// Clients are the generated clients of all kinds. versioned.Interface has these methods, too.
type Clients interface {
	SparkV1() typedsparkv1.SparkV1Interface
	SparkoperatorV1beta2() typedv1beta2.SparkoperatorV1beta2Interface
	EarlyV1alpha1() typedearlyv1alpha1.EarlyV1alpha1Interface
	FiresteelV1alpha1() typedfiresteelv1alpha1.FiresteelV1alpha1Interface
}

// NewClients makes clients that share connections and read by a codec. versioned.NewForConfig would link discovery, and with it
// all types of Kubernetes, which takes memory.
func NewClients(cluster *rest.Config, connections *http.Client, kind codec.Kind) (Clients, error) {
	if cluster.QPS > 0 && cluster.RateLimiter == nil { // one for all groups
		cluster = rest.CopyConfig(cluster)
		cluster.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(cluster.QPS, cluster.Burst)
	}
	serializer := kind.Wrap(rest.CodecFactoryForGeneratedClient(scheme.Scheme, scheme.Codecs).WithoutConversion(), scheme.Scheme)
	groups := map[schema.GroupVersion]rest.Interface{}
	for _, version := range []schema.GroupVersion{
		sparkv1.SchemeGroupVersion, v1beta2.SchemeGroupVersion, earlyv1alpha1.SchemeGroupVersion, firesteelv1alpha1.SchemeGroupVersion,
	} {
		config := rest.CopyConfig(cluster)
		config.GroupVersion, config.APIPath, config.NegotiatedSerializer = &version, "/apis", serializer
		client, err := rest.RESTClientForConfigAndClient(config, connections)
		if err != nil {
			return nil, fmt.Errorf("make client of %s: %w", version, err)
		}
		groups[version] = client
	}
	return &clients{
		spark:         typedsparkv1.New(groups[sparkv1.SchemeGroupVersion]),
		sparkoperator: typedv1beta2.New(groups[v1beta2.SchemeGroupVersion]),
		early:         typedearlyv1alpha1.New(groups[earlyv1alpha1.SchemeGroupVersion]),
		firesteel:     typedfiresteelv1alpha1.New(groups[firesteelv1alpha1.SchemeGroupVersion]),
	}, nil
}

type clients struct {
	spark         *typedsparkv1.SparkV1Client
	sparkoperator *typedv1beta2.SparkoperatorV1beta2Client
	early         *typedearlyv1alpha1.EarlyV1alpha1Client
	firesteel     *typedfiresteelv1alpha1.FiresteelV1alpha1Client
}

func (c *clients) SparkV1() typedsparkv1.SparkV1Interface { return c.spark }

func (c *clients) SparkoperatorV1beta2() typedv1beta2.SparkoperatorV1beta2Interface {
	return c.sparkoperator
}

func (c *clients) EarlyV1alpha1() typedearlyv1alpha1.EarlyV1alpha1Interface { return c.early }

func (c *clients) FiresteelV1alpha1() typedfiresteelv1alpha1.FiresteelV1alpha1Interface {
	return c.firesteel
}
