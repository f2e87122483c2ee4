package act

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

type stopOptions struct {
	*verbs
	reason string
	dryRun cli.DryRun
}

func (v *verbs) stopCommand() *cobra.Command {
	s := &stopOptions{verbs: v}
	command := &cobra.Command{
		Use: "stop NAME [flags]", SuggestFor: []string{"kill", "cancel", "terminate"}, Short: "Stop an application for good, and keep its object",
		Long: `Stop an application of any API. The driver ends within its grace period, and the executors with it. Nothing starts
the application again, whatever its restart policy: the last attempt is Failed with the reason Stopped. The object
stays, with its record, until it is deleted or its time to live is over. An application that waits or is suspended ends
without a driver.

The verb sets the annotation firesteel.dev/stop, with the reason and your name. Removing the annotation starts nothing
again; kubectl spark rerun creates a new application.

` + target.NameHelp,
		Args: cli.One("application"),
		RunE: func(command *cobra.Command, args []string) error { return s.run(command.Context(), args[0]) },
	}
	command.Flags().StringVar(&s.reason, "reason", "", "Why it is stopped. Conditions and events repeat it.")
	s.dryRun.AddFlag(command)
	return command
}

func (s *stopOptions) run(ctx context.Context, name string) error {
	if size := len(s.reason); size > actions.MaxReason {
		return cli.Usage("--reason has %d bytes: write at most %d", size, actions.MaxReason)
	}
	c, err := s.connect()
	if err != nil {
		return err
	}
	found, o, err := c.Find(ctx, name, overview.Application)
	if err != nil {
		return err
	}
	plan, err := actions.Stop(c.subject(name, found, o), s.reason)
	if err != nil {
		return err
	}
	return s.carryOut(ctx, c, found, plan, s.dryRun)
}
