package migrate

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/connection"
	"github.com/firesteel-dev/firesteel/pkg/cli/settings"
	"github.com/firesteel-dev/firesteel/pkg/migration"
)

// Commands returns the verbs of this package.
func Commands(o *cli.Options) []*cobra.Command {
	return commands(o, func() (*connection.Cluster, error) { return connection.Open(o) })
}

func commands(o *cli.Options, connect func() (*connection.Cluster, error)) []*cobra.Command {
	command := &cobra.Command{Use: "migrate", Short: "Move from the Kubeflow or the Apache operator"}
	command.AddCommand(checkCommand(o, connect))
	return []*cobra.Command{command}
}

// check is the verb migrate check.
type check struct {
	*cli.Options
	connect       func() (*connection.Cluster, error)
	settings      settings.Flags
	allNamespaces bool
	format        string
	pageSize      int64
}

func checkCommand(o *cli.Options, connect func() (*connection.Cluster, error)) *cobra.Command {
	c := &check{Options: o, connect: connect}
	command := &cobra.Command{
		Use: "check [flags]", Short: "Show what a move to Firesteel would meet in this cluster",
		Long: `Show what a move from the Kubeflow or the Apache operator to Firesteel would meet in
this cluster: what Firesteel refuses or ignores of the objects, the settings that
take the place of the operator's, webhooks in the way, CRDs and accounts of drivers.
Each driver that runs is compared with the one that Firesteel would make.

It only reads, with your rights. Firesteel need not be installed. What may not be
read is listed at the end. By default the settings of a fresh installation are used,
with those that take the place of the operator's.

The exit code is 0 if nothing stands in the way, and 1 otherwise.`,
		Example: `  # Before anything is installed
  kubectl spark migrate check -A

  # One team, for a program
  kubectl spark migrate check -n team-a -o json

  # With the settings that Firesteel shall have
  kubectl spark migrate check -A --settings settings/`,
		Args: cli.None,
		RunE: func(command *cobra.Command, _ []string) error { return c.run(command.Context()) },
	}
	c.settings.AddTo(command)
	flags := command.Flags()
	flags.BoolVarP(&c.allNamespaces, "all-namespaces", "A", false, "Check the objects of all namespaces.")
	flags.StringVarP(&c.format, "output", "o", "text", "Format: text, json or yaml.")
	flags.Int64Var(&c.pageSize, "chunk-size", 200, "How many objects are read at once.")
	return command
}

func (c *check) run(ctx context.Context) error {
	write, known := writers[c.format]
	switch {
	case !known:
		return cli.Usage("-o %s is no format: write text, json or yaml", c.format)
	case c.pageSize <= 0:
		return cli.Usage("--chunk-size %d is not above 0: write how many objects are read at once", c.pageSize)
	}
	clients, err := c.connect()
	if err != nil {
		return err
	}
	r := &reading{check: c, Cluster: clients, report: migration.NewReport(), namespaces: map[string]bool{}, accounts: map[account]*accountUse{}}
	if c.allNamespaces {
		clients.Namespace = ""
	}
	if err := r.read(ctx); err != nil {
		return err
	}
	r.report.Finish()
	if err := write(c, r.report); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	if !r.report.Ready {
		return &cli.FoundError{}
	}
	return nil
}
