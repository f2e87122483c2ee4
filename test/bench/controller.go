package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// controller is Firesteel's, in a process of its own.
type controller struct {
	*process.Process
	profiles, metrics string
}

// setup defines how a controller runs.
type setup struct {
	// sink is where it sends events; empty for nowhere.
	sink string
	// replica has it take part in elections.
	replica bool
	// through is how it reaches the API server; nil for directly.
	through *rest.Config
}

// startController starts a controller, and waits until it works.
func (w *env) startController(ctx context.Context, s setup) (*controller, error) {
	c, err := w.launchController(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := w.untilWorking(ctx); err != nil {
		c.Kill()
		return nil, fmt.Errorf("%w\n%s", err, c.Tail(20))
	}
	return c, nil
}

// untilWorking runs an application that is not counted.
func (w *env) untilWorking(ctx context.Context) error {
	workload, err := w.newWorkload(ctx, apacheKind, held, nil)
	if err != nil {
		return err
	}
	defer workload.close()
	first := []string{"canary"}
	if err := workload.create(ctx, first); err != nil {
		return err
	}
	if _, err := workload.untilAll(ctx, first, launched); err != nil {
		return err
	}
	if err := workload.remove(ctx, first); err != nil {
		return err
	}
	if _, err := workload.untilAll(ctx, first, gone); err != nil {
		return err
	}
	return w.untilEmpty(ctx, workload.namespace)
}

func (w *env) launchController(ctx context.Context, s setup) (*controller, error) {
	config := s.through
	if config == nil {
		var err error
		if config, err = w.controllerConfig(ctx); err != nil {
			return nil, err
		}
	}
	w.controllers++
	name := filepath.Join(w.dir, fmt.Sprintf("controller-%d", w.controllers))
	if err := controlplane.WriteKubeconfig(name+".kubeconfig", config); err != nil {
		return nil, err
	}
	started, ports, err := firesteel.Controller{
		Program: w.program, Kubeconfig: name + ".kubeconfig", Sink: s.sink, Replica: s.replica,
	}.Start(name + ".log")
	return &controller{
		Process:  started,
		profiles: fmt.Sprintf("http://127.0.0.1:%d/debug/pprof/", ports.Profiling),
		metrics:  fmt.Sprintf("http://127.0.0.1:%d/metrics", ports.Metrics),
	}, err
}

// controllerConfig is a client configuration for the controller's service account.
func (w *env) controllerConfig(ctx context.Context) (*rest.Config, error) {
	return w.ConfigOf(ctx, firesteel.SystemNamespace, "controller")
}

// allocated is what the controller has allocated until now, in bytes, and how often it collected garbage. An answer takes
// memory itself, the more the larger the heap is, and does not count that; where something begins, what the answer before
// took is added for it.
func (c *controller) allocated(ctx context.Context, begins bool) (bytes, collections float64, err error) {
	memory, err := c.memory(ctx, false)
	if err != nil || !begins {
		return memory["TotalAlloc"], memory["NumGC"], err
	}
	again, err := c.memory(ctx, false)
	return again["TotalAlloc"] + again["TotalAlloc"] - memory["TotalAlloc"], again["NumGC"], err
}

// memory returns the controller's memory as the Go runtime reports it, in bytes, after a collection if requested.
func (c *controller) memory(ctx context.Context, collected bool) (map[string]float64, error) {
	url := c.profiles + "heap?debug=1"
	if collected {
		url += "&gc=1"
	}
	text, err := firesteel.Fetch(ctx, url)
	if err != nil {
		return nil, err
	}
	numbers := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "# "), " = "); found && strings.HasPrefix(line, "#") {
			if number, err := strconv.ParseFloat(value, 64); err == nil {
				numbers[name] = number
			}
		}
	}
	if numbers["TotalAlloc"] == 0 {
		return nil, errors.New("the profile of the heap does not say how much was allocated")
	}
	return numbers, nil
}

// profile returns what the controller spends its time on, for a while.
func (c *controller) profile(ctx context.Context, length time.Duration) ([]byte, error) {
	return firesteel.Fetch(ctx, fmt.Sprintf("%sprofile?seconds=%d", c.profiles, int(length.Seconds())))
}
