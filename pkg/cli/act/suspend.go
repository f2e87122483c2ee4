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
		Use: "suspend NAME [flags]", SuggestFor: []string{"pause", "hold"}, Short: "Suspend an application, a cluster or a schedule",
		Long: `Suspend an object: spec.suspend of it becomes true. What that does depends on its kind.
The command says it before it changes anything; --dry-run only says it.

  spark.apache.org applications      The next launch waits. A driver that runs goes on: kubectl spark stop ends it.
  sparkoperator.k8s.io applications  The driver is deleted, with its executors. Resumed, the application begins anew.
  spark-operator.k8s.io applications They have no such field: kubectl spark stop ends one.
  clusters                           One that does not exist yet is not created. One that exists goes on.
  schedules                          No run starts. Runs that were started go on.

kubectl spark resume undoes it.

` + target.NameHelp,
		Example: `  # What would happen
  kubectl spark suspend etl --dry-run

  # The schedule, if an application has the same name
  kubectl spark suspend schedule/nightly`,
		Args: cli.One("object"),
		RunE: func(command *cobra.Command, args []string) error { return s.run(command.Context(), args[0]) },
	}
	if !suspend {
		command.Use, command.Short = "resume NAME [flags]", "Resume what was suspended"
		command.SuggestFor = []string{"unsuspend", "continue"}
		command.Long = `Resume an object that was suspended: spec.suspend of it becomes false. The next launch of an application waits no longer. One of
sparkoperator.k8s.io whose driver was stopped runs from its beginning. A cluster is created unless it exists. A schedule starts runs again: if instants
passed meanwhile, the latest of them runs now.

` + target.NameHelp
		command.Example = `  kubectl spark resume etl
  kubectl spark resume schedule/nightly`
	}
	if len(nouns) > 0 {
		command.Long, command.Example = "", "" // the group says what it is about
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
	found, o, err := c.Find(ctx, name, s.nouns...)
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
