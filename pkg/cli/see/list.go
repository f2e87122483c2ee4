package see

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/archived"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

type listOptions struct {
	*verbs
	archived      archived.Flags
	ended         bool
	output        cli.Output
	allNamespaces bool
	selector      string
	states        []string
	sortBy        string
	watch         bool
	pageSize      int64
	noHeaders     bool
}

// orders are how rows can be sorted.
var orders = map[string]func(a, b *row) int{
	"name":     func(_, _ *row) int { return 0 },
	"age":      func(a, b *row) int { return b.created.Compare(a.created) },
	"state":    func(a, b *row) int { return cmp.Compare(a.State, b.State) },
	"attempt":  func(a, b *row) int { return cmp.Compare(b.Attempt, a.Attempt) },
	"executor": func(a, b *row) int { return cmp.Compare(b.Executors, a.Executors) },
}

func (v *verbs) listCommand() *cobra.Command {
	l := &listOptions{verbs: v}
	command := &cobra.Command{
		Use: "list [flags]", Aliases: []string{"ls"}, Short: "Show applications, clusters and schedules of all APIs in one table",
		Long: `Show applications, clusters and schedules of all APIs in one table.

--state takes states as the table shows them, and waiting, running, succeeded and failed for all states of that sort.
With --sort-by the table is printed when all objects are read, and otherwise as they come.

--ended lists the applications that the archive has, the newest first, also those whose objects are gone. The clusters that it has follow, of each namespace.`,
		Example: `  kubectl spark list -A --state failed
  kubectl spark list -l team=reports --sort-by age
  kubectl spark list --ended --state failed
  kubectl spark list -w`,
		Args: cli.None,
		RunE: func(command *cobra.Command, _ []string) error { return l.run(command.Context()) },
	}
	l.archived.AddTo(command)
	flags := command.Flags()
	l.output.AddFlag(command, "wide")
	flags.BoolVar(&l.ended, "ended", false, "List the applications and clusters that the archive has.")
	flags.BoolVarP(&l.allNamespaces, "all-namespaces", "A", false, "Show those of all namespaces.")
	flags.StringVarP(&l.selector, "selector", "l", "", "Show those with these labels, such as team=reports,stage!=test.")
	flags.StringSliceVar(&l.states, "state", nil, "Show those in one of these states, such as failed,RunningHealthy.")
	flags.StringVar(&l.sortBy, "sort-by", "", "Sort by name, age, state, attempt or executor.")
	flags.BoolVarP(&l.watch, "watch", "w", false, "Then print each change, and what is deleted.")
	flags.Int64Var(&l.pageSize, "chunk-size", 500, "How many objects are read at once; 0 for all.")
	flags.BoolVar(&l.noHeaders, "no-headers", false, "Print no headers.")
	return command
}

func (l *listOptions) check() error {
	switch {
	case l.sortBy != "" && orders[l.sortBy] == nil:
		return cli.Usage("--sort-by %s is unknown: write name, age, state, attempt or executor", l.sortBy)
	case l.watch && !l.output.Own():
		return cli.Usage("-w prints a table, and no -o %s: leave one of them out", l.output.Format())
	case l.watch && l.sortBy != "":
		return cli.Usage("-w prints changes as they come, and cannot sort them: leave --sort-by out")
	case l.pageSize < 0:
		return cli.Usage("--chunk-size %d is below 0: write how many objects are read at once, or 0 for all", l.pageSize)
	}
	for _, state := range l.states {
		if err := overview.CheckState(state, true); err != nil {
			return cli.Usage("--state %v", err)
		}
	}
	if err := l.checkEnded(); err != nil {
		return err
	}
	return l.output.Check()
}

