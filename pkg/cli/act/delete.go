package act

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
)

type deleteOptions struct {
	*verbs
	wait    bool
	timeout time.Duration
	dryRun  cli.DryRun
}

func (v *verbs) deleteCommand() *cobra.Command {
	d := &deleteOptions{verbs: v}
	command := &cobra.Command{
		Use: "delete NAME [flags]", SuggestFor: []string{"remove", "rm"}, Short: "Delete an object, with what it runs",
		Long: `Delete an object. The driver and the executors of an application end first. With a schedule its runs are deleted.

` + target.NameHelp,
		Args: cli.One("object"),
		RunE: func(command *cobra.Command, args []string) error { return d.run(command.Context(), args[0]) },
	}
	command.Flags().BoolVar(&d.wait, "wait", true, "Wait until the object is gone.")
	command.Flags().DurationVar(&d.timeout, "timeout", 0, "How long to wait; 0 for without end.")
	d.dryRun.AddFlag(command)
	return command
}

func (d *deleteOptions) run(ctx context.Context, name string) error {
	if d.timeout < 0 {
		return cli.Usage("--timeout %s is negative: write a duration such as 5m, or 0 for without end", d.timeout)
	}
	c, err := d.connect()
	if err != nil {
		return err
	}
	found, o, err := c.Find(ctx, name)
	if err != nil {
		return err
	}
	if err := d.carryOut(ctx, c, found, actions.Remove(c.subject(name, found, o)), d.dryRun); err != nil {
		return err
	}
	if !d.wait || d.dryRun != cli.DryRunNone {
		return nil
	}
	err = c.until(ctx, found, d.timeout, target.Gone)
	var late *timeoutError
	if errors.As(err, &late) {
		return fmt.Errorf("%s is being deleted, and is not gone after %s: %s says what it waits for", found.Reference(), d.timeout, c.Suggest("why", name))
	}
	return err
}
