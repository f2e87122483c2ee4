package act

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

type suspendOptions struct {
	*verbs
	suspend bool
	nouns   []overview.Kind
	dryRun  cli.DryRun
}

// suspendCommand returns suspend or resume.
func (v *verbs) suspendCommand(suspend bool, nouns ...overview.Kind) *cobra.Command {
	s := &suspendOptions{verbs: v, suspend: suspend, nouns: nouns}
	command := &cobra.Command{
		Use: "suspend NAME [flags]", Short: "Suspend an application, a cluster or a schedule",
		Long: `Suspend an object. What that does depends on its kind, and is said first:

  spark.apache.org applications      the next launch waits; a driver that runs goes on
  sparkoperator.k8s.io applications  the driver is stopped; resumed, it begins anew
  spark-operator.k8s.io applications have no such field
  clusters                           one that does not exist yet is not created
  schedules                          no run starts; runs that were started go on

` + target.NameHelp,
		Args: cli.One("object"),
		RunE: func(command *cobra.Command, args []string) error { return s.run(command.Context(), args[0]) },
	}
	if !suspend {
		command.Use, command.Short = "resume NAME [flags]", "Resume what was suspended"
		command.Long = "Resume an object that was suspended.\n\n" + target.NameHelp
	}
	if len(nouns) > 0 {
		command.Long = "" // the group says what it is about
		command.Args = cli.One(string(nouns[0]))
		command.Short = map[bool]string{true: "Start no further runs", false: "Start runs again"}[suspend]
	}
	s.dryRun.AddFlag(command)
	return command
}

func (s *suspendOptions) run(ctx context.Context, name string) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	found, o, err := c.find(ctx, name, s.nouns...)
	if err != nil {
		return err
	}
	change := actions.Resume
	if s.suspend {
		change = actions.Suspend
	}
	plan, err := change(c.subject(name, found, o))
	if err != nil {
		return err
	}
	return s.carryOut(ctx, c, found, plan, s.dryRun)
}
