package act

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
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
	if _, ok := fieldNamed(specType(o), "suspend"); !ok {
		return fmt.Errorf("%s cannot be suspended: %s has no field for it; %s ends it", found.Reference(), found.Resource.Group, c.suggest("stop", name))
	}
	if suspended(found.Unstructured) == s.suspend {
		s.did(found, map[bool]string{true: "is suspended already", false: "is not suspended"}[s.suspend], cli.DryRunNone)
		return nil
	}
	fmt.Fprintln(s.ErrOut, s.effect(found, o))
	if err := c.patch(ctx, found, s.dryRun, map[string]any{"spec": map[string]any{"suspend": s.suspend}}); err != nil {
		return err
	}
	s.did(found, map[bool]string{true: "suspended", false: "resumed"}[s.suspend], s.dryRun)
	return nil
}

func suspended(object *unstructured.Unstructured) bool {
	value, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend") // the schema allows nothing else
	return value
}

// effect says what the field does to an object.
func (s *suspendOptions) effect(found *target.Found, o *overview.Object) string {
	if !s.suspend {
		return resumption(found, o)
	}
	switch {
	case o.Kind == overview.Schedule:
		return "No run starts until it is resumed. Runs that were started go on."
	case o.Kind == overview.Cluster && o.State != "":
		return "Suspend holds only the creation of a cluster. This one exists, and goes on."
	case o.Kind == overview.Cluster:
		return "The cluster is not created until it is resumed."
	case o.Ended():
		return fmt.Sprintf("The application has ended (%s): nothing of it runs.", o.StateName())
	case o.Phase == overview.Running && found.Resource.Group == kubeflow.API.Group:
		return "The driver and its executors are stopped. Resumed, the application runs from its beginning."
	case o.Phase == overview.Running:
		return "The driver goes on to its end: suspend holds only the next launch. kubectl spark stop ends it."
	default:
		return "The next launch waits until it is resumed."
	}
}

func resumption(found *target.Found, o *overview.Object) string {
	switch {
	case o.Kind == overview.Schedule:
		return "Runs start again. If instants passed meanwhile, the latest runs now, unless its starting deadline is over."
	case o.Kind == overview.Cluster:
		return "The cluster is created, unless it exists."
	case o.Ended():
		return fmt.Sprintf("The application has ended (%s), and does not run again.", o.StateName())
	case found.Resource.Group == kubeflow.API.Group:
		return "The application runs from its beginning, if its driver was stopped."
	default:
		return "The next launch waits no longer."
	}
}
