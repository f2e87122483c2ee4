package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/bench/report"
)

const (
	partLatency = "latency"
	// What an answer may take where nothing else is to be done, in milliseconds.
	launchGoal, launchGoalP99 = 15, 50
	eventGoal                 = 50
)

// latencies are of a number of applications, one after the other.
type latencies struct {
	// launch is from the call that creates an application to the news of its driver Pod, status from the call that changes
	// a driver's phase to the news of the status that tells of it, and event to the arrival of its event.
	launch, status, event []time.Duration
}

// measureLatency is the part that has one application live at a time.
func (b *bench) measureLatency(ctx context.Context) error {
	for _, k := range []kind{apacheKind, kubeflowKind} {
		raw, err := b.rawLatencies(ctx, k)
		if err != nil {
			return err
		}
		measured, err := b.latenciesOf(ctx, k)
		if err != nil {
			return err
		}
		p50, p90, p99 := b.AddTimes(partLatency, k.name, "application created to driver Pod", measured.launch)
		against(raw.launch, p50, p90, p99)
		p50.Below(launchGoal)
		p99.Below(launchGoalP99)
		p50, p90, p99 = b.AddTimes(partLatency, k.name, "driver's phase to status", measured.status)
		against(raw.status, p50, p90, p99)
		p50, _, _ = b.AddTimes(partLatency, k.name, "driver's phase to event", measured.event)
		p50.Below(eventGoal)
		b.logf("%s: %d launches measured", k.name, len(measured.launch))
	}
	return nil
}

// timedApplications is the number of applications that are timed, one after the other.
func (b *bench) timedApplications() int { return max(b.count*3/10, 1) }

// rawLatencies are what the API server alone needs for the same writes.
func (b *bench) rawLatencies(ctx context.Context, k kind) (latencies, error) {
	y, err := b.yardstick(ctx, k)
	if err != nil {
		return latencies{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workload, err := b.newBare(ctx, k, y.recorded, 1)
	if err != nil {
		return latencies{}, err
	}
	return b.latencies(ctx, workload, b.timedApplications()/3+1)
}

func (b *bench) latenciesOf(ctx context.Context, k kind) (latencies, error) {
	c, err := b.startController(ctx, setup{sink: b.sink.url()})
	if err != nil {
		return latencies{}, err
	}
	defer c.Kill()
	workload, err := b.newWorkload(ctx, k, held, nil)
	if err != nil {
		return latencies{}, err
	}
	measured, err := b.latencies(ctx, workload, b.timedApplications())
	if err != nil {
		return measured, fmt.Errorf("%w\n%s", err, c.Tail(20))
	}
	return measured, nil
}

// latencies measures applications of a workload, one after the other, whose drivers are held and make no executors.
func (b *bench) latencies(ctx context.Context, workload *workload, count int) (all latencies, err error) {
	defer workload.close()
	workload.plan, workload.executors = held, 0
	for _, name := range namesFrom(0, count) {
		if err := b.latenciesOfOne(ctx, workload, name, &all); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (b *bench) latenciesOfOne(ctx context.Context, workload *workload, name string, all *latencies) error {
	names := []string{name}
	requested := workload.await(name, lifecycle.DriverRequested)
	begin := time.Now()
	if err := workload.create(ctx, names); err != nil {
		return err
	}
	at, err := workload.untilAll(ctx, names, launched)
	if err != nil {
		return err
	}
	all.launch = append(all.launch, at.Sub(begin))
	if _, err := receive(ctx, "the status of the launch", requested); err != nil {
		return err
	}
	driver, err := workload.boundDriver(ctx, name)
	if err != nil {
		return err
	}
	for _, change := range []struct {
		phase corev1.PodPhase
		state lifecycle.State
	}{{corev1.PodRunning, lifecycle.DriverStarted}, {corev1.PodSucceeded, lifecycle.Succeeded}} {
		shown := workload.await(name, change.state)
		heard := b.sink.await(name, string(change.state))
		begin := time.Now()
		if err := workload.setPhase(ctx, driver, change.phase); err != nil {
			return err
		}
		if at, err = receive(ctx, "the status of "+name, shown); err != nil {
			return err
		}
		all.status = append(all.status, at.Sub(begin))
		if workload.operator != nil {
			continue
		}
		if at, err = receive(ctx, "the event of "+name, heard); err != nil {
			return err
		}
		all.event = append(all.event, at.Sub(begin))
	}
	if _, err := workload.untilAll(ctx, names, finished); err != nil {
		return err
	}
	if err := workload.remove(ctx, names); err != nil {
		return err
	}
	if _, err := workload.untilAll(ctx, names, gone); err != nil {
		return err
	}
	return b.untilEmpty(ctx, workload.namespace)
}

// boundDriver is the driver of an application once it is on a node.
func (c *workload) boundDriver(ctx context.Context, name string) (driver *corev1.Pod, err error) {
	return driver, until(ctx, "the driver of "+name+" to be on a node", func() (bool, error) {
		driver, err = c.driver(ctx, name)
		return err == nil && driver.Spec.NodeName != "", err
	})
}

// against sets the same quantiles of what the API server alone takes.
func against(raw []time.Duration, p50, p90, p99 *report.Figure) {
	samples := report.Milliseconds(raw)
	p50.Against(samples...)
	p90.Against(report.Quantile(samples, 0.9))
	p99.Against(report.Quantile(samples, 0.99))
}
