package act

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// listOptions are the flags of the lists of one kind of objects.
type listOptions struct {
	*verbs
	noun    overview.Kind
	headers []string
	// cells returns the cells of an object below the headers.
	cells    func(o *overview.Object, now time.Time) []string
	all      bool
	selector string
	output   cli.Output
}

func (l *listOptions) command(short string) *cobra.Command {
	command := &cobra.Command{
		Use: "list [flags]", Aliases: []string{"ls"}, Short: short, Args: cli.None,
		RunE: func(command *cobra.Command, _ []string) error { return l.run(command.Context()) },
	}
	command.Flags().BoolVarP(&l.all, "all-namespaces", "A", false, "List those of all namespaces.")
	command.Flags().StringVarP(&l.selector, "selector", "l", "", "List those that a label selector matches.")
	l.output.AddFlag(command)
	return command
}

func (l *listOptions) run(ctx context.Context) error {
	if err := l.output.Check(); err != nil {
		return err
	}
	c, err := l.connect()
	if err != nil {
		return err
	}
	namespace := c.Namespace
	if l.all {
		namespace = metav1.NamespaceAll
	}
	list, err := c.list(ctx, l.noun, namespace, l.selector)
	if err != nil {
		return err
	}
	if !l.output.Own() {
		return l.output.Print(list, l.Out)
	}
	if len(list.Items) == 0 {
		fmt.Fprintf(l.ErrOut, "There is no %s%s.\n", l.noun, map[bool]string{false: " in the namespace " + c.Namespace}[l.all])
		return nil
	}
	return l.print(list)
}

func (l *listOptions) print(list *unstructured.UnstructuredList) error {
	table := cli.Table(l.Out)
	headers := slices.Concat([]string{"NAME", "API"}, l.headers, []string{"AGE"})
	if l.all {
		headers = append([]string{"NAMESPACE"}, headers...)
	}
	fmt.Fprintln(table, strings.Join(headers, "\t"))
	for i := range list.Items {
		o, err := overview.Read(&list.Items[i])
		if err != nil {
			l.Warn(err.Error())
			continue
		}
		age := duration.HumanDuration(l.Now().Sub(o.Source.GetCreationTimestamp().Time))
		cells := slices.Concat([]string{o.Name(), o.Group()}, l.cells(o, l.Now()), []string{age})
		if l.all {
			cells = append([]string{o.Namespace()}, cells...)
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}

// pageSize is how many objects one request lists.
const pageSize = 500

// list returns the objects of a kind, of all APIs, sorted by namespace and name.
func (c *cluster) list(ctx context.Context, noun overview.Kind, namespace, selector string) (*unstructured.UnstructuredList, error) {
	all := &unstructured.UnstructuredList{}
	all.SetAPIVersion("v1")
	all.SetKind("List")
	absent, kinds := 0, actions.KindsOf(noun)
	for _, kind := range kinds {
		options := metav1.ListOptions{LabelSelector: selector, Limit: pageSize}
		err := kind.Pages(ctx, c.Dynamic, namespace, options, func(_ schema.GroupVersionResource, page *unstructured.UnstructuredList) error {
			all.Items = append(all.Items, page.Items...)
			return nil
		})
		switch {
		case actions.NotServed(err):
			absent++
		case err != nil:
			return nil, err
		}
	}
	if absent == len(kinds) {
		return nil, target.NoneServed(string(noun) + "s")
	}
	slices.SortStableFunc(all.Items, func(a, b unstructured.Unstructured) int {
		return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
	})
	return all, nil
}
