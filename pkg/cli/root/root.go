// Package root puts the command line together: the root command, with the verbs of all families.
package root

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/act"
	"github.com/firesteel-dev/firesteel/pkg/cli/console"
	"github.com/firesteel-dev/firesteel/pkg/cli/migrate"
	"github.com/firesteel-dev/firesteel/pkg/cli/offline"
	"github.com/firesteel-dev/firesteel/pkg/cli/see"
	"github.com/firesteel-dev/firesteel/pkg/cli/sparkctl"
	"github.com/firesteel-dev/firesteel/pkg/cli/submit"
)

// families are the groups in which the help shows the verbs.
var families = []struct {
	id, title string
	commands  func(*cli.Options) []*cobra.Command
}{
	{"submit", "Run an application:", submit.Commands},
	{"offline", "Check a manifest without a cluster:", offline.Commands},
	{"see", "See what there is, and why:", func(o *cli.Options) []*cobra.Command { return append(see.Commands(o), console.Commands(o)...) }},
	{"act", "Change what there is:", act.Commands},
	{"migrate", "Move in from another operator:", migrate.Commands},
}

const long = `Submit, follow, explain and check Apache Spark applications on Kubernetes.

It works on the applications of spark.apache.org, sparkoperator.k8s.io and
spark-operator.k8s.io, whichever operator runs them, with your own rights.
plan, lint and convert need no cluster.

Exit codes: 0; 1 if the command failed; 2 if its command line is wrong; 3 if the
application failed.`

// New returns the root command, by the name under which the process was started.
func New(o *cli.Options) *cobra.Command {
	if o.Program == cli.Sparkctl {
		return sparkctl.New(o)
	}
	root := &cobra.Command{
		Use: cli.Plugin, Short: "Spark applications on Kubernetes", Long: long,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl spark"},
		Version:     version.String(),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	o.Connection.AddFlags(root.PersistentFlags())
	root.PersistentFlags().BoolVar(&o.NoColor, "no-color", false, "Print no colours. Only terminals get them anyway.")
	for _, family := range families {
		root.AddGroup(&cobra.Group{ID: family.id, Title: family.title})
		for _, command := range family.commands(o) {
			command.GroupID = family.id
			root.AddCommand(command)
		}
	}
	root.AddCommand(versionCommand(o))
	return root
}

func versionCommand(o *cli.Options) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cli.None,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(o.Out, version.String())
			return err
		},
	}
}
