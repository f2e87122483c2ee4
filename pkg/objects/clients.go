package objects

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/spark/v1"
	sparkoperatorv1beta2 "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/sparkoperator/v1beta2"
)

// Clients are the generated clients of all kinds. versioned.Interface has them, too.
type Clients interface {
	SparkV1() sparkv1.SparkV1Interface
	SparkoperatorV1beta2() sparkoperatorv1beta2.SparkoperatorV1beta2Interface
	FiresteelV1alpha1() firesteelv1alpha1.FiresteelV1alpha1Interface
}

// NewClients makes clients that share connections. versioned.NewForConfig would link discovery, and with it all types of
// Kubernetes, which takes memory.
func NewClients(cluster *rest.Config, connections *http.Client) (Clients, error) {
	var c clients
	var err error
	if c.spark, err = sparkv1.NewForConfigAndClient(cluster, connections); err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	if c.sparkoperator, err = sparkoperatorv1beta2.NewForConfigAndClient(cluster, connections); err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	if c.firesteel, err = firesteelv1alpha1.NewForConfigAndClient(cluster, connections); err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	return &c, nil
}

type clients struct {
	spark         *sparkv1.SparkV1Client
	sparkoperator *sparkoperatorv1beta2.SparkoperatorV1beta2Client
	firesteel     *firesteelv1alpha1.FiresteelV1alpha1Client
}

func (c *clients) SparkV1() sparkv1.SparkV1Interface { return c.spark }

func (c *clients) SparkoperatorV1beta2() sparkoperatorv1beta2.SparkoperatorV1beta2Interface {
	return c.sparkoperator
}

func (c *clients) FiresteelV1alpha1() firesteelv1alpha1.FiresteelV1alpha1Interface {
	return c.firesteel
}
