package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

// programs are the processes of a whole cluster, in the order in which they
// are stopped.
var programs = []string{
	"kubelet", "coredns", "kube-proxy", "kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd",
	"containerd", "registry", "volumes",
}

// Healthy is nil for a cluster that was booted to the end and works, and
// otherwise says what is wrong with it.
func (c *Cluster) Healthy(ctx context.Context) error {
	if _, err := os.Stat(c.complete()); err != nil {
		return errors.New("it was not booted to the end")
	}
	return c.works(ctx)
}

// patience is how long a running cluster may fail to answer before it counts as
// broken. A machine that compiles meanwhile is slow, and to boot again loses work.
const patience = time.Minute

// works is nil when all that was started runs and does what it is for.
func (c *Cluster) works(ctx context.Context) error {
	for _, name := range programs {
		if err := c.processes.Running(name); err != nil {
			return err
		}
	}
	return step.Until(ctx, patience, "the cluster working", func(ctx context.Context) error {
		for _, check := range []func(context.Context) error{c.control.Ready, c.control.NodeReady, c.control.DNSReady} {
			if err := check(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// Status prints what runs.
func (c *Cluster) Status(ctx context.Context) (string, error) {
	records, err := c.processes.Records()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, r := range records {
		state := "ended"
		if r.Alive() {
			state = "runs"
		}
		fmt.Fprintf(&b, "%-24s %-6s pid %-8d %s\n", r.Name, state, r.PID, r.Log)
	}
	if err := c.Healthy(ctx); err != nil {
		return b.String(), fmt.Errorf("the cluster is not healthy: %w", err)
	}
	fmt.Fprintf(&b, "the cluster is healthy\n")
	return b.String(), nil
}
