package see

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// podMetrics is what the metrics server of a cluster serves.
var podMetrics = schema.GroupVersionResource{Group: "metrics.k8s.io", Version: "v1beta1", Resource: "pods"}

type topOptions struct {
	*verbs
	sortBy string
}

func (v *verbs) topCommand() *cobra.Command {
	t := &topOptions{verbs: v}
	command := &cobra.Command{
		Use: "top NAME [flags]", Short: "Show the CPU and memory that driver and executors use",
		Long: `Show the CPU and memory that driver and executors use, beside what they asked for. The cluster needs a metrics server.

` + target.NameHelp,
		Args: cli.One("application"),
		RunE: func(command *cobra.Command, args []string) error { return t.run(command.Context(), args[0]) },
	}
	command.Flags().StringVar(&t.sortBy, "sort-by", "", "Sort by cpu or memory.")
	return command
}

func (t *topOptions) run(ctx context.Context, name string) error {
	if !slices.Contains([]string{"", "cpu", "memory"}, t.sortBy) {
		return cli.Usage("--sort-by %s is unknown: write cpu or memory", t.sortBy)
	}
	c, err := t.connect()
	if err != nil {
		return err
	}
	_, o, err := c.Find(ctx, name, overview.Application, overview.Cluster)
	if err != nil {
		return err
	}
	pods, err := c.pods(ctx, o)
	if err != nil {
		return err
	}
	usage, err := c.usage(ctx, o)
	if err != nil {
		return err
	}
	var uses []*use
	for _, pod := range pods.All() {
		if pod.Status.Phase == corev1.PodRunning {
			uses = append(uses, useOf(pod, usage[pod.Name]))
		}
	}
	if len(uses) == 0 {
		return fmt.Errorf("%s has no Pods that run (%s): %s says why", name, o.StateName(), c.Suggest("why", name))
	}
	if !slices.ContainsFunc(uses, func(u *use) bool { return len(u.used) > 0 }) {
		t.Warn("nothing was measured of its Pods yet: a metrics server measures a Pod within a minute of its start")
	}
	return t.print(uses)
}

// usage reads what the Pods of an object use, by their names.
func (c *cluster) usage(ctx context.Context, o *overview.Object) (map[string]corev1.ResourceList, error) {
	list, err := c.Dynamic.Resource(podMetrics).Namespace(o.Namespace()).List(ctx, metav1.ListOptions{LabelSelector: o.PodSelector()})
	if actions.NotServed(err) {
		return nil, errors.New("this cluster has no metrics of Pods: install a metrics server (metrics.k8s.io)")
	}
	if apierrors.IsServiceUnavailable(err) {
		return nil, fmt.Errorf("the metrics server does not answer (%w): kubectl describe apiservices v1beta1.metrics.k8s.io says why", err)
	}
	if err != nil {
		return nil, err
	}
	used := map[string]corev1.ResourceList{}
	for i := range list.Items {
		containers, _, _ := unstructured.NestedSlice(list.Items[i].Object, "containers") // a malformed one uses nothing
		sum := corev1.ResourceList{}
		for _, container := range containers {
			object, _ := container.(map[string]any)
			usage, _, _ := unstructured.NestedStringMap(object, "usage")
			for name, text := range usage {
				if quantity, err := resource.ParseQuantity(text); err == nil {
					add(sum, corev1.ResourceName(name), quantity)
				}
			}
		}
		used[list.Items[i].GetName()] = sum
	}
	return used, nil
}

func add(sum corev1.ResourceList, name corev1.ResourceName, amount resource.Quantity) {
	total := sum[name]
	total.Add(amount)
	sum[name] = total
}

// use is what a Pod uses and asked for.
type use struct {
	pod         *corev1.Pod
	used, asked corev1.ResourceList
}

func useOf(pod *corev1.Pod, used corev1.ResourceList) *use {
	asked := corev1.ResourceList{}
	for _, container := range pod.Spec.Containers {
		add(asked, corev1.ResourceCPU, *container.Resources.Requests.Cpu())
		add(asked, corev1.ResourceMemory, *container.Resources.Limits.Memory())
	}
	return &use{pod: pod, used: used, asked: asked}
}

func (t *topOptions) print(uses []*use) error {
	if t.sortBy != "" {
		slices.SortStableFunc(uses, func(a, b *use) int {
			x, y := a.used[corev1.ResourceName(t.sortBy)], b.used[corev1.ResourceName(t.sortBy)]
			return y.Cmp(x)
		})
	}
	rows := [][]string{{"POD", "CPU", "REQUESTED", "MEMORY", "LIMIT", "OF LIMIT"}}
	sum := corev1.ResourceList{}
	for _, u := range uses {
		add(sum, corev1.ResourceCPU, *u.used.Cpu())
		add(sum, corev1.ResourceMemory, *u.used.Memory())
		rows = append(rows, []string{
			u.pod.Name, printedCPU(u.used), printedCPU(u.asked), printedMemory(u.used), printedMemory(u.asked), share(u),
		})
	}
	if len(uses) > 1 {
		rows = append(rows, []string{"all", printedCPU(sum), "", printedMemory(sum), "", ""})
	}
	return (&columns{out: t.Out}).print(rows, nil)
}

func printedCPU(of corev1.ResourceList) string {
	if of.Cpu().IsZero() {
		return "-"
	}
	return fmt.Sprintf("%dm", of.Cpu().MilliValue())
}

func printedMemory(of corev1.ResourceList) string {
	if of.Memory().IsZero() {
		return "-"
	}
	return fmt.Sprintf("%dMi", of.Memory().Value()>>20)
}

// share returns how much of its memory limit a Pod uses.
func share(u *use) string {
	used, limit := u.used.Memory().Value(), u.asked.Memory().Value()
	if limit <= 0 || used <= 0 {
		return "-"
	}
	return fmt.Sprintf("%d%%", int64(float64(used)/float64(limit)*100))
}
