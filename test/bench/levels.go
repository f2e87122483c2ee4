package main

import (
	"context"
	"fmt"
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
	// growthGoal bounds the cost of a life among many others by that among few.
	growthGoal = 1.2
	few        = 10
	// atOnce is the most applications that are started at once.
	atOnce = 1000
)

// measureLevels is both parts that need applications that are there already: how much memory they take, and what they make
// of the cost of others.
func (b *bench) measureLevels(ctx context.Context, memory, growth bool) error {
	c, err := b.startController(ctx, setup{})
	if err != nil {
		return err
	}
	defer func() { c.Kill() }()
	crowd, err := b.newCrowd(ctx, apacheKind, runs, nil)
	if err != nil {
		return err
	}
	defer crowd.close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	executors, err := crowd.runningExecutors(ctx)
	if err != nil {
		return err
	}
	levels := []int{few, b.count}
	if b.large {
		levels = append(levels, veryMany)
	}
	empty, err := b.footprint(ctx, c)
	if err != nil {
		return err
	}
	if memory {
		b.addFootprint("no applications", empty)
	}
	there := 0
	var first []spent
	for _, level := range levels {
		if err := b.populate(ctx, crowd, executors, there, level); err != nil {
			return fmt.Errorf("%w\n%s", err, c.Tail(20))
		}
		there = level
		of := fmt.Sprintf("%d applications", level)
		now, err := b.footprint(ctx, c)
		if err != nil {
			return err
		}
		b.say("%.0f MiB of the controller are resident", now.resident)
		if memory && level > few {
			b.addFootprint(of, now)
			b.Add(partMemory, of, "resident, each", "KiB/application", (now.resident-empty.resident)*1024/float64(level))
			b.Add(partMemory, of, "heap, each", "KiB/application", (now.heap-empty.heap)*1024/float64(level))
		}
		if !growth {
			continue
		}
		b.profile(ctx, c, fmt.Sprintf("%s-%d", partGrowth, level))
		its, err := b.spend(ctx, c, apacheKind)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, c.Tail(20))
		}
		b.addGrowth(of, its, first)
		if level == few {
			first = its
		}
	}
	if !memory {
		return nil
	}
	c.Kill()
	if c, err = b.startController(ctx, setup{}); err != nil {
		return err
	}
	again, err := b.footprint(ctx, c)
	if err == nil {
		b.addFootprint(fmt.Sprintf("%d applications, after a restart", there), again)
	}
	return err
}

func (b *bench) addGrowth(of string, its, first []spent) {
	for _, measured := range []struct {
		name, unit string
		of         func(spent) float64
	}{
		{"CPU of the controller", "ms/application", func(s spent) float64 { return milliseconds(s.cpu["controller"]) }},
		{"CPU of the controller, of the API server's", "%", func(s spent) float64 {
			return 100 * s.cpu["controller"].Seconds() / max(s.cpu["kube-apiserver"].Seconds(), tick.Seconds())
		}},
		{"allocated", "KiB/application", func(s spent) float64 { return s.allocated / 1024 }},
		{"requests of everybody", "requests/application", func(s spent) float64 { return sum(s.requests) }},
	} {
		figure := b.Add(partGrowth, of, measured.name, measured.unit, samples(its, measured.of)...)
		if first != nil {
			figure.Against(samples(first, measured.of)...).RatioBelow(growthGoal)
		}
	}
	var collections float64 // all in one: a batch may have none
	for _, each := range its {
		collections += each.collections
	}
	b.Add(partGrowth, of, "collections of garbage", "collections/1000 applications", 1000*collections/float64(len(its)))
}

// samples are what is asked of each batch.
func samples(batches []spent, of func(spent) float64) (all []float64) {
	for _, its := range batches {
		all = append(all, of(its))
	}
	return all
}

// footprint is the memory of a controller, in MiB.
type footprint struct{ resident, heap float64 }

func (b *bench) footprint(ctx context.Context, c *controller) (its footprint, err error) {
	if its.resident, err = residentOf(c.Pid()); err != nil { // before the collection that comes with the question below
		return its, err
	}
	memory, err := c.memory(ctx, true)
	its.heap = memory["HeapAlloc"] / (1 << 20)
	return its, err
}

func (b *bench) addFootprint(of string, its footprint) {
	resident := b.Add(partMemory, of, "resident", "MiB", its.resident)
	if of == fmt.Sprintf("%d applications", veryMany) {
		resident.Below(veryManyGoal)
	}
	b.Add(partMemory, of, "heap", "MiB", its.heap)
}

// runningExecutors counts the executors of a crowd that run, from now on until the context ends. One that stops stays counted.
func (c *crowd) runningExecutors(ctx context.Context) (*atomic.Int64, error) {
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

// populate has a crowd grow from one number of applications to another, and waits until all run, and their executors. It
// grows by steps: the API server keeps each change of the last minute or so in memory.
func (b *bench) populate(ctx context.Context, c *crowd, executors *atomic.Int64, from, to int) error {
	for there := from; there < to; {
		more := namesFrom(there, min(to-there, atOnce))
		if err := c.create(ctx, more); err != nil {
			return err
		}
		if _, err := c.untilAll(ctx, more, running); err != nil {
			return err
		}
		there += len(more)
		err := until(ctx, fmt.Sprintf("the executors of %d applications to run", there), func() (bool, error) {
			select {
			case <-c.broken:
				return false, c.failed
			default:
				return executors.Load() >= int64(executorsEach*there), nil
			}
		})
		if err != nil {
			return err
		}
		b.say("%d of %d applications run", there, to)
	}
	return nil
}
