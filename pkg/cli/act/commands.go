package act

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/connection"
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
type cluster struct{ *connection.Cluster }

func connect(o *cli.Options) (*cluster, error) {
	c, err := connection.Open(o)
	return &cluster{c}, err
}

// subject returns an object that was found, to act on it. name is what the user calls it.
func (c *cluster) subject(name string, found *target.Found, o *overview.Object) *actions.Subject {
	return &actions.Subject{Object: found, View: o, Suggest: func(verb string) string { return c.Suggest(verb, name) }}
}

// carryOut says what an action will do, does it, and prints what was done.
func (v *verbs) carryOut(ctx context.Context, c *cluster, found *target.Found, plan *actions.Plan, dryRun cli.DryRun) error {
	if plan.Nothing != "" {
		v.did(found, plan.Nothing, cli.DryRunNone)
		return nil
	}
	fmt.Fprintln(v.ErrOut, plan.Effect)
	if dryRun != cli.DryRunClient {
		if _, err := plan.Do(ctx, c.Dynamic, actions.WriteOptions{DryRun: dryRun.Options()}); err != nil {
			return err
		}
	}
	v.did(found, plan.Done, dryRun)
	return nil
}

// create does an action that creates an object, and prints the object or that it was created.
func (v *verbs) create(ctx context.Context, c *cluster, plan *actions.Plan, dryRun cli.DryRun, output cli.Output) error {
	created := plan.Creates
	if dryRun != cli.DryRunClient {
		var err error
		if created, err = plan.Do(ctx, c.Dynamic, actions.WriteOptions{DryRun: dryRun.Options()}); err != nil {
			return err
		}
	}
	if !output.Own() {
		return output.Print(created.Unstructured, v.Out)
	}
	name := created.GetName()
	if name == "" {
		name = created.GetGenerateName() + "*"
	}
	fmt.Fprintf(v.Out, "%s/%s %s%s\n", created.Resource.GroupResource(), name, plan.Done, dryRun.Note())
	return nil
}

// usage makes what a user wrote wrongly an error of the command line. flag is the flag that holds it.
func usage(flag string, err error) error {
	var invalid *actions.InvalidError
	if errors.As(err, &invalid) {
		return cli.Usage("%s %v", flag, err)
	}
	return err
}

// did prints what was done to an object.
func (v *verbs) did(found *target.Found, what string, dryRun cli.DryRun) {
	fmt.Fprintf(v.Out, "%s %s%s\n", found.Reference(), what, dryRun.Note())
}
