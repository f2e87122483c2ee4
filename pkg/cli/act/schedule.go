package act

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/connection"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

func (v *verbs) scheduleCommand() *cobra.Command {
	group := &cobra.Command{Use: "schedule", Aliases: []string{"schedules"}, Short: "List, suspend and run schedules"}
	list := &listOptions{
		verbs: v, noun: overview.Schedule, headers: []string{"SCHEDULE", "SUSPENDED", "STATE", "LAST RUN", "NEXT RUN", "ACTIVE"}, cells: scheduleCells,
	}
	group.AddCommand(
		list.command("List schedules"), v.suspendCommand(true, overview.Schedule), v.suspendCommand(false, overview.Schedule),
		v.scheduleRunCommand(), v.scheduleNextCommand(),
	)
	return group
}

func scheduleCells(o *overview.Object, now time.Time) []string {
	s, ok := o.Typed.(variant.Schedule)
	if !ok {
		return nil
	}
	spec, status := s.GetSchedule(), s.GetScheduleStatus()
	text := spec.Schedule
	if spec.TimeZone != "" {
		text += " " + spec.TimeZone
	}
	active := ""
	if status.Firesteel != nil {
		active = strconv.Itoa(len(status.Firesteel.Active))
	}
	last, next := "", ""
	if !status.LastRun.IsZero() {
		last = duration.HumanDuration(now.Sub(status.LastRun.Time)) + " ago"
	}
	if !status.NextRun.IsZero() && status.NextRun.After(now) {
		next = "in " + duration.HumanDuration(status.NextRun.Sub(now))
	}
	return []string{
		strings.Join(strings.Fields(text), " "), strconv.FormatBool(spec.Suspend != nil && *spec.Suspend), o.StateName(), cmp.Or(last, "-"), cmp.Or(next, "-"), cmp.Or(active, "-"),
	}
}

// findSchedule reads the schedule that a user names.
func (c *cluster) findSchedule(ctx context.Context, name string) (*target.Found, variant.Schedule, error) {
	found, o, err := c.Find(ctx, name, overview.Schedule)
	if err != nil {
		return nil, nil, err
	}
	s, ok := o.Typed.(variant.Schedule)
	if !ok || s.GetUndecodable() != "" {
		return nil, nil, fmt.Errorf("%s cannot be read: %s says why", found.Reference(), c.Suggest("why", name))
	}
	return found, s, nil
}

type scheduleRunOptions struct {
	*verbs
	concurrent bool
	dryRun     cli.DryRun
	output     cli.Output
}

func (v *verbs) scheduleRunCommand() *cobra.Command {
	r := &scheduleRunOptions{verbs: v}
	command := &cobra.Command{
		Use: "run NAME [flags]", Short: "Start a run now",
		Long: `Create an application from the template of a schedule, now. The schedule owns it: it counts as active, and among the runs that are kept.
The next run of the schedule starts as if there had been none. A suspended schedule can be run, too.`,
		Args: cli.One("schedule"),
		RunE: func(command *cobra.Command, args []string) error { return r.run(command.Context(), args[0]) },
	}
	command.Flags().BoolVar(&r.concurrent, "concurrent", false, "Start it although other runs are active and the schedule allows one only.")
	r.dryRun.AddFlag(command)
	r.output.AddFlag(command)
	return command
}

func (r *scheduleRunOptions) run(ctx context.Context, name string) error {
	if err := r.output.Check(); err != nil {
		return err
	}
	c, err := r.connect()
	if err != nil {
		return err
	}
	found, o, err := c.Find(ctx, name, overview.Schedule)
	if err != nil {
		return err
	}
	plan, err := actions.Run(c.subject(name, found, o), r.concurrent, r.Now())
	var active *actions.ActiveError
	if errors.As(err, &active) {
		return fmt.Errorf("%w: wait for it, or write --concurrent", err)
	}
	if err != nil {
		return err
	}
	return r.create(ctx, c, plan, r.dryRun, r.output)
}

// NewRun returns a run of the schedule that a user names, as schedule run starts it. The caller creates it.
func NewRun(ctx context.Context, client dynamic.Interface, namespace, name string, now time.Time) (*target.Found, error) {
	found, s, err := (&cluster{&connection.Cluster{Dynamic: client, Namespace: namespace, Suggested: namespace}}).findSchedule(ctx, name)
	if err != nil {
		return nil, err
	}
	return actions.NewRun(found, s, now)
}

// instants is how many instants are shown.
const instants = 10

func (v *verbs) scheduleNextCommand() *cobra.Command {
	return &cobra.Command{
		Use: "next NAME", Short: "Show the next ten instants, in the zone of the schedule", Args: cli.One("schedule"),
		RunE: func(command *cobra.Command, args []string) error { return v.scheduleNext(command.Context(), args[0]) },
	}
}

func (v *verbs) scheduleNext(ctx context.Context, name string) error {
	c, err := v.connect()
	if err != nil {
		return err
	}
	found, s, err := c.findSchedule(ctx, name)
	if err != nil {
		return err
	}
	now := v.Now()
	policy := variant.KindOf(s).PolicyOf(s, now)
	if policy.Clock == nil {
		errs := []error{fmt.Errorf("%s has no next run", found.Reference())}
		for i := range policy.Refusals {
			errs = append(errs, &policy.Refusals[i])
		}
		return errors.Join(errs...)
	}
	if policy.Suspended {
		v.Warn(found.Reference() + " is suspended: no run starts before " + c.Suggest("schedule resume", name))
	}
	table := cli.Table(v.Out)
	fmt.Fprintln(table, "TIME\tIN")
	at := now
	for range instants {
		if at = policy.Clock.Next(at); at.IsZero() {
			break
		}
		fmt.Fprintf(table, "%s\t%s\n", at.In(policy.Clock.Zone()).Format("Mon 2006-01-02 15:04:05 -0700 MST"), duration.HumanDuration(at.Sub(now)))
	}
	return table.Flush()
}
