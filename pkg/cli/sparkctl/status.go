package sparkctl

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/see"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// listPage is how many applications are read at once.
const listPage = 500

func (v verbs) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the applications of a namespace", Long: "List the applications of a namespace.", Args: cli.None,
		RunE: func(command *cobra.Command, _ []string) error { return v.list(command.Context()) },
	}
}

func (v verbs) list(ctx context.Context) error {
	client, err := v.Dynamic()
	if err != nil {
		return err
	}
	printed := newTable("Name", "State", "Submission Age", "Termination Age")
	err = target.EachServed(ctx, actions.KindsOf(overview.Application), v.Warn, func(kind actions.Kind) error {
		return kind.Pages(ctx, client, *v.Connection.Namespace, metav1.ListOptions{Limit: listPage},
			func(_ schema.GroupVersionResource, page *unstructured.UnstructuredList) error {
				for i := range page.Items {
					o, err := overview.Read(&page.Items[i])
					if err != nil {
						v.Warn(err.Error())
						continue
					}
					submitted, terminated := times(o)
					printed.add(o.Name(), o.State, v.age(submitted), v.age(terminated))
				}
				return nil
			})
	})
	if err != nil {
		return err
	}
	return printed.flush(v.Out, true, true)
}

// times returns when an application was last submitted, and when it ended. Each is zero if that has not happened.
func times(o *overview.Object) (submitted, terminated time.Time) {
	submitted = timeIn(o, "lastSubmissionAttemptTime", "submissionTime")
	terminated = timeIn(o, "terminationTime", "completionTime")
	if o.Record == nil || !submitted.IsZero() {
		return submitted, terminated
	}
	for _, t := range o.Record.Transitions {
		if t.Attempt == o.Record.Attempt.ID && t.DriverPod != "" && submitted.IsZero() {
			submitted = t.Time.Time
		}
		if t.End != nil && o.Ended() {
			terminated = t.Time.Time
		}
	}
	return submitted, terminated
}

// timeIn returns the time of the first field of the status that has one.
func timeIn(o *overview.Object, fields ...string) time.Time {
	for _, field := range fields {
		if at, err := time.Parse(time.RFC3339, text(o, field)); err == nil {
			return at
		}
	}
	return time.Time{}
}

// text returns a text of the status; empty if there is none.
func text(o *overview.Object, fields ...string) string {
	found, _, _ := unstructured.NestedString(o.Source.Object, append([]string{"status"}, fields...)...) // the decoder reports what cannot be read
	return found
}

func (v verbs) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status NAME", Short: "Show the status of an application", Long: "Show the status of an application, its driver and its executors.",
		Args: cli.One("application"),
		RunE: func(command *cobra.Command, args []string) error { return v.status(command.Context(), args[0]) },
	}
}

func (v verbs) status(ctx context.Context, name string) error {
	_, o, err := v.find(ctx, name)
	if err != nil {
		return err
	}
	executors, err := v.executors(ctx, o)
	if err != nil {
		v.Warn(fmt.Sprintf("the executors cannot be read: %v", err))
	}
	submitted, terminated := times(o)
	state := newTable("State", "Submission Age", "Completion Age", "Driver Pod", "Driver UI", "SubmissionAttempts", "ExecutionAttempts")
	state.add(o.State, v.age(submitted), v.age(terminated), cmp.Or(o.DriverPod, notAvailable), cmp.Or(uiAddress(o), notAvailable),
		attempts(o, "submissionAttempts"), attempts(o, "executionAttempts"))
	fmt.Fprintln(v.Out, "application state:")
	if err := state.flush(v.Out, true, true); err != nil {
		return err
	}
	if len(executors) > 0 {
		states := newTable("Executor Pod", "State")
		for _, pod := range slices.Sorted(maps.Keys(executors)) {
			states.add(pod, executors[pod])
		}
		fmt.Fprintln(v.Out, "executor state:")
		if err := states.flush(v.Out, true, true); err != nil {
			return err
		}
	}
	if message := errorOf(o); message != "" {
		fmt.Fprintf(v.Out, "\napplication error message: %s\n", o.Redactor().Text(message))
	}
	return nil
}

// errorOf returns the message of a failure; empty if there is none.
func errorOf(o *overview.Object) string {
	if message := text(o, "applicationState", "errorMessage"); message != "" || o.Phase != overview.Failed {
		return message
	}
	return o.Message
}

// uiAddress returns the address of the driver's UI; empty if none is known.
func uiAddress(o *overview.Object) string {
	address := text(o, "driverInfo", "webUIAddress")
	if o.Record != nil && len(o.Record.Transitions) > 0 {
		address = cmp.Or(address, o.Record.Transitions[len(o.Record.Transitions)-1].UIAddress)
	}
	return address
}

// attempts returns a number of attempts from the status. If the API has no such field, it is the number of attempts that began.
func attempts(o *overview.Object, field string) string {
	if count, found, err := unstructured.NestedInt64(o.Source.Object, "status", field); found && err == nil {
		return strconv.FormatInt(count, 10)
	}
	if o.DriverPod == "" {
		return strconv.FormatInt(max(o.Attempt, 0), 10)
	}
	return strconv.FormatInt(o.Attempt+1, 10)
}

// executors returns the states of executors by the names of their Pods: those of the status, or those of the Pods if the API shows none.
func (v verbs) executors(ctx context.Context, o *overview.Object) (map[string]string, error) {
	shown, found, err := unstructured.NestedStringMap(o.Source.Object, "status", "executorState")
	if found || err != nil {
		return shown, err
	}
	kube, err := v.Kubernetes()
	if err != nil {
		return nil, err
	}
	pods, err := see.Pods(ctx, kube, o)
	if err != nil {
		return nil, err
	}
	states := map[string]string{}
	for _, pod := range pods.Executors {
		states[pod.Name] = cmp.Or(executorStates[pod.Status.Phase], "UNKNOWN")
	}
	return states, nil
}

// executorStates are the Kubeflow operator's states of executors.
var executorStates = map[corev1.PodPhase]string{
	corev1.PodPending: "PENDING", corev1.PodRunning: "RUNNING", corev1.PodSucceeded: "COMPLETED", corev1.PodFailed: "FAILED",
}
