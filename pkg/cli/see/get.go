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
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/archived"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// The bounds of what fits on one screen.
const (
	maxTransitions = 12
	maxExecutors   = 10
	maxWidth       = 100
)

type getOptions struct {
	*verbs
	archived archived.Flags
	output   cli.Output
}

func (v *verbs) getCommand() *cobra.Command {
	g := &getOptions{verbs: v}
	command := &cobra.Command{
		Use: "get NAME [flags]", Aliases: []string{"status", "describe"}, Short: "Show one object on one screen",
		Long: `Show one object on one screen: its attempts and transitions, its driver and executors with their resources, and its conditions.
An application or a cluster that is gone is shown as the archive has it, if there is one.

` + target.NameHelp,
		Args: cli.One("object"),
		RunE: func(command *cobra.Command, args []string) error { return g.run(command.Context(), args[0]) },
	}
	g.archived.AddTo(command)
	g.output.AddFlag(command)
	return command
}

func (g *getOptions) run(ctx context.Context, name string) error {
	if err := g.output.Check(); err != nil {
		return err
	}
	c, err := g.connect()
	if err != nil {
		return err
	}
	found, o, err := c.Find(ctx, name)
	if err != nil {
		return g.runArchived(ctx, c, name, err)
	}
	if !g.output.Own() {
		return g.output.Print(o.Source, g.Out)
	}
	pods, err := c.pods(ctx, o)
	if err != nil {
		g.Warn(fmt.Sprintf("the Pods cannot be read: %v", err))
	}
	s := &screen{verbs: g.verbs, object: o, now: g.Now()}
	s.head(found.Reference())
	s.pods(pods)
	s.rest(c, name)
	return nil
}

// rest prints what the object itself says of its attempts, and the command that explains it.
func (s *screen) rest(c *cluster, name string) {
	o := s.object
	s.attempts()
	s.timeline(c.Suggest("events", name))
	s.conditions()
	if o.Phase == overview.Failed || o.Phase == overview.Waiting {
		s.line("")
		s.line("%s says what keeps it.", c.Suggest("why", name))
	}
}

// screen prints one object.
type screen struct {
	*verbs
	object *overview.Object
	now    time.Time
}

func (s *screen) line(format string, values ...any) { fmt.Fprintf(s.Out, format+"\n", values...) }

func (s *screen) field(name, value string) {
	if value != "" {
		s.line("%-12s %s", name, value)
	}
}

func (s *screen) age(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return duration.HumanDuration(max(s.now.Sub(at), 0))
}

func (s *screen) head(reference string) {
	o := s.object
	s.line("%s", s.Color(s.Out, ColorOf(o.Phase), headline(o)))
	s.field("Reference", reference)
	if !o.Since.IsZero() {
		s.field("Since", fmt.Sprintf("%s (%s ago)", o.Since.UTC().Format(time.RFC3339), s.age(o.Since)))
	}
	s.field("Created", fmt.Sprintf("%s (%s ago)", o.Source.GetCreationTimestamp().UTC().Format(time.RFC3339), s.age(o.Source.GetCreationTimestamp().Time)))
	if at := o.Source.GetDeletionTimestamp(); at != nil {
		s.field("Deleted", s.age(at.Time)+" ago")
	}
	if o.Inherited {
		s.field("Operator", cmp.Or(o.StatusWriter(), "another one")+": the status has no status.firesteel")
	}
	s.field("Reason", o.ShortReason())
	s.field("Message", oneLine(o.Message, 2*maxWidth))
}

func (s *screen) pods(pods overview.Pods) {
	if pods.Driver != nil {
		s.field("Driver", s.pod(pods.Driver, s.object.MainContainer(pods.Driver)))
	} else if s.object.DriverPod != "" {
		s.field("Driver", s.object.DriverPod+", which is gone")
	}
	if s.object.Kind == overview.Schedule {
		return
	}
	noun := "Executors"
	if s.object.Kind == overview.Cluster {
		noun = "Pods"
	}
	if len(pods.Executors) == 0 {
		if s.object.ExecutorsKnown {
			s.field(noun, strconv.Itoa(s.object.Executors)+" by the status")
		}
		return
	}
	ready, phases := 0, map[corev1.PodPhase]int{}
	for _, pod := range pods.Executors {
		phases[pod.Status.Phase]++
		if isReady(pod) {
			ready++
		}
	}
	summary := []string{fmt.Sprintf("%d of %d ready", ready, len(pods.Executors))}
	for _, phase := range []corev1.PodPhase{corev1.PodPending, corev1.PodFailed, corev1.PodSucceeded} {
		if phases[phase] > 0 {
			summary = append(summary, fmt.Sprintf("%d %s", phases[phase], strings.ToLower(string(phase))))
		}
	}
	s.field(noun, strings.Join(summary, ", "))
	shown := slices.Clone(pods.Executors)
	slices.SortStableFunc(shown, func(a, b *corev1.Pod) int { return cmp.Compare(oddity(b), oddity(a)) })
	for _, pod := range shown[:min(len(shown), maxExecutors)] {
		s.line("%-12s %s", "", s.pod(pod, ""))
	}
	if more := len(shown) - maxExecutors; more > 0 {
		s.line("%-12s and %d more", "", more)
	}
}

