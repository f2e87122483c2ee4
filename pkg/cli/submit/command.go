package submit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/upload"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

// Commands returns the verbs of this package.
func Commands(o *cli.Options) []*cobra.Command {
	return []*cobra.Command{submitCommand(&submitter{Options: o})}
}

// submitter runs the verb.
type submitter struct {
	*cli.Options
	output       cli.Output
	dryRun       cli.DryRun
	files        []string
	api          string
	sparkVersion string
	upload       upload.Flags
	watch, wait  bool
	logs         bool
}

const long = `Submit an application with the command line of spark-submit. It becomes an object of the
cluster, and an operator runs it: this command needs no Spark and no JVM.

The application file is the first argument that is no option, and all after it are the
application's. A file of the image is written local:///path. Files of this machine are
uploaded by --upload-to: the application file, --jars, --py-files, --files and --archives,
and with -f those that the manifest names, by paths from the current folder on. They are
named by their content, so that none is sent twice. Parameters of the URL are those of
gocloud.dev/blob, such as endpoint, region and use_path_style of s3://. The credentials
are those that the tools of the cloud use. pvc://CLAIM/FOLDER is a folder of a claim: a
short-lived Pod stores the files, and Spark reads them where the driver mounts it. Without
the option, spark.kubernetes.file.upload.path says where, as for spark-submit.

--name is the name of the object if it can be one and is free. Otherwise it begins the name.
Installed under the name spark-submit, each run gets a name of its own, and the command
waits until the application has ended, unless spark.kubernetes.submission.waitAppCompletion
is false.

Options of spark-submit:
`

const example = `  # Spark's own example
  kubectl spark submit --class org.apache.spark.examples.SparkPi --name pi \
    --conf spark.kubernetes.container.image=apache/spark:4.1.0 --conf spark.executor.instances=2 \
    local:///opt/spark/examples/jars/spark-examples.jar 1000

  # In the namespace team-a, and with the driver's log until the end
  kubectl spark submit -n team-a --logs --name etl --conf spark.kubernetes.container.image=etl:4.1.0 local:///app/etl.py

  # With files of this machine
  kubectl spark submit --upload-to s3://team-a/apps --name etl --py-files lib.zip --conf spark.kubernetes.container.image=etl:4.1.0 etl.py

  # What would be created
  kubectl spark submit --dry-run=client -o yaml --conf spark.kubernetes.container.image=etl:4.1.0 local:///app/etl.py

  # A manifest
  kubectl spark submit -f etl.yaml --wait

  # A manifest that names files of this machine, such as mainApplicationFile: etl.py
  kubectl spark submit -f etl.yaml --upload-to s3://team-a/apps`

func submitCommand(s *submitter) *cobra.Command {
	command := &cobra.Command{
		Use: "submit [options] <app jar | python file | R file> [app arguments]", SuggestFor: []string{"create", "apply", "run", "start"}, Short: "Submit an application, with spark-submit's command line",
		Long: long + optionsHelp(), Example: example,
		DisableFlagParsing: true, // the application's own arguments may look like flags
		Args:               cobra.ArbitraryArgs,
		ValidArgsFunction:  complete,
		RunE:               s.run,
	}
	flags := command.Flags()
	flags.StringArrayVarP(&s.files, "filename", "f", nil, "File or folder with manifests, in the place of a command line; - for the standard input.")
	flags.StringVar(&s.api, "api", "", "The API of the application: "+strings.Join(apiNames(), ", ")+". By default the first of them that the cluster serves.")
	flags.StringVar(&s.sparkVersion, "spark-version", "", "The version of Spark in the image. By default that of the image's tag, else that of $SPARK_HOME.")
	flags.BoolVarP(&s.watch, "watch", "w", false, "Print each state until the application has ended.")
	flags.BoolVar(&s.wait, "wait", false, "Wait until the application has ended.")
	flags.BoolVar(&s.logs, "logs", false, "Print the driver's log until the application has ended.")
	s.upload.AddTo(command)
	s.dryRun.AddFlag(command)
	s.output.AddFlag(command)
	return command
}

