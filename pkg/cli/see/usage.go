package see

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

type usageOptions struct {
	*verbs
	output        cli.Output
	allNamespaces bool
	selector      string
	by            []string
	since         string
	pageSize      int64
	// groups are the columns of --by.
	groups []usageGroup
	from   time.Time
}

// usageGroup is a column by which usage is summed.
type usageGroup struct {
	name string
	of   func(*overview.Object) string
}

const (
	monthFormat = "2006-01"
	// labelGroup precedes the name of a label in --by.
	labelGroup = "label:"
)

func (v *verbs) usageCommand() *cobra.Command {
	u := &usageOptions{verbs: v}
	command := &cobra.Command{
		Use: "usage [flags]", Short: "Sum up what applications used: core-hours, GiB-hours and GPU-hours, by month, namespace or label",
		Long: `Sum up what applications used: core-hours, GiB-hours and GPU-hours, by month, namespace or label.

Counted are the requests of driver and executors, from their scheduling to the end of their containers, as the status of each application has
them. An application belongs to the month of its end or, while it has not ended, of the time when it was counted last. Applications that are
deleted are not in the sum. GAP-HOURS is the time for which Pods may have run without being counted.`,
		Example: `  kubectl spark usage -A
  kubectl spark usage -A --by namespace,label:team --since 2026-01
  kubectl spark usage --by application -o csv`,
		Args: cli.None,
		RunE: func(command *cobra.Command, _ []string) error { return u.run(command.Context()) },
	}
	flags := command.Flags()
	u.output.AddFlag(command, "wide", "csv")
	flags.BoolVarP(&u.allNamespaces, "all-namespaces", "A", false, "Sum up those of all namespaces.")
	flags.StringVarP(&u.selector, "selector", "l", "", "Sum up those with these labels, such as team=reports,stage!=test.")
	flags.StringSliceVar(&u.by, "by", []string{"month", "namespace"}, "Sum up by month, namespace, api, application or label:NAME.")
	flags.StringVar(&u.since, "since", "", "Sum up from this month on, such as 2026-01.")
	flags.Int64Var(&u.pageSize, "chunk-size", 500, "How many objects are read at once; 0 for all.")
	return command
}

func (u *usageOptions) check() error {
	for _, name := range u.by {
		group, err := usageGroupOf(name)
		if err != nil {
			return err
		}
		u.groups = append(u.groups, group)
	}
	if u.since != "" {
		from, err := time.Parse(monthFormat, u.since)
		if err != nil {
			return cli.Usage("--since %s is no month: write it as 2026-01", u.since)
		}
		u.from = from
	}
	if u.pageSize < 0 {
		return cli.Usage("--chunk-size %d is below 0: write how many objects are read at once, or 0 for all", u.pageSize)
	}
	return u.output.Check()
}

func usageGroupOf(name string) (usageGroup, error) {
	switch label, isLabel := strings.CutPrefix(name, labelGroup); {
	case isLabel && label != "":
		return usageGroup{name, func(o *overview.Object) string { return o.Source.GetLabels()[label] }}, nil
	case name == "month":
		return usageGroup{name, func(o *overview.Object) string { return usageTime(o.Record).Format(monthFormat) }}, nil
	case name == "namespace":
		return usageGroup{name, (*overview.Object).Namespace}, nil
	case name == "api":
		return usageGroup{name, (*overview.Object).Group}, nil
	case name == "application":
		return usageGroup{name, (*overview.Object).Name}, nil
	default:
		return usageGroup{}, cli.Usage("--by %s is unknown: write month, namespace, api, application or label:NAME", name)
	}
}

// usageTime returns when an application ended or, if it did not, when it was counted last.
func usageTime(record *v1alpha1.Record) time.Time {
	for _, t := range slices.Backward(record.Transitions) {
		if t.Final() {
			return t.Time.UTC()
		}
	}
	last := record.Attempt.Since.UTC()
	if n := len(record.Usage.Attempts); n > 0 {
		last = record.Usage.Attempts[n-1].CountedAt.UTC()
	}
	return last
}

// usageRow is a sum.
type usageRow struct {
	groups       []string
	applications int64
	used         v1alpha1.Usage
}

func (u *usageOptions) run(ctx context.Context) error {
	if err := u.check(); err != nil {
		return err
	}
	c, err := u.connect()
	if err != nil {
		return err
	}
	rows := map[string]*usageRow{}
	err = target.EachServed(ctx, actions.KindsOf(overview.Application), u.Warn, func(kind actions.Kind) error { return u.sum(ctx, c, kind, rows) })
	if err != nil {
		return err
	}
	var sorted []*usageRow
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		sorted = append(sorted, rows[key])
	}
	return u.print(sorted)
}

// sum adds the applications of a kind to the rows.
func (u *usageOptions) sum(ctx context.Context, c *cluster, kind actions.Kind, rows map[string]*usageRow) error {
	namespace := c.Namespace
	if u.allNamespaces {
		namespace = metav1.NamespaceAll
	}
	options := metav1.ListOptions{LabelSelector: u.selector, Limit: u.pageSize}
	return kind.Pages(ctx, c.Dynamic, namespace, options, func(_ schema.GroupVersionResource, page *unstructured.UnstructuredList) error {
		for i := range page.Items {
			o, err := overview.Read(&page.Items[i])
			if err != nil {
				u.Warn(err.Error())
				continue
			}
			if o.Record == nil || o.Record.Usage == nil || usageTime(o.Record).Before(u.from) {
				continue
			}
			u.add(o, rows)
		}
		return nil
	})
}