// oddity sorts Pods: those that fail or wait are worth a line more than those that run.
func oddity(pod *corev1.Pod) int {
	switch {
	case pod.Status.Phase == corev1.PodFailed:
		return 2
	case pod.Status.Phase == corev1.PodPending:
		return 1
	default:
		return 0
	}
}

// pod describes a Pod in one line. Without the name of a container the first one counts.
func (s *screen) pod(pod *corev1.Pod, container string) string {
	words := []string{pod.Name, phaseOf(pod, container)}
	if pod.Spec.NodeName != "" {
		words = append(words, "on "+pod.Spec.NodeName)
	}
	for i, c := range pod.Spec.Containers {
		if c.Name == container || container == "" && i == 0 {
			words = append(words, resourcesOf(c))
		}
	}
	return strings.Join(append(words, s.age(pod.CreationTimestamp.Time)), "  ")
}

func resourcesOf(c corev1.Container) string {
	var words []string
	if cpu := c.Resources.Requests.Cpu(); !cpu.IsZero() {
		words = append(words, "cpu "+cpu.String())
	}
	if memory := c.Resources.Limits.Memory(); !memory.IsZero() {
		words = append(words, "memory "+memory.String())
	} else if memory := c.Resources.Requests.Memory(); !memory.IsZero() {
		words = append(words, "memory "+memory.String())
	}
	return strings.Join(words, " ")
}

// phaseOf returns the phase of a Pod, with what its container waits for or how it ended.
func phaseOf(pod *corev1.Pod, container string) string {
	phase := cmp.Or(string(pod.Status.Phase), "Pending")
	if pod.DeletionTimestamp != nil {
		phase = "Terminating"
	}
	for i, status := range pod.Status.ContainerStatuses {
		if status.Name != container && (container != "" || i > 0) {
			continue
		}
		switch state := status.State; {
		case state.Waiting != nil && state.Waiting.Reason != "":
			return phase + " (" + state.Waiting.Reason + ")"
		case state.Terminated != nil && state.Terminated.ExitCode != 0:
			return fmt.Sprintf("%s (exit code %d, %s)", phase, state.Terminated.ExitCode, cmp.Or(state.Terminated.Reason, "Error"))
		}
	}
	return phase
}

// attempt is what the record has of an attempt.
type attempt struct {
	id           int64
	began, ended time.Time
	last         v1alpha1.Transition
	end          *v1alpha1.AttemptEnd
}

func (s *screen) attempts() {
	if s.object.Record == nil {
		return
	}
	var all []*attempt
	for _, t := range s.object.Record.Transitions {
		if len(all) == 0 || all[len(all)-1].id != t.Attempt {
			all = append(all, &attempt{id: t.Attempt, began: t.Time.Time})
		}
		a := all[len(all)-1]
		a.last = t
		if t.End != nil {
			a.end, a.ended = t.End, t.Time.Time
		}
	}
	s.line("\nATTEMPTS")
	rows := [][]string{{"ATTEMPT", "BEGAN", "TOOK", "STATE", "EXIT", "REASON"}}
	for _, a := range all {
		row := []string{strconv.FormatInt(a.id, 10), s.age(a.began) + " ago", duration.HumanDuration(max(cmp.Or(a.ended, s.now).Sub(a.began), 0)), a.last.State, "-", "-"}
		if a.end != nil {
			row[3] = a.end.Outcome
			row[5] = cmp.Or(a.end.Reason, "-")
			if a.end.ExitCode != nil {
				row[4] = strconv.FormatInt(int64(*a.end.ExitCode), 10)
			}
		}
		rows = append(rows, row)
	}
	s.table(rows)
}

// timeline prints the last transitions. events is the command that shows all.
func (s *screen) timeline(events string) {
	if s.object.Record == nil {
		return
	}
	transitions := s.object.Record.Transitions
	s.line("\nTIMELINE")
	if more := len(transitions) - maxTransitions; more > 0 {
		s.line("%d earlier transitions are left out: %s shows them.", more, events)
		transitions = transitions[more:]
	}
	rows := [][]string{{"AGE", "ATTEMPT", "STATE", "MESSAGE"}}
	for _, t := range transitions {
		message := t.Message
		if t.End != nil {
			message = t.End.Message
		}
		rows = append(rows, []string{s.age(t.Time.Time), strconv.FormatInt(t.Attempt, 10), t.State, oneLine(message, maxWidth)})
	}
	s.table(rows)
}

func (s *screen) conditions() {
	if len(s.object.Conditions) == 0 {
		return
	}
	s.line("\nCONDITIONS")
	rows := [][]string{{"TYPE", "STATUS", "REASON", "AGE", "MESSAGE"}}
	for _, c := range s.object.Conditions {
		rows = append(rows, []string{c.Type, string(c.Status), c.Reason, s.age(c.LastTransitionTime.Time), oneLine(c.Message, maxWidth)})
	}
	s.table(rows)
}

func (s *screen) table(rows [][]string) {
	_ = (&columns{out: s.Out}).print(rows, nil) // an error of the stream repeats itself
}