// optionsHelp lists the options of spark-submit.
func optionsHelp() string {
	var text strings.Builder
	for _, option := range sparksubmit.Options {
		name := option.Name
		if option.Short != "" {
			name += ", " + option.Short
		}
		fmt.Fprintf(&text, "  %-38s %s\n", strings.TrimSpace(name+" "+option.Value), option.Help)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func (s *submitter) run(command *cobra.Command, args []string) error {
	line, err := sparksubmit.Parse(args, ownFlags(command))
	if err != nil {
		return cli.Usage("%v", err)
	}
	if err := s.output.Check(); err != nil {
		return err
	}
	if err := s.checkFlags(); err != nil {
		return err
	}
	switch line.Action {
	case sparksubmit.PrintHelp:
		return command.Help()
	case sparksubmit.PrintUsage:
		return cli.Usage("this is no command line of spark-submit")
	case sparksubmit.PrintVersion:
		_, err := fmt.Fprintln(s.Out, version.String())
		return err
	}
	if len(s.files) > 0 {
		if !line.Empty() {
			return cli.Usage("-f names a manifest, which cannot go with options of spark-submit or an application file: leave one of them out")
		}
		return s.submitManifests(command.Context())
	}
	submission, found := line.Resolve(Sources(os.Getenv))
	if err := s.reportLine(found); err != nil {
		return err
	}
	if err := s.connectAs(submission); err != nil {
		return err
	}
	switch line.Action {
	case sparksubmit.Kill:
		return s.kill(command.Context(), line.SubmissionID, submission)
	case sparksubmit.Status:
		return s.status(command.Context(), line.SubmissionID)
	default:
		return s.submit(command.Context(), submission)
	}
}

// checkFlags returns a usage error if flags of this command contradict each other.
func (s *submitter) checkFlags() error {
	switch {
	case s.logs && s.watch:
		return cli.Usage("--logs and --watch print to the same place: leave one of them out")
	default:
		return errors.Join(CheckVersion(s.sparkVersion), s.upload.Check())
	}
}

// suggest returns a command about an object. It names the namespace unless the kubeconfig does.
func (s *submitter) suggest(verb, namespace, name string) string {
	if current, explicit, err := s.Namespace(); err == nil && !explicit && current == namespace {
		namespace = ""
	}
	return cli.Suggestion(verb, name, namespace)
}

// ownFlags handles the flags of kubectl and of this command.
func ownFlags(command *cobra.Command) sparksubmit.Foreign {
	command.InheritedFlags() // adds them to the command's own
	flags := command.Flags()
	return func(arguments []string) (int, error) {
		flag, value, given := flagOf(flags, arguments[0])
		switch {
		case flag == nil:
			return 0, nil
		case given:
			return 1, set(flags, flag, value)
		case flag.NoOptDefVal != "":
			return 1, set(flags, flag, flag.NoOptDefVal)
		case len(arguments) == 1:
			return 0, fmt.Errorf("missing argument for option '%s'", arguments[0])
		default:
			return 2, set(flags, flag, arguments[1])
		}
	}
}

// flagOf returns the flag of an argument, and its value if that is in the same argument.
func flagOf(flags *pflag.FlagSet, argument string) (flag *pflag.Flag, value string, given bool) {
	if name, long := strings.CutPrefix(argument, "--"); long {
		name, value, given = strings.Cut(name, "=")
		return flags.Lookup(name), value, given
	}
	letter, rest := argument[1:2], argument[2:]
	flag = flags.ShorthandLookup(letter)
	if flag == nil || rest == "" {
		return flag, "", false
	}
	value, assigned := strings.CutPrefix(rest, "=")
	if flag.NoOptDefVal != "" && !assigned {
		return nil, "", false // letters are not combined
	}
	return flag, value, true
}

func set(flags *pflag.FlagSet, flag *pflag.Flag, value string) error {
	if err := flags.Set(flag.Name, value); err != nil {
		return cli.FlagValue(err)
	}
	return nil
}

// complete completes the options of spark-submit, which are no flags of this command, and else files.
func complete(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if !strings.HasPrefix(begun, "-") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var all []cobra.Completion
	for _, option := range sparksubmit.Options {
		if strings.HasPrefix(option.Name, begun) {
			all = append(all, cobra.CompletionWithDesc(option.Name, option.Help))
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// Sources are the files of this machine, and an environment.
func Sources(environment func(name string) string) sparksubmit.Sources {
	return sparksubmit.Sources{Environment: environment, ReadFile: readFile, ReadFolder: readFolder}
}

// readFolder returns the names of the files in a folder. Kubernetes mounts them as links.
func readFolder(name string) ([]string, error) {
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if info, err := os.Stat(filepath.Join(name, entry.Name())); err == nil && info.Mode().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

func readFile(name string) ([]byte, error) {
	file, err := os.Open(name) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, sparksubmit.MaxBytes+1))
}
