package act

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Commands returns the verbs.
func Commands(o *cli.Options) []*cobra.Command {
	return commands(&verbs{Options: o, connect: func() (*cluster, error) { return connect(o) }})
}

// verbs is what all verbs use.
type verbs struct {
	*cli.Options
	// connect returns the clients. Tests have their own.
	connect func() (*cluster, error)
}

func commands(v *verbs) []*cobra.Command {
	return []*cobra.Command{
		v.suspendCommand(true), v.suspendCommand(false), v.stopCommand(), v.rerunCommand(), v.deleteCommand(), v.waitCommand(),
		v.scheduleCommand(), v.clusterCommand(), v.namespaceCommand(),
	}
}

// cluster is the connection of a command.
type cluster struct {
	dynamic dynamic.Interface
	// kube and rest are for the archive of what is gone.
	kube kubernetes.Interface
	rest *rest.Config
	// namespace is that of the command line or of the kubeconfig. suggested is what commands that are suggested name: empty if the
	// kubeconfig has it.
	namespace, suggested string
}

func connect(o *cli.Options) (*cluster, error) {
	namespace, explicit, err := o.Namespace()
	if err != nil {
		return nil, err
	}
	c := &cluster{namespace: namespace}
	if c.rest, err = o.Cluster(); err != nil {
		return nil, err
	}
	if c.dynamic, err = dynamic.NewForConfig(c.rest); err != nil {
		return nil, err
	}
	if c.kube, err = kubernetes.NewForConfig(c.rest); err != nil {
		return nil, err
	}
	if explicit {
		c.suggested = namespace
	}
	return c, nil
}

// suggest returns a command about the object that a user named.
func (c *cluster) suggest(verb, name string) string { return cli.Suggestion(verb, name, c.suggested) }

// find reads the object that a user names.
func (c *cluster) find(ctx context.Context, named string, nouns ...overview.Kind) (*target.Found, *overview.Object, error) {
	return target.Find(ctx, c.dynamic, c.namespace, named, nouns...)
}

// patch changes an object, if it is still the one that was read.
func (c *cluster) patch(ctx context.Context, found *target.Found, dryRun cli.DryRun, change map[string]any) error {
	return target.Patch(ctx, c.dynamic, found, dryRun, change)
}

// did prints what was done to an object.
func (v *verbs) did(found *target.Found, what string, dryRun cli.DryRun) {
	fmt.Fprintf(v.Out, "%s %s%s\n", found.Reference(), what, dryRun.Note())
}
