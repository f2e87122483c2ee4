package console

import (
	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/tunnel"
)

const long = `Show applications, schedules and clusters in the browser: what runs, why it waits or failed, logs, and the UIs of drivers.

The pages are served at a port of this machine until Ctrl-C, with your own rights by the kubeconfig. Nothing is installed in the cluster, and applications
that another operator runs are shown, too. All namespaces are shown if you may list them, and otherwise that of -n or of the kubeconfig.

The printed link opens one browser, once, within 5 minutes: start the command again for another one. The browser is opened with a file that only
you can read and that leads to the link, because others can see the arguments of programs. If your browser cannot read that file, open the link yourself.`

// Commands returns the verb.
func Commands(o *cli.Options) []*cobra.Command {
	given := options{Options: o}
	command := &cobra.Command{
		Use: "console", SuggestFor: []string{"dashboard", "web"}, Short: "Show what there is in the browser", Long: long, Args: cli.None,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := given.check(); err != nil {
				return err
			}
			return run(command.Context(), given)
		},
	}
	flags := command.Flags()
	flags.IntVar(&given.Port, "port", 0, "The port of this machine; 0 for any that is free.")
	flags.IntVar(&given.SparkUIPort, "spark-ui-port", 0, "The port of this machine for the UIs of drivers; 0 for any that is free.")
	flags.BoolVarP(&given.AllNamespaces, "all-namespaces", "A", false, "Show all namespaces, or fail if you may not list them.")
	flags.BoolVar(&given.Actions, "actions", false, "Let the pages suspend, resume, stop, run again, run now, scale and delete, and the UIs of drivers end jobs and stages, as far as you have the right.")
	flags.StringVar(&given.SettingsNamespace, "settings-namespace", cli.DefaultNamespace, "The namespace of Firesteel, whose settings are used if you may list its ConfigMaps.")
	flags.BoolVar(&given.NoBrowser, "no-browser", false, "Open no browser.")
	return []*cobra.Command{command}
}

// check returns a usage error if a flag is invalid.
func (o options) check() error {
	if err := tunnel.CheckPort("--port", o.Port); err != nil {
		return err
	}
	if err := tunnel.CheckPort("--spark-ui-port", o.SparkUIPort); err != nil {
		return err
	}
	if o.Port != 0 && o.Port == o.SparkUIPort {
		return cli.Usage("--port and --spark-ui-port are both %d: write two ports, because the UIs of drivers need an address of their own", o.Port)
	}
	return nil
}
