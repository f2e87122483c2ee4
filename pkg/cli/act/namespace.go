package act

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
	"github.com/firesteel-dev/firesteel/pkg/namespaces/provision"
)

type namespaceOptions struct {
	*verbs
	installation string
	dryRun       cli.DryRun
}

func (v *verbs) namespaceCommand() *cobra.Command {
	n := &namespaceOptions{verbs: v}
	command := &cobra.Command{
		Use: "namespace NAME [flags]", Short: "Create what drivers need in a namespace",
		Long: `Create a namespace, unless it exists, with what drivers need there: service accounts, their rights, and quota, limits and network policy
if the ConfigMap config-namespaces of the installation has templates of them. What exists stays as it is, and is named.`,
		Args: cli.One("namespace"),
		RunE: func(command *cobra.Command, args []string) error { return n.run(command.Context(), args[0]) },
	}
	command.Flags().StringVar(&n.installation, "installation", "firesteel-system", "The namespace in which Firesteel is installed. Without it there, the templates are the default ones.")
	n.dryRun.AddFlag(command)
	return command
}

func (n *namespaceOptions) run(ctx context.Context, name string) error {
	if err := provision.CheckName(name); err != nil {
		return cli.Usage("%v", err)
	}
	if n.dryRun == cli.DryRunServer {
		return cli.Usage("--dry-run=server cannot check objects of a namespace that does not exist: write --dry-run=client")
	}
	c, err := n.connect()
	if err != nil {
		return err
	}
	template, err := provision.Template(ctx, c.Dynamic, n.installation)
	if apierrors.IsForbidden(err) {
		n.Warn(fmt.Sprintf("the templates cannot be read, so the default ones are used (%v)", err))
		template, err = namespaces.DefaultTemplate(), nil
	}
	if err != nil {
		return err
	}
	if n.dryRun == cli.DryRunClient {
		return n.print(template, name)
	}
	err = provision.Namespace(ctx, c.Dynamic, template, name, func(result provision.Result) error {
		_, err := fmt.Fprintln(n.Out, result)
		return err
	})
	if err != nil {
		return err
	}
	roles := c.Dynamic.Resource(rbacv1.SchemeGroupVersion.WithResource("clusterroles"))
	if _, err := roles.Get(ctx, template.DriverRole, metav1.GetOptions{}); apierrors.IsNotFound(err) {
		n.Warn(fmt.Sprintf("there is no ClusterRole %s: the accounts have no rights until it is applied", template.DriverRole))
	}
	return nil
}

// print prints what would be created.
func (n *namespaceOptions) print(template namespaces.Template, name string) error {
	printer := &printers.YAMLPrinter{}
	for _, object := range append([]namespaces.Object{namespaces.Namespace(template, name)}, namespaces.Objects(template, name)...) {
		if err := printer.PrintObj(object, n.Out); err != nil {
			return err
		}
	}
	return nil
}
