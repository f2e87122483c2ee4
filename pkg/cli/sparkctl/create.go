package sparkctl

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
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
	upload        uploadOptions
	// explicit reports whether the command line names the namespace.
	explicit bool
}

func (v verbs) createCommand() *cobra.Command {
	c := &createOptions{verbs: v}
	command := &cobra.Command{
		Use: "create FILE | NAME --from SCHEDULE", Short: "Create an application from a manifest, or a run of a schedule",
		Long: `Create an application from the manifest in a file. With --from, create one with that name from the template of a schedule, which owns it.

If the variable HADOOP_CONF_DIR names a folder, a ConfigMap of its files is created with the application, which owns it.

With --upload-to, the files of this machine that the manifest names are uploaded by the hash of their content, and the manifest names their URLs. None is sent twice.`,
		Example: `  sparkctl create pi.yaml --delete --logs
  sparkctl create etl.yaml --upload-to s3://team-a --upload-prefix apps --upload-to-region eu-central-1
  sparkctl create nightly-now --from nightly -n reports`,
		Args: cli.One("manifest"),
		RunE: func(command *cobra.Command, args []string) error {
			c.explicit = command.Flags().Changed("namespace")
			return c.run(command.Context(), args[0])
		},
	}
	flags := command.Flags()
	flags.StringVarP(&c.from, "from", "f", "", "The schedule of which this is a run.")
	flags.BoolVarP(&c.replace, "delete", "d", false, "Delete the application first, if there is one of that name, and wait until it is gone.")
	flags.BoolVarP(&c.logs, "logs", "l", false, "Print the driver's log until the application has ended.")
	c.upload.addTo(flags)
	return command
}

func (c *createOptions) run(ctx context.Context, named string) error {
	manifest, err := c.manifest(ctx, named)
	if err != nil {
		return err
	}
	object, files := manifest.Unstructured, manifest.Files
	hadoop, err := hadoopConf(object, os.Getenv(hadoopVariable))
	if err != nil {
		return err
	}
	exists := false
	if c.replace || !files.Empty() {
		if exists, err = c.admit(ctx, object); err != nil {
			return err
		}
	}
	if !files.Empty() {
		if err := files.Send(ctx, c.Options); err != nil {
			return err
		}
	}
	created, err := c.replaceBy(ctx, object, hadoop, exists)
	if err != nil {
		files.Remind(c.Options)
		return err
	}
	if _, err := fmt.Fprintf(c.Out, "%s %q created\n", created.GetKind(), created.GetName()); err != nil || !c.logs {
		return err
	}
	return see.Log(ctx, c.Options, see.LogRequest{Namespace: created.GetNamespace(), Name: created.Reference(), Follow: true})
}

// manifest returns the object to create: that of a file, or a run of a schedule.
func (c *createOptions) manifest(ctx context.Context, named string) (submit.Described, error) {
	if c.from != "" {
		client, err := c.Dynamic()
		if err != nil {
			return submit.Described{}, err
		}
		run, err := act.NewRun(ctx, client, *c.Connection.Namespace, c.from, c.Now())
		if err != nil {
			return submit.Described{}, err
		}
		run.SetName(named)
		return submit.Described{Unstructured: run.Unstructured}, nil
	}
	to, err := c.upload.flags(c.Options)
	if err != nil {
		return submit.Described{}, err
	}
	objects, err := submit.ReadManifests(ctx, c.Options, []string{named}, submit.Reading{Namespace: *c.Connection.Namespace, Explicit: c.explicit, Upload: to})
	switch {
	case err != nil:
		return submit.Described{}, err
	case len(objects) != 1:
		return submit.Described{}, cli.Usage("%s holds %d objects, and one is expected: kubectl spark submit -f %s creates all", named, len(objects), named)
	default:
		return objects[0], nil
	}
}

// admit has the API server check an object. exists reports whether one of its name is to be deleted first.
func (c *createOptions) admit(ctx context.Context, object *unstructured.Unstructured) (exists bool, err error) {
	_, err = submit.Create(ctx, c.Options, object, cli.DryRunServer)
	if c.replace && apierrors.IsAlreadyExists(err) {
		return true, nil
	}
	return false, err
}

// replaceBy deletes the object with the name of a new one, if there is one, and creates the new one.
func (c *createOptions) replaceBy(ctx context.Context, object *unstructured.Unstructured, hadoop *corev1.ConfigMap, exists bool) (*target.Found, error) {
	if exists {
		if err := c.removeOld(ctx, object); err != nil {
			return nil, err
		}
	}
	return c.createWith(ctx, object, hadoop)
}

// removeOld deletes the object with the name of a new one.
func (c *createOptions) removeOld(ctx context.Context, object *unstructured.Unstructured) error {
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
