package see

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/archived"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis/why"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

type whyOptions struct {
	*verbs
	archived archived.Flags
	output   cli.Output
}

func (v *verbs) whyCommand() *cobra.Command {
	w := &whyOptions{verbs: v}
	command := &cobra.Command{
		Use: "why NAME [flags]", SuggestFor: []string{"explain", "diagnose", "debug"}, Short: "Say why an application is where it is, and what to do",
		Long: `Say why an application is where it is: the causes, most likely first, what shows each of them, and what to do.

It reads the object, its Pods, Kubernetes Events and the end of the driver's log. An application or a cluster that is gone is explained by what the
archive has of it, if there is one.

` + target.NameHelp,
		Args: cli.One("application"),
		RunE: func(command *cobra.Command, args []string) error { return w.run(command.Context(), args[0]) },
	}
	w.archived.AddTo(command)
	w.output.AddFlag(command)
	return command
}

func (w *whyOptions) run(ctx context.Context, name string) error {
	if err := w.output.Check(); err != nil {
		return err
	}
	c, err := w.connect()
	if err != nil {
		return err
	}
	_, o, err := c.Find(ctx, name)
	if err != nil {
		return w.runArchived(ctx, c, name, err)
	}
	facts, err := w.facts(ctx, c, o)
	if err != nil {
		return err
	}
	return w.show(c, name, o, facts)
}

// show prints what explains an object.
func (w *whyOptions) show(c *cluster, name string, o *overview.Object, facts why.Facts) error {
	reasons := o.Why(facts)
	if !w.output.Own() {
		return w.output.Print(explanation(o, reasons, c.Suggested, name), w.Out)
	}
	w.print(o, reasons, c.Suggested, name)
	return nil
}

// facts reads what explains an object. Without the right to read Pods it is explained by itself.
func (v *verbs) facts(ctx context.Context, c *cluster, o *overview.Object) (why.Facts, error) {
	pods, err := c.pods(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return why.Facts{}, ctx.Err()
		}
		v.Warn(fmt.Sprintf("the Pods cannot be read (%v): only what the object says is explained", err))
	}
	return o.Facts(v.Now(), pods, c.events(ctx, o, pods), c.logTail(ctx, o, pods.Driver)), nil
}

func (w *whyOptions) print(o *overview.Object, reasons []why.Reason, namespace, name string) {
	fmt.Fprintln(w.Out, w.Color(w.Out, ColorOf(o.Phase), headline(o)))
	if len(reasons) == 0 {
		fmt.Fprintln(w.Out, "\nNothing keeps it.")
		return
	}
	for i, r := range reasons {
		title := string(r.Cause)
		if r.Beside {
			title += " (it goes on in spite of it)"
		}
		fmt.Fprintf(w.Out, "\n%d. %s\n", i+1, w.Color(w.Out, cli.Odd, title))
		for _, text := range []string{r.Summary, r.Evidence, r.Remedy} {
			if text != "" {
				fmt.Fprintln(w.Out, indented(text))
			}
		}
		if command := r.Command(namespace, name); command != "" {
			fmt.Fprintln(w.Out, "   → "+command)
		}
	}
}

// headline says what an object is and where it is.
func headline(o *overview.Object) string {
	text := fmt.Sprintf("%s %s/%s: %s", title(string(o.Kind)), o.Namespace(), o.Name(), o.StateName())
	if o.Attempt >= 0 {
		text += fmt.Sprintf(" (attempt %d)", o.Attempt)
	}
	return text
}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func indented(text string) string {
	return "   " + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), "\n   ")
}

// explanation returns the reasons as an object for programs.
func explanation(o *overview.Object, reasons []why.Reason, namespace, name string) *unstructured.Unstructured {
	var listed []any
	for _, r := range reasons {
		listed = append(listed, map[string]any{
			"cause": string(r.Cause), "summary": r.Summary, "evidence": r.Evidence, "remedy": r.Remedy, "command": r.Command(namespace, name),
			"beside": r.Beside,
		})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "firesteel.dev/v1alpha1", "kind": "Explanation",
		"metadata": map[string]any{"namespace": o.Namespace(), "name": o.Name()},
		"object":   map[string]any{"apiVersion": o.Source.GetAPIVersion(), "kind": o.Source.GetKind()},
		"state":    o.State, "phase": string(o.Phase), "reasons": listed,
	}}
}
