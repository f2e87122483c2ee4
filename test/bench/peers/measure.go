package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firesteel-dev/firesteel/test/bench/peers/result"
	"github.com/firesteel-dev/firesteel/test/bench/report"
	"github.com/firesteel-dev/firesteel/test/bench/usage"
	"github.com/firesteel-dev/firesteel/test/harness/pause"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

const (
	// warmUp is the number of applications before anything is measured: a JVM compiles what it runs often.
	warmUp = 100
	// warmUpLimit bounds the wait for their drivers, which includes the operator's start, and stragglerLimit for their release.
	warmUpLimit    = 10 * time.Minute
	stragglerLimit = 30 * time.Second
	// burstLimit bounds each stage of the applications that are created at once, and restLimit one that is created alone.
	burstLimit = 15 * time.Minute
	restLimit  = time.Minute
	// spacing is the time between two applications that are created one at a time.
	spacing = 500 * time.Millisecond
	// calm is how long nothing happens before a measurement begins.
	calm = 3 * time.Second
)

var errTooSlow = errors.New("too slow")

// run is an operator that is being measured.
type run struct {
	*env
	*load
	process *process.Process
	// profileURL is the operator's.
	profileURL string
	say        func(format string, arguments ...any)
}

// measure measures an operator on a control plane that is started for it in a folder.
func (c *comparison) measure(ctx context.Context, o *operator, dir string) (result.Figures, error) {
	var figures result.Figures
	w, err := newEnv(ctx, c.root, dir, o.manifests, o.largeCRDs)
	if err != nil {
		return figures, err
	}
	defer w.close()
	l, err := newLoad(ctx, w)
	if err != nil {
		return figures, err
	}
	defer l.stop()
	started, err := o.start(ctx, w)
	if err != nil {
		return figures, err
	}
	defer started.Kill()
	r := &run{env: w, load: l, process: started, profileURL: o.profileURL, say: c.logf}
	profiler, err := c.profiler(ctx, o, r)
	if err != nil {
		return figures, err
	}
	for _, step := range []func() error{
		func() error { return r.warmUp(ctx) },
		func() error { return r.burst(ctx, c.applications, profiler, &figures) },
		func() error { return r.rest(ctx, c.atRest(), &figures) },
		func() error { return r.memory(&figures) },
	} {
		if err := step(); err != nil {
			return figures, fmt.Errorf("%s: %w\n%s", o.name, err, started.Tail(20))
		}
	}
	return figures, nil
}

// warmUp has applications run that are not measured. Some releases may take minutes, so it deletes what is late.
func (r *run) warmUp(ctx context.Context) error {
	b := r.begin("warm-up", warmUp)
	if err := r.create(ctx, b.names); err != nil {
		return err
	}
	if err := b.await(ctx, r.process.Done(), driverCreated, warmUp, warmUpLimit); err != nil {
		return err
	}
	if err := b.await(ctx, r.process.Done(), released, warmUp, stragglerLimit); err != nil && !errors.Is(err, errTooSlow) {
		return err
	}
	if err := r.remove(ctx, b); err != nil {
		return err
	}
	r.say("  warmed up with %d applications", warmUp)
	return pause.For(ctx, calm)
}

// burst creates applications as fast as it can and deletes them all when they are released.
func (r *run) burst(ctx context.Context, count int, profiler *profiler, figures *result.Figures) error {
	before, err := r.cpuTimes()
	if err != nil {
		return err
	}
	b := r.begin("burst", count)
	if err := profiler.begin(ctx); err != nil {
		return err
	}
	begin := time.Now()
	if err := r.create(ctx, b.names); err != nil {
		return err
	}
	if err := b.await(ctx, r.process.Done(), driverCreated, count, burstLimit); err != nil {
		return err
	}
	figures.Drivers = b.after(begin, driverCreated, count).Seconds()
	r.say("  %d drivers after %.1f s", count, figures.Drivers)
	if err := profiler.stage(ctx, "until all drivers are created", count); err != nil {
		return err
	}
	if err := b.await(ctx, r.process.Done(), released, count, burstLimit); err != nil {
		return err
	}
	quarters := result.ThreeQuarters(count)
	figures.ThreeQuarters = b.after(begin, released, quarters).Seconds()
	figures.Released = b.after(begin, released, count).Seconds()
	r.say("  %d released after %.1f s, all after %.1f s", quarters, figures.ThreeQuarters, figures.Released)
	if err := r.untilNoPods(ctx); err != nil { // their deletion is not part of the next step
		return err
	}
	if err := profiler.stage(ctx, "until all are released", count); err != nil {
		return err
	}
	begin = time.Now()
	if err := r.remove(ctx, b); err != nil {
		return err
	}
	figures.Deleted = b.after(begin, deleted, count).Seconds()
	if err := profiler.stage(ctx, "until all are deleted", count); err != nil {
		return err
	}
	after, err := r.cpuTimes()
	if err != nil {
		return err
	}
	each := func(spent time.Duration) float64 { return milliseconds(spent) / float64(count) }
	figures.OperatorCPU = each(after[theOperator] - before[theOperator])
	for name := range after {
		figures.AllCPU += each(after[name] - before[name])
	}
	r.say("  deleted in %.1f s; CPU time for each: %.1f ms of the operator, %.0f ms of all processes",
		figures.Deleted, figures.OperatorCPU, figures.AllCPU)
	return pause.For(ctx, calm)
}

// remove deletes all applications of a batch, and waits until they and their Pods are gone.
func (r *run) remove(ctx context.Context, b *batch) error {
	if err := r.deleteAll(ctx); err != nil {
		return err
	}
	if err := b.await(ctx, r.process.Done(), deleted, len(b.names), burstLimit); err != nil {
		return err
	}
	return r.untilNoPods(ctx)
}

// rest creates applications one at a time, each when the driver of the one before is there.
func (r *run) rest(ctx context.Context, count int, figures *result.Figures) error {
	b := r.begin("rest", count)
	var took []time.Duration
	for i, name := range b.names {
		begin := time.Now()
		if err := r.create(ctx, []string{name}); err != nil {
			return err
		}
		if err := b.await(ctx, r.process.Done(), driverCreated, i+1, restLimit); err != nil {
			return err
		}
		took = append(took, b.atStage(name, driverCreated).Sub(begin))
		if err := pause.For(ctx, spacing); err != nil {
			return err
		}
	}
	samples := report.Milliseconds(took)
	figures.AtRestP50, figures.AtRestP99 = report.Quantile(samples, 0.5), report.Quantile(samples, 0.99)
	r.say("  one at a time, to the driver Pod: p50 %.1f ms, p99 %.1f ms", figures.AtRestP50, figures.AtRestP99)
	return nil
}

func (r *run) memory(figures *result.Figures) error {
	peak, err := r.process.PeakResident()
	figures.Memory = float64(peak) / (1 << 20)
	return err
}

// theOperator is the name of the operator's process among those of [run.cpuTimes].
const theOperator = "the operator"

// cpuTimes returns the CPU time that each process has used, by its name.
func (r *run) cpuTimes() (map[string]time.Duration, error) {
	return usage.CPU(theOperator, r.process, r.Plane.Processes())
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
