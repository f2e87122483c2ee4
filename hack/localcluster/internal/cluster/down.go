package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

// grace is how long a process may take to end by itself.
const grace = 10 * time.Second

// Down stops what Up started and puts the machine back as it was. What was
// built stays in the cache folder.
func (c *Cluster) Down(context.Context) error {
	if err := requireRoot("localcluster down"); err != nil {
		return err
	}
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	runner := step.NewRunner(c.progress, c.cache.Logs())
	if _, err := os.Stat(c.cache.Cluster()); errors.Is(err, os.ErrNotExist) {
		runner.Say("no cluster runs")
		return nil
	}
	runner.Say("stopping the cluster")
	if err := c.remove(runner); err != nil {
		return err
	}
	runner.Say("the cluster is gone; what was built stays in %s", c.cache)
	return nil
}

// remove stops every process and undoes every change to the machine. It goes on
// where something fails, and keeps the cluster's folder then: its records say
// what is still to be done, and it can be called again.
func (c *Cluster) remove(runner *step.Runner) error {
	var errs []error
	for _, name := range append(slices.Clone(programs), "image-store") {
		errs = append(errs, c.processes.Stop(name, grace))
		if name == "kubelet" {
			// No kubelet starts containers any more, and containerd still lives to see
			// them end.
			errs = append(errs, c.node.KillContainers())
		}
	}
	left, err := c.node.Remove()
	errs = append(errs, err, c.network.Down(), c.removeVolumes())
	for _, dir := range left {
		runner.Say("left the folder %s, which has files of others in it", dir)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("taking the cluster down: %w\n  what to do: see the message and run localcluster down again", err)
	}
	return os.RemoveAll(c.cache.Cluster())
}
