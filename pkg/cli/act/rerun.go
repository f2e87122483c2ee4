package act

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/archived"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

type rerunOptions struct {
	*verbs
	archived archived.Flags
	name     string
	set      []string
	dryRun   cli.DryRun
	output   cli.Output
}

func (v *verbs) rerunCommand() *cobra.Command {
	r := &rerunOptions{verbs: v}
	command := &cobra.Command{
		Use: "rerun NAME [flags]", SuggestFor: []string{"restart", "retry", "resubmit"}, Short: "Run an application again, as a new object",
		Long: `Create a new application with the spec of another one. The old one stays as it is.

--set changes a field of the spec by its path: mainClass=Main, sparkConf.spark.sql.shuffle.partitions=8,
arguments=["a","b"]. These names are understood for every API, even if it has Spark properties in their place:
image, driver.memory, driver.memoryOverhead, driver.cores, driver.serviceAccount, executor.memory,
executor.memoryOverhead, executor.cores, executor.instances.

The spec of an application that is gone is that of the archive, if there is one. It has no values of secrets: what has to be given again is named.

` + target.NameHelp,
		Example: `  kubectl spark rerun etl --set driver.memoryOverhead=2g
  kubectl spark rerun etl --name etl-again -o yaml --dry-run=client`,
		Args: cli.One("application"),
		RunE: func(command *cobra.Command, args []string) error { return r.run(command.Context(), args[0]) },
	}
	command.Flags().StringVar(&r.name, "name", "", "The name of the new application. Default: NAME-rerun- and a random text.")
	command.Flags().StringArrayVar(&r.set, "set", nil, "FIELD=VALUE: a change of the spec. May be given several times.")
	r.archived.AddTo(command)
	r.dryRun.AddFlag(command)
	r.output.AddFlag(command)
	return command
}

func (r *rerunOptions) run(ctx context.Context, name string) error {
	if err := r.output.Check(); err != nil {
		return err
	}
	changes, err := actions.ParseChanges(r.set)
	if err != nil {
		return usage("--set", err)
	}
	if err := actions.CheckName(r.name); err != nil {
		return usage("--name", err)
	}
	c, err := r.connect()
	if err != nil {
		return err
	}
	found, o, err := c.Find(ctx, name, overview.Application)
	fromArchive := err != nil
	if fromArchive {
		found, o, err = r.findArchived(ctx, c, name, err)
	}
	if err != nil {
		return err
	}
	if r.name == found.GetName() {
		return cli.Usage("--name %s is the name of the old application: write another one", r.name)
	}
	plan, err := actions.Rerun(c.subject(name, found, o), r.name, changes)
	if err != nil {
		return usage("--set", err)
	}
	if fromArchive {
		if err := checkRedacted(plan.Creates.Unstructured); err != nil {
			return err
		}
	}
	if plan.Warning != "" {
		r.Warn(plan.Warning)
	}
	return r.create(ctx, c, plan, r.dryRun, r.output)
}
