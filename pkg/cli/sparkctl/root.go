package sparkctl

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/see"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/cli/tunnel"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

const long = `The command line of the Kubeflow operator's earlier tool, for scripts that use it.

It works on the applications of all APIs. kubectl spark does the same and more, with
the namespace of the kubeconfig; here it is default unless -n names another one.

Exit codes: 0; 1 if the command failed; 2 if its command line is wrong; 3 if the
application whose log is followed failed.`

// verbs is what all verbs use.
type verbs struct{ *cli.Options }

// New returns the root command.
func New(o *cli.Options) *cobra.Command {
	v := verbs{o}
	root := &cobra.Command{
		Use: cli.Sparkctl, Short: "Spark applications on Kubernetes", Long: long, Version: version.String(),
		PersistentPreRun: func(*cobra.Command, []string) {
			if *o.Connection.Namespace == "" {
				*o.Connection.Namespace = defaultNamespace
			}
		},
	}
	root.SetVersionTemplate("{{.Version}}\n")
	addConnection(root, o)
	root.AddCommand(v.createCommand(), v.listCommand(), v.statusCommand(), v.eventCommand(), v.logCommand(), v.forwardCommand(), v.deleteCommand())
	return root
}

const defaultNamespace = "default"

// addConnection adds kubectl's flags about the cluster, with the letter of the kubeconfig.
func addConnection(root *cobra.Command, o *cli.Options) {
	connection := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Connection.AddFlags(connection)
	connection.VisitAll(func(flag *pflag.Flag) {
		switch flag.Name {
		case "kubeconfig":
			flag.Shorthand = "k"
		case "namespace":
			flag.Usage += " Default: " + defaultNamespace + "."
		}
		root.PersistentFlags().AddFlag(flag)
	})
	root.PersistentFlags().BoolVar(&o.NoColor, "no-color", false, "Print no colours. Only terminals get them anyway.")
}

// find reads the application that a user names.
func (v verbs) find(ctx context.Context, name string) (*target.Found, *overview.Object, error) {
	client, err := v.Dynamic()
	if err != nil {
		return nil, nil, err
	}
	return target.Find(ctx, client, *v.Connection.Namespace, name, overview.Application)
}

func (v verbs) eventCommand() *cobra.Command {
	var follow bool
	command := &cobra.Command{
		Use: "event NAME", Aliases: []string{"events"}, Short: "Show the events of an application",
		Long: "Show the transitions of an application, and the Kubernetes Events about it and its Pods, in order.", Args: cli.One("application"),
		RunE: func(command *cobra.Command, args []string) error {
			printed := newTable("Type", "Age", "Message").wide(10, 6, 50)
			first := true
			return see.Events(command.Context(), v.Options, see.EventsRequest{
				Namespace: *v.Connection.Namespace, Name: args[0], Follow: follow, Print: func(all []see.Happening) error {
					for _, h := range all {
						message := h.Message
						if h.Type == see.Transition {
							message = strings.TrimSuffix(h.Reason+": "+message, ": ")
						}
						printed.add(h.Type, v.age(h.Time), message)
					}
					defer func() { first = false }()
					return printed.flush(v.Out, first, !follow)
				},
			})
		},
	}
	command.Flags().BoolVarP(&follow, "follow", "f", false, "Go on with each that comes, until the application is gone.")
	return command
}

// patience is how long log waits for a log that is not there yet.
const patience = 30 * time.Second

func (v verbs) logCommand() *cobra.Command {
	var follow bool
	executor := -1
	command := &cobra.Command{
		Use: "log NAME", Aliases: []string{"logs"}, Short: "Print the log of a driver, or of an executor",
		Long: `Print the log of the driver of an application; with -e that of an executor. Without -f it waits up to 30s for the log.
With -f it waits for the Pod, and goes on with the driver of the next attempt, until the application has ended.`,
		Args: cli.One("application"),
		RunE: func(command *cobra.Command, args []string) error {
			request := see.LogRequest{Namespace: *v.Connection.Namespace, Name: args[0], Follow: follow, Patience: patience}
			if executor >= 0 {
				request.Executor = strconv.Itoa(executor)
			}
			return see.Log(command.Context(), v.Options, request)
		},
	}
	command.Flags().IntVarP(&executor, "executor", "e", executor, "Print the log of the executor with this ID, as Spark numbers them.")
	command.Flags().BoolVarP(&follow, "follow", "f", false, "Go on with what comes, across restarts.")
	return command
}

const uiPort = 4040

func (v verbs) forwardCommand() *cobra.Command {
	var local, remote int
	command := &cobra.Command{
		Use: "forward NAME", Short: "Forward a port of this machine to the UI of a driver",
		Long: `Forward a port of this machine to the UI of a driver, until Ctrl-C or the driver's end. If port 4040 of this machine is taken, and no other is named,
any that is free is taken. The remote port is that of the UI, unless it is named.`,
		Args: cli.One("application"),
		RunE: func(command *cobra.Command, args []string) error {
			if err := tunnel.CheckPort("--local-port", local); err != nil {
				return err
			}
			if err := tunnel.CheckPort("--remote-port", remote); err != nil {
				return err
			}
			if !command.Flags().Changed("local-port") && taken(local) {
				v.Warn(fmt.Sprintf("port %d of this machine is taken, so another one is: -l names one", local))
				local = 0
			}
			if !command.Flags().Changed("remote-port") {
				remote = 0 // that of the UI
			}
			return see.UI(command.Context(), v.Options, *v.Connection.Namespace, args[0], tunnel.Ports(local, remote))
		},
	}
	command.Flags().IntVarP(&local, "local-port", "l", uiPort, "The port of this machine.")
	command.Flags().IntVarP(&remote, "remote-port", "r", uiPort, "The port of the driver.")
	return command
}

// taken reports whether a port of this machine is in use.
func taken(port int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return true
	}
	_ = listener.Close() // nothing was written
	return false
}

func (v verbs) deleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Delete an application, with what it runs", Long: "Delete an application, and wait until it is gone.",
		Args: cli.One("application"),
		RunE: func(command *cobra.Command, args []string) error {
			found, _, err := v.find(command.Context(), args[0])
			if err != nil {
				return err
			}
			if err := v.remove(command.Context(), found); err != nil {
				return err
			}
			_, err = fmt.Fprintf(v.Out, "%s %q deleted\n", found.GetKind(), found.GetName())
			return err
		},
	}
}

// remove deletes an object, and waits until it is gone.
func (v verbs) remove(ctx context.Context, found *target.Found) error {
	client, err := v.Dynamic()
	if err != nil {
		return err
	}
	if err := actions.Delete(ctx, client, found, actions.WriteOptions{}); err != nil {
		return err
	}
	return target.Until(ctx, client, found, target.Gone)
}

// notAvailable is printed in the place of a missing value.
const notAvailable = "N.A."

// age returns how long ago a time was.
func (v verbs) age(at time.Time) string {
	if at.IsZero() {
		return notAvailable
	}
	return duration.ShortHumanDuration(v.Now().Sub(at))
}
