package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The stages of a workload, as they are reported.
var stageNames = [reported]string{launched: "drivers exist", finished: "released", gone: "deleted"}

const (
	partYardstick  = "yardstick"
	partThroughput = "throughput"
	// enough is the share of what the API server alone can do that Firesteel should reach.
	enough = 0.75
	rate   = "applications/s"
)

// stageTimes is how long a workload took for each stage: the first two from the first creation, the last from the first deletion.
type stageTimes [reported]time.Duration

// rates are numbers of applications in a second.
func (p stageTimes) rates(count int) (rates [reported]float64) {
	for i, took := range p {
		rates[i] = float64(count) / took.Seconds()
	}
	return rates
}

func (p stageTimes) String() string {
	text := ""
	for i, took := range p {
		text += fmt.Sprintf(", %s in %.1f s", stageNames[i], took.Seconds())
	}
	return text[2:]
}

// run has a workload live: all are created at once, and when all are finished, and the Pods are gone that go then, all are
// deleted.
func (c *workload) run(ctx context.Context, count int) (p stageTimes, err error) {
	return c.runWith(ctx, count, func() error { return nil })
}

// runWith is run with a function that is called before the deletion.
func (c *workload) runWith(ctx context.Context, count int, released func() error) (p stageTimes, err error) {
	defer c.close()
	names := namesFrom(0, count)
	begin := time.Now()
	if err := c.create(ctx, names); err != nil {
		return p, err
	}
	for _, s := range []stage{launched, finished} {
		last, err := c.untilAll(ctx, names, s)
		if err != nil {
			return p, err
		}
		p[s] = last.Sub(begin)
	}
	if !c.kind.keepsPods {
		if err := c.untilNoPods(ctx, c.namespace); err != nil { // their removal is no part of the next stage
			return p, err
		}
	}
	if err := released(); err != nil {
		return p, err
	}
	begin = time.Now()
	if err := c.remove(ctx, names); err != nil {
		return p, err
	}
	last, err := c.untilAll(ctx, names, gone)
	if err != nil {
		return p, err
	}
	p[gone] = last.Sub(begin)
	return p, c.untilEmpty(ctx, c.namespace)
}

// workerCounts are those that the yardstick is tried with, by a quarter of the applications, and fewestTried is how many of
// them say anything.
var workerCounts = []int{8, 16, 32, 64}

const fewestTried = 50

// yardstick is what the API server alone can do with the writes of one kind.
type yardstick struct {
	recorded *recording
	workers  int
	// most holds the stage times of count applications with that many workers.
	most  stageTimes
	count int
}

// yardstick records the writes for an application, and finds out how many workers make them fastest.
func (b *bench) yardstick(ctx context.Context, k kind) (*yardstick, error) {
	if known := b.yardsticks[k.name]; known != nil {
		return known, nil
	}
	b.logf("recording the writes for an application (%s)", k.name)
	recorded, err := b.record(ctx, k)
	if err != nil {
		return nil, err
	}
	y := &yardstick{recorded: recorded, count: b.count}
	tries := workerCounts[1:2]
	if b.count/4 >= fewestTried {
		tries, y.count = workerCounts, b.count/4
	}
	for _, other := range b.yardsticks {
		tries = []int{other.workers} // the writes are alike
	}
	for _, workers := range tries {
		p, err := b.runBare(ctx, k, recorded, workers, y.count)
		if err != nil {
			return nil, err
		}
		if y.workers == 0 || p[finished] < y.most[finished] {
			y.workers, y.most = workers, p
		}
	}
	b.yardsticks[k.name] = y
	return y, nil
}

func (b *bench) runBare(ctx context.Context, k kind, recorded *recording, workers, count int) (stageTimes, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workload, err := b.newBare(ctx, k, recorded, workers)
	if err != nil {
		return stageTimes{}, err
	}
	p, err := workload.run(ctx, count)
	if err != nil {
		return p, err
	}
	b.logf("the API server alone, %d of %s with %d workers: %s", count, k.name, workers, p)
	return p, nil
}

// measureYardstick is the part that says what the API server alone can do, and with which writes.
func (b *bench) measureYardstick(ctx context.Context) error {
	for _, k := range []kind{apacheKind, kubeflowKind} {
		y, err := b.yardstick(ctx, k)
		if err != nil {
			return err
		}
		for s, writes := range y.recorded.steps {
			bytes := 0
			for _, write := range writes {
				bytes += len(write.body)
			}
			b.Add(partYardstick, k.name, step(s).String()+" writes", "writes/application", float64(len(writes)))
			b.Add(partYardstick, k.name, step(s).String()+" size", "bytes/application", float64(bytes))
		}
		b.Add(partYardstick, k.name, "best workers", "workers", float64(y.workers))
		for s, value := range y.most.rates(y.count) {
			b.Add(partYardstick, k.name, stageNames[s], rate, value).Higher = true
		}
	}
	return nil
}

