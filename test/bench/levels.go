package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

const (
	partMemory = "memory"
	partGrowth = "growth"
	// veryMany is the largest number of live applications, and veryManyGoal the memory that may be resident then, in MiB.
	veryMany     = 10_000
	veryManyGoal = 250
	// growthGoal bounds the cost of an application among many others by that among few.
	growthGoal = 1.2
	few        = 10
	// atOnce is the most applications that are started at once.
	atOnce = 1000
)

// measureLevels is both parts that need applications that are there already: how much memory they take, and what they make
// of the cost of others.
func (b *bench) measureLevels(ctx context.Context, memory, growth bool) error {
	executors, err := b.newExecutorWorkload(ctx)
	if err != nil {
		return err
	}
	defer executors.close()
	levels := []int{b.count}
	if b.large && b.count < veryMany {
		levels = append(levels, veryMany)
	}
	empty, err := b.footprint(ctx, executors.controller)
	if err != nil {
		return err
	}
	if memory {
		b.addFootprint("no applications", empty)
	}
	for _, level := range levels {
		if err := executors.grow(ctx, level); err != nil {
			return err
		}
		of := fmt.Sprintf("%d applications", level)
		now, err := b.footprint(ctx, executors.controller)
		if err != nil {
			return err
		}
		b.logf("%.0f MiB of the controller are resident", now.resident)
		if memory {
			b.addFootprint(of, now)
			b.Add(partMemory, of, "resident, each", "KiB/application", (now.resident-empty.resident)*1024/float64(level))
			b.Add(partMemory, of, "heap, each", "KiB/application", (now.heap-empty.heap)*1024/float64(level))
		}
		if growth {
			if err := b.measureGrowth(ctx, executors, of); err != nil {
				return err
			}
		}
	}
	if !memory {
		return nil
	}
	executors.controller.Kill()
	restarted, err := b.startController(ctx, setup{})
	if err != nil {
		return err
	}
	executors.controller = restarted
	again, err := b.footprint(ctx, executors.controller)
	if err == nil {
		b.addFootprint(fmt.Sprintf("%d applications, after a restart", executors.there), again)
	}
	return err
}

// measureGrowth returns what an application costs a controller that has many applications already, against one that has a few on a
// control plane of its own. Their batches take turns, so that nothing else tells one from the other: within minutes the
// speed of a machine may change by more than what is asked for.
func (b *bench) measureGrowth(ctx context.Context, many *executorWorkload, of string) error {
	aside := *b
	var err error
	if aside.env, err = b.another(ctx, fmt.Sprintf("beside-%d", many.there)); err != nil {
		return err
	}
	defer aside.close()
	fewer, err := aside.newExecutorWorkload(ctx)
	if err != nil {
		return err
	}
	defer fewer.close()
	if err := fewer.grow(ctx, few); err != nil {
		return err
	}
	var spentOf [2][]spent
	var runsOf [2]*costRun
	for i, p := range []*executorWorkload{fewer, many} {
		if runsOf[i], err = p.newCostRun(ctx, p.controller, apacheKind); err != nil {
			return err
		}
		defer runsOf[i].workload.close()
		defer b.profile(ctx, p.controller, fmt.Sprintf("%s-%d-of-%d", partGrowth, p.there, many.there))()
	}
	turns := []int{0, 1}
	for n := range 1 + b.batches {
		for _, i := range turns {
			batch, err := runsOf[i].batch(ctx)
			if err != nil {
				return fmt.Errorf("%w\n%s", err, runsOf[i].controller.Tail(20))
			}
			if n > 0 { // the first is to have both do once what is done but once
				spentOf[i] = append(spentOf[i], batch)
			}
		}
		slices.Reverse(turns)
	}
	for _, batch := range spentOf {
		dropRare(batch)
	}
	b.logf("%s: measured in %d batches", of, b.batches)
	b.addGrowth(of, spentOf[1], spentOf[0])
	return nil
}

func (b *bench) addGrowth(of string, batches, amongFew []spent) {
	for _, measured := range []struct {
		name, unit string
		of         func(spent) float64
	}{
		{"CPU of the controller", "ms/application", func(s spent) float64 { return milliseconds(s.cpu["controller"]) }},
		{"allocated", "KiB/application", func(s spent) float64 { return s.allocated / 1024 }},
		{"requests of all processes", "requests/application", func(s spent) float64 { return sum(s.requests) }},
	} {
		b.Add(partGrowth, of, measured.name, measured.unit, samples(batches, measured.of)...).
			Against(samples(amongFew, measured.of)...).RatioBelow(growthGoal)
	}
	b.Add(partGrowth, of, "collections of garbage", collectionsUnit, collections(batches)).Against(collections(amongFew))
}