func (u *usageOptions) add(o *overview.Object, rows map[string]*usageRow) {
	var groups []string
	for _, group := range u.groups {
		groups = append(groups, group.of(o))
	}
	key := strings.Join(groups, "\x00")
	if rows[key] == nil {
		rows[key] = &usageRow{groups: groups}
	}
	rows[key].applications++
	rows[key].used = usage.Add(rows[key].used, o.Record.Usage.Total)
}

// usageColumn is a column with an amount: its header, its name and its unit for programs, and its value.
type usageColumn struct {
	header, name string
	// perHour is how many units are an hour of it.
	perHour float64
	wide    bool
	of      func(v1alpha1.Usage) int64
}

func ofPods(amount func(v1alpha1.PodUsage) int64, pods ...func(v1alpha1.Usage) *v1alpha1.PodUsage) func(v1alpha1.Usage) int64 {
	return func(used v1alpha1.Usage) (sum int64) {
		for _, of := range pods {
			if p := of(used); p != nil {
				sum += amount(*p)
			}
		}
		return sum
	}
}

func usageColumns() []usageColumn {
	driver := func(used v1alpha1.Usage) *v1alpha1.PodUsage { return used.Driver }
	executors := func(used v1alpha1.Usage) *v1alpha1.PodUsage { return used.Executors }
	seconds := func(p v1alpha1.PodUsage) int64 { return p.Seconds }
	cores := func(p v1alpha1.PodUsage) int64 { return p.CoreMilliseconds }
	memory := func(p v1alpha1.PodUsage) int64 { return p.MebibyteSeconds }
	gpus := func(p v1alpha1.PodUsage) int64 { return p.GPUSeconds }
	return []usageColumn{
		{"POD-HOURS", "seconds", 3600, false, ofPods(seconds, driver, executors)},
		{"CORE-HOURS", "coreMilliseconds", 3600e3, false, ofPods(cores, driver, executors)},
		{"GIB-HOURS", "mebibyteSeconds", 3600 * 1024, false, ofPods(memory, driver, executors)},
		{"GPU-HOURS", "gpuSeconds", 3600, false, ofPods(gpus, driver, executors)},
		{"GAP-HOURS", "gapSeconds", 3600, false, func(used v1alpha1.Usage) int64 { return used.GapSeconds }},
		{"DRIVER-CORE-HOURS", "driverCoreMilliseconds", 3600e3, true, ofPods(cores, driver)},
		{"DRIVER-GIB-HOURS", "driverMebibyteSeconds", 3600 * 1024, true, ofPods(memory, driver)},
		{"EXECUTOR-CORE-HOURS", "executorCoreMilliseconds", 3600e3, true, ofPods(cores, executors)},
		{"EXECUTOR-GIB-HOURS", "executorMebibyteSeconds", 3600 * 1024, true, ofPods(memory, executors)},
		{"PEAK-EXECUTORS", "peakExecutors", 0, true, func(used v1alpha1.Usage) int64 { return used.PeakExecutors }},
	}
}

func (u *usageOptions) print(rows []*usageRow) error {
	switch {
	case u.output.Format() == "csv":
		return u.printCSV(rows)
	case !u.output.Own():
		return u.output.Print(u.report(rows), u.Out)
	case len(rows) == 0:
		fmt.Fprintln(u.ErrOut, "Nothing found that used anything.")
		return nil
	}
	var headers []string
	for _, group := range u.groups {
		headers = append(headers, strings.ToUpper(strings.TrimPrefix(group.name, labelGroup)))
	}
	headers = append(headers, "APPLICATIONS")
	shown := slices.DeleteFunc(usageColumns(), func(c usageColumn) bool { return c.wide && u.output.Format() != "wide" })
	for _, column := range shown {
		headers = append(headers, column.header)
	}
	cells := [][]string{headers}
	for _, row := range rows {
		var line []string
		for _, group := range row.groups {
			line = append(line, cmp.Or(group, "-"))
		}
		line = append(line, strconv.FormatInt(row.applications, 10))
		for _, column := range shown {
			line = append(line, column.text(row.used))
		}
		cells = append(cells, line)
	}
	return (&columns{out: u.Out}).print(cells, nil)
}

// text returns the amount for people: in hours, if it is a time.
func (c usageColumn) text(used v1alpha1.Usage) string {
	if c.perHour == 0 {
		return strconv.FormatInt(c.of(used), 10)
	}
	return strconv.FormatFloat(float64(c.of(used))/c.perHour, 'f', 2, 64)
}

func (u *usageOptions) printCSV(rows []*usageRow) error {
	out := csv.NewWriter(u.Out)
	var headers []string
	for _, group := range u.groups {
		headers = append(headers, group.name)
	}
	headers = append(headers, "applications")
	for _, column := range usageColumns() {
		headers = append(headers, column.name)
	}
	if err := out.Write(headers); err != nil {
		return err
	}
	for _, row := range rows {
		line := append(slices.Clone(row.groups), strconv.FormatInt(row.applications, 10))
		for _, column := range usageColumns() {
			line = append(line, strconv.FormatInt(column.of(row.used), 10))
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// report returns the rows for programs. The numbers are whole: those of the records.
func (u *usageOptions) report(rows []*usageRow) *unstructured.Unstructured {
	var all []any
	for _, row := range rows {
		groups := map[string]any{}
		for i, group := range u.groups {
			groups[group.name] = row.groups[i]
		}
		fields := map[string]any{"by": groups, "applications": row.applications}
		for _, column := range usageColumns() {
			fields[column.name] = column.of(row.used)
		}
		all = append(all, fields)
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "firesteel.dev/v1alpha1", "kind": "UsageReport", "rows": all}}
}