// measureThroughput is the part that has as many applications live at once as there are. The yardstick is measured before
// and after, for the machine changes.
func (b *bench) measureThroughput(ctx context.Context) error {
	for _, c := range []struct {
		kind
		sinks []bool
	}{{apacheKind, []bool{false, true}}, {kubeflowKind, []bool{false}}} {
		y, err := b.yardstick(ctx, c.kind)
		if err != nil {
			return err
		}
		alone, err := b.runBare(ctx, c.kind, y.recorded, y.workers, b.count)
		if err != nil {
			return err
		}
		for _, withSink := range c.sinks {
			of, s := c.name+", in process", setup{}
			if withSink {
				of, s = c.name+", HTTP sink", setup{sink: b.sink.url()}
			}
			p, written, err := b.runFiresteel(ctx, c.kind, s, of)
			if err != nil {
				return err
			}
			b.Add(partThroughput, of, "writes", "writes/application", written).Against(float64(y.recorded.writes()))
			after, err := b.runBare(ctx, c.kind, y.recorded, y.workers, b.count)
			if err != nil {
				return err
			}
			for s, value := range p.rates(b.count) {
				b.Add(partThroughput, of, stageNames[s], rate, value).
					Against(alone.rates(b.count)[s], after.rates(b.count)[s]).RatioAbove(enough)
			}
			alone = after
		}
	}
	return nil
}

// runFiresteel has a workload live with Firesteel, and says what that cost, and how much Firesteel wrote for each.
func (b *bench) runFiresteel(ctx context.Context, k kind, s setup, of string) (p stageTimes, written float64, err error) {
	c, err := b.startController(ctx, s)
	if err != nil {
		return p, 0, err
	}
	defer c.Kill()
	workload, err := b.newWorkload(ctx, k, ends, nil)
	if err != nil {
		return p, 0, err
	}
	defer b.profile(ctx, c, partThroughput+"-"+of)()
	before, err := b.account(ctx, c, true)
	if err != nil {
		return p, 0, err
	}
	if p, err = workload.run(ctx, b.count); err != nil {
		return p, 0, fmt.Errorf("%w\n%s", err, c.Tail(20))
	}
	after, err := b.account(ctx, c, false)
	if err != nil {
		return p, 0, err
	}
	each := after.since(before, b.count)
	b.logf("Firesteel, %d of %s: %s, %s of CPU each", b.count, of, p, each.cpu["controller"])
	b.Add(partThroughput, of, "CPU of the controller", "ms/application", milliseconds(each.cpu["controller"])).Below(cpuGoal)
	return p, writes(each.own), nil
}

// writes is the number of the recorded requests, without those for Kubernetes Events.
func writes(requests map[string]float64) (all float64) {
	for name, count := range requests {
		verb, resource, _ := strings.Cut(name, " ")
		if verb != "get" && verb != "list" && verb != "watch" && !strings.HasPrefix(resource, "events") {
			all += count
		}
	}
	return all
}

// profileLength is how long a profile takes.
const profileLength = 10 * time.Second

// profile has profiles made of the controller and of the API server, one after the other until stop is called, if profiles are asked for. Their files have
// numbers, so that each stage of a run can be looked at.
func (b *bench) profile(ctx context.Context, c *controller, name string) (stop func()) {
	if b.profiles == "" {
		return func() {}
	}
	ctx, stop = context.WithCancel(ctx)
	name = strings.ReplaceAll(name, ", ", "-")
	keep := func(name string, get func() ([]byte, error)) {
		for n := 1; ctx.Err() == nil; n++ {
			text, err := get()
			if err == nil {
				err = os.WriteFile(filepath.Join(b.profiles, fmt.Sprintf("%s-%03d.pprof", name, n)), text, 0o644)
			}
			if err != nil {
				if ctx.Err() == nil {
					b.logf("no profile %s: %v", name, err)
				}
				return
			}
		}
	}
	go keep(name, func() ([]byte, error) { return c.profile(ctx, profileLength) })
	go keep(name+"-kube-apiserver", func() ([]byte, error) {
		return b.Kube.CoreV1().RESTClient().Get().AbsPath("/debug/pprof/profile").Param("seconds", fmt.Sprint(profileLength.Seconds())).DoRaw(ctx)
	})
	return stop
}