const collectionsUnit = "collections/1000 applications"

// collections returns how often garbage is collected per thousand applications. It is of all batches: one may have none.
func collections(batches []spent) (all float64) {
	for _, batch := range batches {
		all += batch.collections
	}
	return 1000 * all / float64(len(batches))
}

// samples are what is asked of each batch.
func samples(batches []spent, of func(spent) float64) (all []float64) {
	for _, batch := range batches {
		all = append(all, of(batch))
	}
	return all
}

// footprint is the memory of a controller, in MiB.
type footprint struct{ resident, heap float64 }

func (b *bench) footprint(ctx context.Context, c *controller) (used footprint, err error) {
	resident, err := c.Resident() // before the collection that the request below causes
	if err != nil {
		return used, err
	}
	used.resident = float64(resident) / (1 << 20)
	memory, err := c.memory(ctx, true)
	used.heap = memory["HeapAlloc"] / (1 << 20)
	return used, err
}

func (b *bench) addFootprint(of string, used footprint) {
	resident := b.Add(partMemory, of, "resident", "MiB", used.resident)
	if of == fmt.Sprintf("%d applications", veryMany) {
		resident.Below(veryManyGoal)
	}
	b.Add(partMemory, of, "heap", "MiB", used.heap)
}

// runningExecutors counts the executors of a workload that run, from now on until the context ends. One that stops stays counted.
func (c *workload) runningExecutors(ctx context.Context) (*atomic.Int64, error) {
	var count atomic.Int64
	informer := c.pods(c.namespace, metav1.ListOptions{LabelSelector: "spark-role=executor", FieldSelector: "status.phase=Running"})
	if err := informer.SetTransform(withoutContent); err != nil {
		return nil, err
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { count.Add(1) }})
	go informer.RunWithContext(ctx)
	return &count, err
}

// withoutContent leaves of a Pod what tells it from others.
func withoutContent(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
		}}, nil
	}
	return object, nil
}

// executorWorkload is a controller's workload that runs on, with executors.
type executorWorkload struct {
	*bench
	controller *controller
	workload   *workload
	// executors counts those that run, and there the applications.
	executors *atomic.Int64
	there     int
	// stop ends the watch of executors.
	stop context.CancelFunc
}

// newExecutorWorkload creates applications without a controller.
func (b *bench) newExecutorWorkload(ctx context.Context) (*executorWorkload, error) {
	c, err := b.startController(ctx, setup{})
	if err != nil {
		return nil, err
	}
	p := &executorWorkload{bench: b, controller: c}
	ctx, p.stop = context.WithCancel(ctx)
	if p.workload, err = b.newWorkload(ctx, apacheKind, runs, nil); err == nil {
		p.executors, err = p.workload.runningExecutors(ctx)
	}
	if err != nil {
		p.stop()
		c.Kill()
	}
	return p, err
}

// close ends the controller and the watches of the workload.
func (p *executorWorkload) close() {
	p.workload.close()
	p.stop()
	p.controller.Kill()
}

// grow has the workload grow to a number of applications, and waits until all run, and their executors. It grows by steps: the
// API server keeps each change of the last minute or so in memory.
func (p *executorWorkload) grow(ctx context.Context, to int) error {
	for p.there < to {
		more := namesFrom(p.there, min(to-p.there, atOnce))
		if err := p.workload.create(ctx, more); err != nil {
			return err
		}
		if _, err := p.workload.untilAll(ctx, more, running); err != nil {
			return fmt.Errorf("%w\n%s", err, p.controller.Tail(20))
		}
		p.there += len(more)
		err := until(ctx, fmt.Sprintf("the executors of %d applications to run", p.there), func() (bool, error) {
			select {
			case <-p.workload.broken:
				return false, p.workload.failed
			default:
				return p.executors.Load() >= int64(executorsEach*p.there), nil
			}
		})
		if err != nil {
			return err
		}
		p.logf("%d of %d applications run", p.there, to)
	}
	return nil
}