func (l *listOptions) run(ctx context.Context) error {
	if err := l.check(); err != nil {
		return err
	}
	c, err := l.connect()
	if err != nil {
		return err
	}
	if l.ended {
		return l.runEnded(ctx, c)
	}
	t := &table{listOptions: l, cluster: c, columns: columns{out: l.Out}, versions: map[schema.GroupVersionResource]string{}, seen: map[schema.GroupVersionResource]map[types.UID]seen{}}
	shown := 0
	err = target.EachServed(ctx, actions.Kinds, l.Warn, func(kind actions.Kind) error {
		count, err := t.list(ctx, kind)
		if err == nil {
			shown += count
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := t.finish(ctx); err != nil {
		return err
	}
	if l.watch {
		return t.follow(ctx)
	}
	if shown == 0 && l.output.Own() {
		fmt.Fprintln(l.ErrOut, "Nothing found"+t.where()+".")
	}
	return nil
}

// table collects rows, and prints them as early as it may.
type table struct {
	*listOptions
	*cluster
	columns columns
	header  bool
	// rows are those that were not printed yet.
	rows []*row
	// versions are the versions of the lists, from which they are watched.
	versions map[schema.GroupVersionResource]string
	// seen are the objects that were read, with -w.
	seen map[schema.GroupVersionResource]map[types.UID]seen
}

// row is an object in the table.
type row struct {
	*overview.Object
	created time.Time
	group   string
}

func (t *table) where() string {
	if t.allNamespaces {
		return ""
	}
	return " in the namespace " + t.Namespace
}

// list reads the objects of a kind in pages, and returns how many of them are shown.
func (t *table) list(ctx context.Context, kind actions.Kind) (int, error) {
	shown := 0
	options := metav1.ListOptions{LabelSelector: t.selector, Limit: t.pageSize}
	err := kind.Pages(ctx, t.Dynamic, t.listed(), options, func(served schema.GroupVersionResource, page *unstructured.UnstructuredList) error {
		rows := t.read(served, page.Items)
		shown += len(rows)
		t.versions[served] = page.GetResourceVersion()
		t.rows = append(t.rows, rows...)
		if !t.mayPrint(page.GetContinue() != "") {
			return nil
		}
		rows, t.rows = t.rows, nil
		return t.print(ctx, rows)
	})
	return shown, err
}

// fewRows is how many rows wait for the others, so that a short table is aligned.
const fewRows = 100

// mayPrint reports whether rows are printed before the end of the lists. more reports whether another page follows.
func (t *table) mayPrint(more bool) bool {
	return t.sortBy == "" && t.output.Own() && (more || len(t.rows) >= fewRows)
}

// listed returns the namespace of the lists.
func (t *table) listed() string {
	if t.allNamespaces {
		return metav1.NamespaceAll
	}
	return t.Namespace
}

// read reads the objects of a page that are shown. One that cannot be read is named and left out.
func (t *table) read(resource schema.GroupVersionResource, items []unstructured.Unstructured) (rows []*row) {
	for i := range items {
		r, err := rowOf(&items[i])
		shows := err == nil && t.shows(r.Object)
		if t.watch {
			t.see(resource, &items[i], shows)
		}
		switch {
		case err != nil:
			t.Warn(err.Error())
		case shows:
			rows = append(rows, r)
		}
	}
	return rows
}

func rowOf(object *unstructured.Unstructured) (*row, error) {
	o, err := overview.Read(object)
	if err != nil {
		return nil, err
	}
	return &row{Object: o, created: object.GetCreationTimestamp().Time, group: o.Group()}, nil
}

func (t *table) shows(o *overview.Object) bool {
	return len(t.states) == 0 || slices.ContainsFunc(t.states, o.Is)
}

// finish prints what waited for the end of the lists.
func (t *table) finish(ctx context.Context) error {
	if t.sortBy != "" {
		slices.SortStableFunc(t.rows, func(a, b *row) int {
			return cmp.Or(orders[t.sortBy](a, b), cmp.Compare(a.Namespace(), b.Namespace()), cmp.Compare(a.Name(), b.Name()))
		})
	}
	if !t.output.Own() {
		list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}}}
		for _, r := range t.rows {
			list.Items = append(list.Items, *r.Source)
		}
		return t.output.Print(list, t.Out)
	}
	return t.print(ctx, t.rows)
}

