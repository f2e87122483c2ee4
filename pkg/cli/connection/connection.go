// Package connection connects the verbs to the cluster.
package connection

import (
	"context"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Cluster is the connection of a command to the cluster, and the namespace of what its arguments name.
type Cluster struct {
	Dynamic dynamic.Interface
	Kube    kubernetes.Interface
	// REST is what port-forwarding and the archive connect with.
	REST *rest.Config
	// Namespace is that of the command line or of the kubeconfig. Suggested is what commands that are suggested name: empty if the
	// kubeconfig has it.
	Namespace, Suggested string
}

// Open returns the connection that the options describe. It sends no request.
func Open(o *cli.Options) (*Cluster, error) {
	namespace, explicit, err := o.Namespace()
	if err != nil {
		return nil, err
	}
	c := &Cluster{Namespace: namespace}
	if explicit {
		c.Suggested = namespace
	}
	if c.REST, err = o.Cluster(); err != nil {
		return nil, err
	}
	if c.Dynamic, err = dynamic.NewForConfig(c.REST); err != nil {
		return nil, err
	}
	if c.Kube, err = kubernetes.NewForConfig(c.REST); err != nil {
		return nil, err
	}
	return c, nil
}

// Find reads the object that a user names.
func (c *Cluster) Find(ctx context.Context, named string, nouns ...overview.Kind) (*target.Found, *overview.Object, error) {
	return target.Find(ctx, c.Dynamic, c.Namespace, named, nouns...)
}

// Suggest returns a command about the object that a user named.
func (c *Cluster) Suggest(verb, name string) string { return cli.Suggestion(verb, name, c.Suggested) }
