package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/pause"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

const (
	partConsole = "console"
	// What a page may take, and a transition until it is on the screen, in milliseconds; the console's memory, in MiB; and its CPU time when nobody
	// looks, in percent of a core.
	pageGoalP99, screenGoal, consoleMemoryGoal, idleGoal = 100, 500, 256, 10
	// consoleLimit is the memory limit of config/console, as the garbage collector gets it.
	consoleLimit = "256MiB"
	// transitionPause is the time between two transitions of some application.
	transitionPause = 200 * time.Millisecond
)

// measureConsole is the part that has users look at the console's pages, while applications change.
func (b *bench) measureConsole(ctx context.Context) (err error) {
	if err := firesteel.Build(ctx, b.root, b.dir, "cmd/console"); err != nil {
		return err
	}
	stored := &consoleObjects{bench: b}
	defer func() { err = errors.Join(err, stored.remove(ctx)) }()
	if err := stored.create(ctx); err != nil {
		return err
	}
	b.logf("%d applications stored, of which %d live", stored.count(), len(stored.living))
	began := time.Now()
	c, err := b.startConsole(ctx)
	if err != nil {
		return err
	}
	defer c.Kill()
	of := fmt.Sprintf("%d applications, %d of them living", stored.count(), len(stored.living))
	b.Add(partConsole, of, "ready after", "ms", milliseconds(time.Since(began)))
	if err := b.measureConsoleOf(ctx, c, stored, of); err != nil {
		return fmt.Errorf("%w\n%s", err, c.Tail(20))
	}
	return nil
}

// measureConsoleOf measures a console: at rest, with users, and while applications change and nobody looks.
func (b *bench) measureConsoleOf(ctx context.Context, c *consoleProcess, stored *consoleObjects, of string) error {
	if err := b.measureUnwatched(ctx, c, of, "CPU at rest"); err != nil {
		return err
	}
	resident, err := c.Resident()
	if err != nil {
		return err
	}
	b.Add(partConsole, of, "resident before the first user", "MiB", float64(resident)/(1<<20)).Below(consoleMemoryGoal)
	if err := b.measureUsers(ctx, c, stored, of); err != nil {
		return err
	}
	changing, stop := context.WithCancel(ctx)
	changed := stored.keepChanging(changing)
	err = b.measureUnwatched(ctx, c, of, fmt.Sprintf("CPU when nobody looks, %d transitions a second", time.Second/transitionPause))
	stop()
	if err := errors.Join(err, <-changed); err != nil {
		return err
	}
	if resident, err = c.PeakResident(); err == nil {
		b.Add(partConsole, of, "resident at most", "MiB", float64(resident)/(1<<20)).Below(consoleMemoryGoal)
	}
	return err
}

// window is how long the console is watched.
func (b *bench) window() time.Duration {
	const long, short = 30 * time.Second, 5 * time.Second
	if b.count >= 1000 {
		return long
	}
	return short
}

// measureUnwatched measures the CPU time of the console while nobody looks.
func (b *bench) measureUnwatched(ctx context.Context, c *consoleProcess, of, name string) error {
	before, err := c.CPU()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := pause.For(ctx, b.window()); err != nil {
		return err
	}
	after, err := c.CPU()
	if err == nil {
		b.Add(partConsole, of, name, "% of a core", 100*float64(after-before)/float64(time.Since(began))).Below(idleGoal)
	}
	return err
}

// consoleProcess is a console, in a process of its own.
type consoleProcess struct {
	*controller
	url string
}

// startConsole starts the console with the rights of config/console, and waits until it is ready.
func (b *bench) startConsole(ctx context.Context) (*consoleProcess, error) {
	manifest, err := os.ReadFile(filepath.Join(b.root, "config/console/500-console.yaml"))
	if err != nil {
		return nil, err
	}
	if _, err := b.Plane.Kubectl(ctx, string(manifest), "apply", "--server-side", "--filename=-"); err != nil {
		return nil, err
	}
	config, err := b.ConfigOf(ctx, firesteel.SystemNamespace, "console")
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(b.dir, "console.kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, config); err != nil {
		return nil, err
	}
	ports, err := process.FreePorts(5)
	if err != nil {
		return nil, err
	}
	started, err := process.Start(filepath.Join(b.dir, "console.log"), []string{
		"KUBECONFIG=" + kubeconfig, "SYSTEM_NAMESPACE=" + firesteel.SystemNamespace, "CONFIG_OBSERVABILITY_NAME=config-observability", "GOMEMLIMIT=" + consoleLimit,
		fmt.Sprintf("PORT=%d", ports[0]), fmt.Sprintf("PROBE_PORT=%d", ports[1]), fmt.Sprintf("SPARK_UI_PORT=%d", ports[2]),
		fmt.Sprintf("METRICS_PROMETHEUS_PORT=%d", ports[3]), fmt.Sprintf("PROFILING_PORT=%d", ports[4]),
	}, filepath.Join(b.dir, "console"))
	if err != nil {
		return nil, err
	}
	c := &consoleProcess{&controller{
		Process: started, profiles: fmt.Sprintf("http://127.0.0.1:%d/debug/pprof/", ports[4]), metrics: fmt.Sprintf("http://127.0.0.1:%d/metrics", ports[3]),
	}, fmt.Sprintf("http://127.0.0.1:%d", ports[0])}
	ready := fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[1])
	if err := until(ctx, "the console to be ready", func() (bool, error) { return answersOK(ctx, ready), c.ended() }); err != nil {
		err = fmt.Errorf("%w\n%s", err, c.Tail(20))
		c.Kill()
		return nil, err
	}
	return c, nil
}

// ended returns an error if the console has ended.
func (c *consoleProcess) ended() error {
	select {
	case <-c.Done():
		return errors.New("the console has ended")
	default:
		return nil
	}
}

func answersOK(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = answer.Body.Close() // it is not read
	return answer.StatusCode == http.StatusOK
}