func (t *table) print(ctx context.Context, rows []*row) error {
	if len(rows) == 0 {
		return nil
	}
	t.countExecutors(ctx, rows)
	var cells [][]string
	if !t.header && !t.noHeaders {
		cells = append(cells, t.headers())
	}
	headers := len(cells)
	t.header = true
	for _, r := range rows {
		cells = append(cells, t.cells(r))
	}
	state := slices.Index(t.headers(), "STATE")
	return t.columns.print(cells, func(at, column int, padded string) string {
		if at < headers || column != state {
			return padded
		}
		return t.Color(t.Out, ColorOf(rows[at-headers].Phase), padded)
	})
}

func (t *table) headers() []string {
	headers := []string{"KIND", "NAME", "STATE", "ATTEMPT", "EXECUTORS", "AGE", "REASON"}
	if t.allNamespaces {
		headers = slices.Insert(headers, 0, "NAMESPACE")
	}
	if t.output.Format() == "wide" {
		headers = append(headers, "API", "DRIVER", "MESSAGE")
	}
	return headers
}

// wideMessage bounds the message in a row.
const wideMessage = 160

func (t *table) cells(r *row) []string {
	cells := []string{
		string(r.Kind), r.Name(), r.StateName(), "-", "-", duration.HumanDuration(max(t.Now().Sub(r.created), 0)), r.ShortReason(),
	}
	if r.Attempt >= 0 {
		cells[3] = strconv.FormatInt(r.Attempt, 10)
	}
	if r.ExecutorsKnown {
		cells[4] = strconv.Itoa(r.Executors)
	}
	if t.allNamespaces {
		cells = slices.Insert(cells, 0, r.Namespace())
	}
	if t.output.Format() == "wide" {
		cells[len(cells)-1] = cmp.Or(cells[len(cells)-1], "-")
		cells = append(cells, r.group, cmp.Or(r.DriverPod, "-"), oneLine(r.Message, wideMessage))
	}
	return cells
}

// ColorOf returns the colour of a state.
func ColorOf(phase overview.Phase) cli.Color {
	switch phase {
	case overview.Failed:
		return cli.Bad
	case overview.Waiting:
		return cli.Odd
	default:
		return cli.Good
	}
}

// countExecutors counts the ready executors of running applications whose status does not show them: by one request for the rows of an API.
// Without the right to read Pods they are not known.
func (t *table) countExecutors(ctx context.Context, rows []*row) {
	running := map[string]map[string]*row{} // by label, then by namespace and name
	for _, r := range rows {
		if label := r.LabelApplication(); label != "" && r.Phase == overview.Running && !r.ExecutorsKnown {
			if running[label] == nil {
				running[label] = map[string]*row{}
			}
			running[label][r.Namespace()+"/"+labelValue(r, label)] = r
		}
	}
	for label, of := range running {
		var names []string
		for _, r := range of {
			names = append(names, labelValue(r, label))
		}
		slices.Sort(names)
		options := metav1.ListOptions{
			LabelSelector:   "spark-role=executor," + label + " in (" + strings.Join(slices.Compact(names), ",") + ")",
			ResourceVersion: "0", // from the API server's cache
		}
		pods, err := t.Kube.CoreV1().Pods(t.listed()).List(ctx, options)
		if err != nil {
			continue
		}
		for _, r := range of {
			r.ExecutorsKnown, r.Executors = true, 0
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			if r := of[pod.Namespace+"/"+pod.Labels[label]]; r != nil && isReady(pod) {
				r.Executors++
			}
		}
	}
}

// labelValue returns the value that the label of an application's Pods has. That of a long name is shortened.
func labelValue(r *row, label string) string { return strings.TrimPrefix(r.PodSelector(), label+"=") }

func isReady(pod *corev1.Pod) bool {
	at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
	return pod.Status.Phase == corev1.PodRunning && at >= 0 && pod.Status.Conditions[at].Status == corev1.ConditionTrue
}
