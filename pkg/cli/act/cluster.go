package act

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/cli/tunnel"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

func (v *verbs) clusterCommand() *cobra.Command {
	group := &cobra.Command{Use: "cluster", Aliases: []string{"clusters"}, Short: "List, scale and see standalone clusters"}
	list := &listOptions{verbs: v, noun: overview.Cluster, headers: []string{"STATE", "WORKERS", "WANTED", "REASON"}, cells: clusterCells}
	group.AddCommand(list.command("List standalone clusters"), v.clusterScaleCommand(), v.clusterUICommand())
	return group
}

func clusterCells(o *overview.Object, _ time.Time) []string {
	workers, wanted := "", ""
	if o.ExecutorsKnown {
		workers = strconv.Itoa(o.Executors)
	}
	if c, ok := o.Typed.(*sparkv1.SparkCluster); ok && c.Undecodable == "" {
		wanted = strconv.Itoa(int(c.Spec.ClusterTolerations.InstanceConfig.InitWorkers))
		if resources.Autoscaled(c) && c.Status.Workers != nil {
			wanted = strconv.Itoa(int(c.Status.Workers.Replicas))
		}
	}
	return []string{o.StateName(), cmp.Or(workers, "-"), cmp.Or(wanted, "-"), cmp.Or(o.ShortReason(), "-")}
}

type scaleOptions struct {
	*verbs
	workers int
	dryRun  cli.DryRun
}

func (v *verbs) clusterScaleCommand() *cobra.Command {
	s := &scaleOptions{verbs: v, workers: -1}
	command := &cobra.Command{
		Use: "scale NAME --workers N [flags]", Short: "Set the number of workers", Args: cli.One("cluster"),
		RunE: func(command *cobra.Command, args []string) error { return s.run(command.Context(), args[0]) },
	}
	command.Flags().IntVar(&s.workers, "workers", -1, "The new number of workers.")
	s.dryRun.AddFlag(command)
	return command
}

func (s *scaleOptions) run(ctx context.Context, name string) error {
	if s.workers < 0 || s.workers > math.MaxInt32 {
		return cli.Usage("--workers is missing, or no number of workers: write --workers 3")
	}
	c, err := s.connect()
	if err != nil {
		return err
	}
	found, o, err := c.Find(ctx, name, overview.Cluster)
	if err != nil {
		return err
	}
	plan, err := actions.Scale(c.subject(name, found, o), s.workers)
	if err != nil {
		return err
	}
	return s.carryOut(ctx, c, found, plan, s.dryRun)
}

type clusterUIOptions struct {
	*verbs
	tunnel.Flags
}

func (v *verbs) clusterUICommand() *cobra.Command {
	u := &clusterUIOptions{verbs: v}
	command := &cobra.Command{
		Use: "ui NAME [flags]", Short: "Open the page of a master through a port of this machine", Args: cli.One("cluster"),
		Long: "Forward a port of this machine to the page of a cluster's master, and print its address. It ends with Ctrl-C, or with the master.",
		RunE: func(command *cobra.Command, args []string) error { return u.run(command.Context(), args[0]) },
	}
	u.AddTo(command, "master")
	return command
}

func (u *clusterUIOptions) run(ctx context.Context, name string) error {
	if err := u.Check(); err != nil {
		return err
	}
	c, err := u.connect()
	if err != nil {
		return err
	}
	found, o, err := c.Find(ctx, name, overview.Cluster)
	if err != nil {
		return err
	}
	pod, err := c.master(ctx, name, found, o)
	if err != nil {
		return err
	}
	connection, err := u.Cluster()
	if err != nil {
		return err
	}
	return u.Run(ctx, u.Options, connection, tunnel.Target{Pod: pod, What: "master", Port: pagePort(pod)})
}

// master returns the Pod of a cluster's master, which runs.
func (c *cluster) master(ctx context.Context, name string, found *target.Found, o *overview.Object) (*corev1.Pod, error) {
	podName := resources.MasterName(found.GetName()) + "-0" // of a StatefulSet
	read, err := c.Dynamic.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(found.GetNamespace()).Get(ctx, podName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%s has no master (%s): %s says why", found.Reference(), o.StateName(), c.Suggest("why", name))
	}
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(read.Object, pod); err != nil {
		return nil, fmt.Errorf("decode Pod %s: %w", podName, err)
	}
	if pod.Status.Phase != corev1.PodRunning {
		return nil, fmt.Errorf("the master Pod %s does not run (%s): %s says why", podName, pod.Status.Phase, c.Suggest("why", name))
	}
	return pod, nil
}

// pagePort returns the port of a master's page.
func pagePort(master *corev1.Pod) int {
	for _, container := range master.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == resources.PortWeb {
				return int(port.ContainerPort)
			}
		}
	}
	return int(resources.MasterWebPort)
}
