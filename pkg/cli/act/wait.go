package act

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

type waitOptions struct {
	*verbs
	condition string
	timeout   time.Duration
}

func (v *verbs) waitCommand() *cobra.Command {
	w := &waitOptions{verbs: v}
	command := &cobra.Command{
		Use: "wait NAME [flags]", Short: "Wait for the end, a state or a condition",
		Long: `Wait until what --for names holds. It is one of

  end                       the application has succeeded or failed, and no restart follows; the default
  state=STATE               a state as kubectl spark list shows it, such as RunningHealthy or COMPLETED
  condition=TYPE[=STATUS]   a condition of the status, such as Ready or Succeeded=False; STATUS is True without it
  delete                    the object is gone

It returns at once if that holds already. Clusters and schedules have no end, so --for is needed for them.

The exit code is 0 if it holds, 3 if the application failed and it will not come, and 1 if --timeout is over, or if the
application ended otherwise or was deleted before.

` + target.NameHelp,
		Example: `  # In a pipeline: fail if the application fails
  kubectl spark submit -f etl.yaml && kubectl spark wait etl --timeout 2h

  # Until it runs
  kubectl spark wait etl --for state=RunningHealthy --timeout 5m

  # Until a cluster can be used
  kubectl spark wait cluster/adhoc --for condition=Ready`,
		Args: cli.One("object"),
		RunE: func(command *cobra.Command, args []string) error { return w.run(command.Context(), args[0]) },
	}
	command.Flags().StringVar(&w.condition, "for", "end", "end, state=STATE, condition=TYPE[=STATUS] or delete.")
	command.Flags().DurationVar(&w.timeout, "timeout", 0, "How long to wait; 0 for without end.")
	return command
}

// goal is what is waited for.
type goal struct {
	// text is the flag.
	text  string
	holds func(*overview.Object) bool
	// state is the state that is waited for; empty for anything else.
	state string
	// end reports whether it is the end, and gone whether it is the deletion.
	end, gone bool
}

func parseGoal(text string) (goal, error) {
	kind, rest, _ := strings.Cut(text, "=")
	g := goal{text: text}
	switch {
	case text == "end":
		g.end, g.holds = true, (*overview.Object).Ended
	case text == "delete":
		g.gone, g.holds = true, func(*overview.Object) bool { return false }
	case kind == "state" && rest != "":
		if err := overview.CheckState(rest, false); err != nil {
			return g, cli.Usage("--for state %v", err)
		}
		g.state, g.holds = rest, func(o *overview.Object) bool { return strings.EqualFold(o.StateName(), rest) }
	case kind == "condition" && rest != "" && !strings.HasPrefix(rest, "="):
		condition, status, given := strings.Cut(rest, "=")
		if !given {
			status = string(metav1.ConditionTrue)
		}
		g.holds = func(o *overview.Object) bool {
			c := meta.FindStatusCondition(o.Conditions, condition)
			return c != nil && strings.EqualFold(string(c.Status), status)
		}
	default:
		return g, cli.Usage("--for %q is nothing to wait for: write end, state=STATE, condition=TYPE[=STATUS] or delete", text)
	}
	return g, nil
}

func (w *waitOptions) run(ctx context.Context, name string) error {
	wanted, err := parseGoal(w.condition)
	if err != nil {
		return err
	}
	if w.timeout < 0 {
		return cli.Usage("--timeout %s is negative: write a duration such as 5m, or 0 for without end", w.timeout)
	}
	c, err := w.connect()
	if err != nil {
		return err
	}
	found, o, err := c.Find(ctx, name)
	if err != nil {
		return err
	}
	if wanted.end && o.Kind != overview.Application {
		return cli.Usage("a %s has no end: write --for=condition=TYPE, --for=state=STATE or --for=delete", o.Kind)
	}
	err = c.until(ctx, found, w.timeout, func(now *overview.Object) (bool, error) { return wanted.reached(c, found, now) })
	if err != nil {
		return err
	}
	what := wanted.text
	if wanted.end {
		what = "ended"
	}
	fmt.Fprintf(w.Out, "%s %s\n", found.Reference(), map[bool]string{true: "is gone", false: "met: " + what}[wanted.gone])
	return nil
}

// reached reports whether an object is as wanted. It returns an error if it never will be. o is nil if the object is gone.
func (g goal) reached(c *cluster, found *target.Found, o *overview.Object) (bool, error) {
	switch {
	case o == nil && g.gone:
		return true, nil
	case o == nil:
		return false, fmt.Errorf("%s was deleted before %s held", found.Reference(), g.text)
	case g.end && o.Phase == overview.Failed:
		return false, c.failed(found, o)
	case g.holds(o):
		return true, nil
	case !g.over(o):
		return false, nil
	case o.Phase == overview.Failed:
		return false, c.failed(found, o)
	default:
		return false, fmt.Errorf("%s has ended (%s), and %s does not hold", found.Reference(), o.StateName(), g.text)
	}
}

// over reports whether an object has ended, so that nothing of what is waited for will come. After the end of a retained application its
// release is still to come.
func (g goal) over(o *overview.Object) bool {
	switch state := lifecycle.CurrentState(o.Record); {
	case g.gone || !o.Ended():
		return false
	case o.Record == nil || o.Inherited:
		return true
	case strings.EqualFold(g.state, string(lifecycle.ResourceReleased)):
		return state == lifecycle.ResourceReleased
	default:
		return state.Terminated()
	}
}

// failed returns the error for an application that failed.
func (c *cluster) failed(found *target.Found, o *overview.Object) error {
	message := o.Message
	if message != "" {
		message = ": " + o.Redactor().Text(message)
	}
	return cli.ApplicationFailed("%s failed (%s)%s: %s says why", found.Reference(), o.StateName(), message, c.Suggest("why", o.Name()))
}

// timeoutError reports that the time to wait is over.
type timeoutError struct{ message string }

func (e *timeoutError) Error() string { return e.message }

// until waits until an object is as wanted, for no longer than a timeout if there is one. reached gets nil once the object is gone, or another
// one has its name.
func (c *cluster) until(ctx context.Context, found *target.Found, timeout time.Duration, reached func(*overview.Object) (bool, error)) error {
	if timeout == 0 {
		return target.Until(ctx, c.Dynamic, found, reached)
	}
	limited, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	err := target.Until(limited, c.Dynamic, found, reached)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return &timeoutError{fmt.Sprintf("timed out after %s waiting for %s: %s says what keeps it",
			timeout, found.Reference(), c.Suggest("why", found.GetName()))}
	}
	return err
}
