package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Names under which the binary is installed. Each is the same program.
const (
	// Plugin is the name by which kubectl finds it: kubectl spark.
	Plugin = "kubectl-spark"
	// Completion is the program that kubectl runs to complete command lines of the plugin.
	Completion = "kubectl_complete-spark"
	// SparkSubmit takes the place of Spark's script of this name.
	SparkSubmit = "spark-submit"
	// Sparkctl takes the place of the Kubeflow operator's earlier command line.
	Sparkctl = "sparkctl"
)

// DefaultNamespace is the namespace of Firesteel unless it was installed into another one.
const DefaultNamespace = "firesteel-system"

// Options are what all commands share.
type Options struct {
	genericiooptions.IOStreams
	// Connection are kubectl's flags about the cluster.
	Connection *genericclioptions.ConfigFlags
	// Program is the name under which the process was started.
	Program string
	// Now is the clock.
	Now func() time.Time
	// NoColor is the flag --no-color.
	NoColor bool
}

// NewOptions returns the options of a process that was started under a name.
func NewOptions(program string, streams genericiooptions.IOStreams) *Options {
	return &Options{
		IOStreams: streams, Connection: genericclioptions.NewConfigFlags(true).WithWarningPrinter(streams), Program: program, Now: time.Now,
	}
}

// Namespace returns the namespace of the command line or, without one, of the kubeconfig. explicit reports whether the command line names it.
func (o *Options) Namespace() (namespace string, explicit bool, err error) {
	namespace, explicit, err = o.Connection.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", false, o.connectionError(err)
	}
	return namespace, explicit, nil
}

// Cluster returns the connection to the API server.
func (o *Options) Cluster() (*rest.Config, error) {
	cluster, err := o.Connection.ToRESTConfig()
	if err == nil && o.isUnset(cluster) {
		err = clientcmd.ErrEmptyConfig
	}
	if err != nil {
		return nil, o.connectionError(err)
	}
	cluster.QPS = -1 // no limit of our own: the API server has one
	cluster.UserAgent = rest.DefaultKubernetesUserAgent()
	return cluster, nil
}

// isUnset reports whether nothing names a cluster: then kubectl's libraries take a default address.
func (o *Options) isUnset(cluster *rest.Config) bool {
	raw, err := o.Connection.ToRawKubeConfigLoader().RawConfig()
	return err == nil && len(raw.Clusters) == 0 && cluster.Host == "http://localhost:8080" && *o.Connection.APIServer == ""
}

// Dynamic returns a client of objects of any kind.
func (o *Options) Dynamic() (dynamic.Interface, error) {
	cluster, err := o.Cluster()
	if err != nil {
		return nil, err
	}
	return dynamic.NewForConfig(cluster)
}

// Kubernetes returns a client of Kubernetes' own kinds.
func (o *Options) Kubernetes() (kubernetes.Interface, error) {
	cluster, err := o.Cluster()
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(cluster)
}

// Terminal reports whether a stream is a terminal.
func Terminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Color colours a text if the stream is a terminal that shows colours.
func (o *Options) Color(stream io.Writer, color Color, text string) string {
	if o.NoColor || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !Terminal(stream) {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", color, text)
}

// Color is a colour of terminals.
type Color int

// The colours, by their meaning.
const (
	// Bad is red: failed, an error.
	Bad Color = 31
	// Good is green: running or succeeded, an added line.
	Good Color = 32
	// Odd is yellow: waiting, a warning.
	Odd Color = 33
	// Dim is grey: less important.
	Dim Color = 90
)

// DryRun is the flag --dry-run of commands that write.
type DryRun string

// The values of --dry-run.
const (
	// DryRunNone writes.
	DryRunNone DryRun = "none"
	// DryRunClient prints what would be sent.
	DryRunClient DryRun = "client"
	// DryRunServer makes the API server check the object without storing it.
	DryRunServer DryRun = "server"
)

// AddFlag adds the flag to a command.
func (d *DryRun) AddFlag(command *cobra.Command) {
	*d = DryRunNone
	command.Flags().Var(d, "dry-run", "none, client or server: only print the object, or let the API server check it without storing it.")
	command.Flags().Lookup("dry-run").NoOptDefVal = string(DryRunClient)
	_ = command.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions( // the flag exists
		[]cobra.Completion{string(DryRunNone), string(DryRunClient), string(DryRunServer)}, cobra.ShellCompDirectiveNoFileComp))
}

// Options returns the value of the field DryRun of an API request.
func (d *DryRun) Options() []string {
	if *d == DryRunServer {
		return []string{"All"}
	}
	return nil
}

// Note is added to the message about a change, in kubectl's words; empty if the change was made.
func (d *DryRun) Note() string {
	switch *d {
	case DryRunClient:
		return " (dry run)"
	case DryRunServer:
		return " (server dry run)"
	default:
		return ""
	}
}

func (d *DryRun) String() string { return string(*d) }

// Set sets the flag.
func (d *DryRun) Set(value string) error {
	switch given := DryRun(value); given {
	case DryRunNone, DryRunClient, DryRunServer:
		*d = given
		return nil
	default:
		return fmt.Errorf("write none, client or server")
	}
}

// Type is the name of the type in help texts.
func (d *DryRun) Type() string { return "string" }
