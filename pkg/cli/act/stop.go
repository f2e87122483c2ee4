package act

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// maxReason bounds a reason, so that it fits into messages with the user.
const maxReason = 160

type stopOptions struct {
	*verbs
	reason string
	dryRun cli.DryRun
}

func (v *verbs) stopCommand() *cobra.Command {
	s := &stopOptions{verbs: v}
	command := &cobra.Command{
		Use: "stop NAME [flags]", Short: "Stop an application for good, and keep its object",
		Long: `Stop an application of any API. The driver ends within its grace period, and the executors with it. Nothing starts
the application again, whatever its restart policy: the last attempt is Failed with the reason Stopped. The object
stays, with its record, until it is deleted or its time to live is over. An application that waits or is suspended ends
without a driver.

The verb sets the annotation firesteel.dev/stop, with the reason and your name. To remove the annotation starts nothing
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
	if size := len(s.reason); size > maxReason {
		return cli.Usage("--reason has %d bytes: write at most %d", size, maxReason)
	}
	c, err := s.connect()
	if err != nil {
		return err
	}
	found, o, err := c.find(ctx, name, overview.Application)
	if err != nil {
		return err
	}
	app := o.Typed.(dialect.Application)
	switch {
	case o.Over():
		s.did(found, fmt.Sprintf("has ended (%s): there is nothing to stop", o.StateName()), cli.DryRunNone)
		return nil
	case dialect.FollowsUserDriver(app):
		return fmt.Errorf("the user started the driver of %s, and Firesteel does not stop it: kubectl delete pod %s -n %s ends it", found.Reference(), o.DriverPod, o.Namespace())
	case app.GetUndecodable() != "":
		return fmt.Errorf("the spec of %s cannot be decoded, and Firesteel leaves what it runs: correct the spec first, or %s ends it", found.Reference(), c.suggest("delete", name))
	case o.Inherited:
		return fmt.Errorf("another operator runs %s, and knows no stop: %s ends it", found.Reference(), c.suggest("delete", name))
	case dialect.IsStopped(app):
		s.did(found, "is stopped already", cli.DryRunNone)
		return nil
	}
	fmt.Fprintln(s.ErrOut, stopEffect(o))
	if err := target.Stop(ctx, c.dynamic, found, s.dryRun, s.reason); err != nil {
		return err
	}
	s.did(found, "stopped", s.dryRun)
	return nil
}

// stopEffect says what the stop of an application does.
func stopEffect(o *overview.Object) string {
	if o.Phase == overview.Running {
		return "The driver ends within its grace period, and its executors with it. Nothing starts the application again."
	}
	return "The application ends without a further driver. Nothing starts it again."
}
