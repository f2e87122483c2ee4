package see

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// runEnded prints the applications and the clusters that the archive has.
func (l *listOptions) runEnded(ctx context.Context, c *cluster) error {
	client, err := l.archived.Open(ctx, c.REST, c.Kube)
	if err != nil {
		return err
	}
	namespaces := []string{c.Namespace}
	if l.allNamespaces {
		archived, err := client.Namespaces(ctx)
		if err != nil {
			return err
		}
		namespaces = archived.Items
	}
	e := &endedTable{listOptions: l, columns: columns{out: l.Out}}
	for _, namespace := range namespaces {
		err := e.list(ctx, client, namespace, "") // the applications of all kinds
		if err == nil || api.IsNotFound(err) && e.allNamespaces {
			// The reader may list none of one sort, or the namespace has been deleted meanwhile. An older console knows no clusters.
			if err = e.list(ctx, client, namespace, api.Clusters); api.IsNotFound(err) || api.IsInvalid(err) {
				err = nil
			}
		}
		if err != nil {
			return err
		}
	}
	if !l.output.Own() {
		return l.output.Print(e.printable(), l.Out)
	}
	if !e.header {
		fmt.Fprintln(l.ErrOut, "The archive has nothing"+map[bool]string{false: " of the namespace " + c.Namespace}[l.allNamespaces]+".")
	}
	return nil
}

// endedTable prints pages of applications and clusters as they come, or collects them for another format.
type endedTable struct {
	*listOptions
	columns columns
	header  bool
	all     []api.Application
}

func (e *endedTable) list(ctx context.Context, client *api.Client, namespace, resource string) error {
	filter := api.Filter{Resource: resource, LabelSelector: e.selector, Limit: int(min(e.pageSize, 500))}
	for next := ""; ; {
		page, err := client.List(ctx, namespace, filter, next)
		if err != nil {
			return err
		}
		shown := slices.DeleteFunc(page.Items, func(app api.Application) bool { return !e.showsState(app) })
		if err := e.print(shown); err != nil {
			return err
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}

func (e *endedTable) showsState(app api.Application) bool {
	return len(e.states) == 0 || slices.ContainsFunc(e.states, func(state string) bool {
		return strings.EqualFold(state, app.State) || strings.EqualFold(state, app.Outcome)
	})
}

func (e *endedTable) print(apps []api.Application) error {
	if !e.output.Own() {
		e.all = append(e.all, apps...)
		return nil
	}
	if len(apps) == 0 {
		return nil
	}
	headers := []string{"NAME", "STATE", "ATTEMPT", "CREATED", "ENDED", "API", "MESSAGE"}
	if e.allNamespaces {
		headers = slices.Insert(headers, 0, "NAMESPACE")
	}
	var cells [][]string
	if !e.header && !e.noHeaders {
		cells = append(cells, headers)
	}
	first := len(cells)
	e.header = true
	for _, app := range apps {
		cells = append(cells, e.cells(app))
	}
	state := slices.Index(headers, "STATE")
	return e.columns.print(cells, func(at, column int, padded string) string {
		if at < first || column != state {
			return padded
		}
		return e.Color(e.Out, ColorOf(phaseOfEnded(apps[at-first])), padded)
	})
}

// phaseOfEnded returns the phase of what the archive has. A cluster has no outcome.
func phaseOfEnded(app api.Application) overview.Phase {
	switch {
	case app.Outcome == "" && app.Ended == nil:
		return overview.Running
	case app.Outcome == "" && !strings.EqualFold(app.State, string(overview.Failed)), strings.EqualFold(app.Outcome, string(overview.Succeeded)):
		return overview.Succeeded
	default:
		return overview.Failed
	}
}

func (e *endedTable) cells(app api.Application) []string {
	const width = 80
	age := func(at time.Time) string { return duration.HumanDuration(max(e.Now().Sub(at), 0)) }
	ended := "-"
	if app.Ended != nil {
		ended = age(*app.Ended)
	}
	_, group, _ := strings.Cut(app.Resource, ".")
	name := app.Name
	if app.Kind == kindCluster {
		name = "cluster/" + name // as the other verbs take it
	}
	cells := []string{name, cmp.Or(app.State, "-"), strconv.FormatInt(app.Attempt, 10), age(app.Created), ended, group, oneLine(app.Message, width)}
	if e.allNamespaces {
		cells = slices.Insert(cells, 0, app.Namespace)
	}
	return cells
}

// printable returns the applications and clusters as objects for programs: what the archive's list has of them.
func (e *endedTable) printable() *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}}}
	for _, app := range e.all {
		object := unstructured.Unstructured{Object: map[string]any{}}
		object.SetAPIVersion(app.APIVersion)
		object.SetKind(app.Kind)
		object.SetNamespace(app.Namespace)
		object.SetName(app.Name)
		object.SetUID(types.UID(app.UID))
		object.SetLabels(app.Labels)
		object.SetCreationTimestamp(metav1.NewTime(app.Created))
		status := map[string]any{"state": app.State, "outcome": app.Outcome, "message": app.Message, "attempt": app.Attempt}
		if app.Ended != nil {
			status["ended"] = app.Ended.UTC().Format(time.RFC3339)
		}
		object.Object["archived"] = status
		list.Items = append(list.Items, object)
	}
	return list
}

// checkEnded returns a usage error for flags that --ended does not go with.
func (l *listOptions) checkEnded() error {
	switch {
	case !l.ended:
		return nil
	case l.watch:
		return cli.Usage("--ended lists what is over, and -w waits for changes: leave one of them out")
	case l.sortBy != "":
		return cli.Usage("--ended lists the newest first: leave --sort-by out")
	}
	return nil
}
