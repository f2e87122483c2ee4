package sparkctl

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/act"
	"github.com/firesteel-dev/firesteel/pkg/cli/see"
	"github.com/firesteel-dev/firesteel/pkg/cli/submit"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
)

type createOptions struct {
	verbs
	from          string
	replace, logs bool
	// explicit reports whether the command line names the namespace.
	explicit bool
}

func (v verbs) createCommand() *cobra.Command {
	c := &createOptions{verbs: v}
	command := &cobra.Command{
		Use: "create FILE | NAME --from SCHEDULE", Short: "Create an application from a manifest, or a run of a schedule",
		Long: `Create an application from the manifest in a file. With --from, create one with that name from the template of a schedule, which owns it.

If the variable HADOOP_CONF_DIR names a folder, a ConfigMap of its files is created with the application, which owns it.

No file is uploaded: the flags of uploads are taken, and have no effect. A manifest that names a file of this machine is refused.`,
		Example: `  sparkctl create pi.yaml --delete --logs
  sparkctl create nightly-now --from nightly -n reports`,
		Args: cli.One("manifest"),
		RunE: func(command *cobra.Command, args []string) error {
			c.explicit = command.Flags().Changed("namespace")
			if without := uploadFlags(command.Flags()); len(without) > 0 {
				c.Warn(strings.Join(without, ", ") + ": without effect, since no file is uploaded. Copy files of this machine with the client of the storage, and write their URLs into the manifest")
			}
			return c.run(command.Context(), args[0])
		},
	}
	flags := command.Flags()
	flags.StringVarP(&c.from, "from", "f", "", "The schedule of which this is a run.")
	flags.BoolVarP(&c.replace, "delete", "d", false, "Delete the application first, if there is one of that name, and wait until it is gone.")
	flags.BoolVarP(&c.logs, "logs", "l", false, "Print the driver's log until the application has ended.")
	for _, flag := range uploads {
		if flag.isSwitch {
			flags.BoolP(flag.name, flag.letter, false, withoutEffect)
		} else {
			flags.StringP(flag.name, flag.letter, "", withoutEffect)
		}
	}
	return command
}

const withoutEffect = "Without effect: no file is uploaded."

// uploads are the flags of uploads.
var uploads = []struct {
	name, letter string
	isSwitch     bool
}{
	{"upload-to", "u", false},
	{"upload-prefix", "p", false},
	{"upload-to-region", "r", false},
	{"upload-to-endpoint", "e", false},
	{"public", "c", true},
	{"s3-force-path-style", "", true},
	{"override", "o", true},
}

// uploadFlags returns the flags of uploads that are given.
func uploadFlags(flags *pflag.FlagSet) (given []string) {
	for _, flag := range uploads {
		if flags.Changed(flag.name) {
			given = append(given, "--"+flag.name)
		}
	}
	return given
}

func (c *createOptions) run(ctx context.Context, named string) error {
	object, err := c.object(ctx, named)
	if err != nil {
		return err
	}
	hadoop, err := hadoopConf(object, os.Getenv(hadoopVariable))
	if err != nil {
		return err
	}
	if c.replace {
		if err := c.removeOld(ctx, object); err != nil {
			return err
		}
	}
	created, err := c.createWith(ctx, object, hadoop)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c.Out, "%s %q created\n", created.GetKind(), created.GetName()); err != nil || !c.logs {
		return err
	}
	return see.Log(ctx, c.Options, see.LogRequest{Namespace: created.GetNamespace(), Name: created.Reference(), Follow: true})
}

// object returns the object to create: that of a file, or a run of a schedule.
func (c *createOptions) object(ctx context.Context, named string) (*unstructured.Unstructured, error) {
	if c.from != "" {
		client, err := c.Dynamic()
		if err != nil {
			return nil, err
		}
		run, err := act.NewRun(ctx, client, *c.Connection.Namespace, c.from, c.Now())
		if err != nil {
			return nil, err
		}
		run.SetName(named)
		return run.Unstructured, nil
	}
	objects, err := submit.ReadManifests(c.Options, []string{named}, *c.Connection.Namespace, c.explicit)
	switch {
	case err != nil:
		return nil, err
	case len(objects) != 1:
		return nil, cli.Usage("%s holds %d objects, and one is expected: kubectl spark submit -f %s creates all", named, len(objects), named)
	default:
		return objects[0], nil
	}
}

// removeOld deletes the object with the name of a new one, if there is one. The new one is checked by the API server before.
func (c *createOptions) removeOld(ctx context.Context, object *unstructured.Unstructured) error {
	_, err := submit.Create(ctx, c.Options, object, cli.DryRunServer)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	resource, err := submit.ResourceOf(object)
	if err != nil {
		return err
	}
	client, err := c.Dynamic()
	if err != nil {
		return err
	}
	old, err := client.Resource(resource).Namespace(object.GetNamespace()).Get(ctx, object.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	return c.remove(ctx, &target.Found{Unstructured: old, Resource: resource})
}

// createWith creates an object, and before it the ConfigMap that it mounts, if there is one.
func (c *createOptions) createWith(ctx context.Context, object *unstructured.Unstructured, hadoop *corev1.ConfigMap) (*target.Found, error) {
	if hadoop == nil {
		return submit.Create(ctx, c.Options, object, cli.DryRunNone)
	}
	return submit.CreateWithConfigMap(ctx, c.Options, hadoop, func(name string) (*unstructured.Unstructured, error) {
		return object, setHadoopConf(object, name)
	})
}
