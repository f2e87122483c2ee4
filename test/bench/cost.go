package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/test/bench/usage"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

const (
	partCost = "cost"
	// cpuGoal is the CPU time that one application may cost the controller, in milliseconds.
	cpuGoal = 5
	// applicationsAtOnce is the number of applications that live at a time while the cost is measured: so few that none
	// waits for another, and so that the controller does all that it ever does for one.
	applicationsAtOnce = 8
)

// spent is what an application cost on average.
type spent struct {
	// cpu is the time that each process was busy, by its program's name.
	cpu       map[string]time.Duration
	allocated float64
	// collections are the times that garbage was collected.
	collections float64
	events      float64
	// requests are those of all processes, answers the bytes that the API server answered to them, and own the requests of the controller, where it counts them.
	requests, answers, own map[string]float64
}

// measureCost is the part that measures what the controller uses for one application.
func (b *bench) measureCost(ctx context.Context) error {
	for _, c := range []struct {
		kind
		sink string
		of   string
	}{
		{apacheKind, "", "Apache, in process"},
		{apacheKind, b.sink.url(), "Apache, HTTP sink"},
		{kubeflowKind, "", "Kubeflow, in process"},
		{kubeflowKind, b.sink.url(), "Kubeflow, HTTP sink"},
	} {
		all, err := b.costOf(ctx, c.kind, setup{sink: c.sink}, c.of)
		if err != nil {
			return err
		}
		for _, batch := range all {
			b.addCost(c.of, batch)
		}
	}
	return nil
}

func (b *bench) addCost(of string, batch spent) {
	server := milliseconds(batch.cpu["kube-apiserver"])
	b.Add(partCost, of, "CPU of the controller", "ms/application", milliseconds(batch.cpu["controller"])).Against(server).Below(cpuGoal)
	for _, program := range slices.Sorted(maps.Keys(batch.cpu)) {
		if program != "controller" {
			b.Add(partCost, of, "CPU of "+program, "ms/application", milliseconds(batch.cpu[program]))
		}
	}
	b.Add(partCost, of, "allocated", "KiB/application", batch.allocated/1024)
	b.Add(partCost, of, "events", "events/application", batch.events)
	for _, request := range slices.Sorted(maps.Keys(batch.own)) {
		b.Add(partCost, of, "controller: "+request, "requests/application", batch.own[request])
	}
	for _, request := range slices.Sorted(maps.Keys(batch.requests)) {
		b.Add(partCost, of, "all processes: "+request, "requests/application", batch.requests[request])
	}
}

func milliseconds(time time.Duration) float64 { return float64(time.Microseconds()) / 1000 }

func (b *bench) costOf(ctx context.Context, k kind, s setup, of string) ([]spent, error) {
	c, err := b.startController(ctx, s)
	if err != nil {
		return nil, err
	}
	defer c.Kill()
	defer b.profile(ctx, c, partCost+"-"+of)()
	all, err := b.spend(ctx, c, k)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, c.Tail(20))
	}
	b.logf("%s: measured in %d batches", of, len(all))
	return all, nil
}

// spend runs batches of applications, and returns the cost of one application in each.
func (b *bench) spend(ctx context.Context, c *controller, k kind) (all []spent, err error) {
	run, err := b.newCostRun(ctx, c, k)
	if err != nil {
		return nil, err
	}
	defer run.workload.close()
	for range b.batches {
		batch, err := run.batch(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, batch)
	}
	dropRare(all)
	return all, nil
}

// costRun runs applications of a controller in batches, a few at a time, and takes what they cost.
type costRun struct {
	*env
	controller *controller
	workload   *workload
	// each is the number in a batch, and begun that of all until now.
	each, begun int
}

func (b *bench) newCostRun(ctx context.Context, c *controller, k kind) (*costRun, error) {
	workload, err := b.newWorkload(ctx, k, ends, nil)
	each := max(b.count/5/b.batches, applicationsAtOnce) // fewer use less than the clock of processes can tell
	return &costRun{env: b.env, controller: c, workload: workload, each: each}, err
}

// batch runs a batch until nothing is left of it, and returns the cost of one application.
func (l *costRun) batch(ctx context.Context) (spent, error) {
	before, err := l.account(ctx, l.controller, true)
	if err != nil {
		return spent{}, err
	}
	names := namesFrom(l.begun, l.each)
	l.begun += l.each
	if err := each(ctx, names, applicationsAtOnce, l.workload.runToEnd); err != nil {
		return spent{}, err
	}
	if err := l.untilEmpty(ctx, l.workload.namespace); err != nil {
		return spent{}, err
	}
	after, err := l.account(ctx, l.controller, false)
	return after.since(before, l.each), err
}

// runToEnd runs an application from its creation until nothing is left of it.
func (c *workload) runToEnd(ctx context.Context, name string) error {
	names := []string{name}
	if err := c.create(ctx, names); err != nil {
		return err
	}
	if err := c.until(ctx, name, finished); err != nil {
		return err
	}
	if err := c.remove(ctx, names); err != nil {
		return err
	}
	return c.until(ctx, name, gone)
}

// account is what was spent until now. To ask for it costs as well: what that takes is asked for first where something
// begins, and last where it ends.
func (w *env) account(ctx context.Context, c *controller, begins bool) (a spent, err error) {
	questions := []func() error{
		func() error { return w.countRequests(ctx, c, &a) },
		func() error { a.allocated, a.collections, err = c.allocated(ctx, begins); return err },
		func() error { a.cpu, err = w.processorTimes(c); return err },
	}
	if !begins {
		slices.Reverse(questions)
	}
	for _, ask := range questions {
		if err := ask(); err != nil {
			return a, err
		}
	}
	a.events = float64(w.sink.taken.Load())
	return a, nil
}

// processorTimes are how long each program has been busy.
func (w *env) processorTimes(c *controller) (map[string]time.Duration, error) {
	return usage.CPU("controller", c.Process, w.Plane.Processes())
}

func (w *env) countRequests(ctx context.Context, c *controller, a *spent) error {
	var err error
	name := func(label func(string) string) string {
		resource := label("resource")
		if group := label("group"); group == "events.k8s.io" {
			resource += "." + group
		}
		if sub := label("subresource"); sub != "" {
			resource += "/" + sub
		}
		return verbs[label("verb")] + " " + resource
	}
	if a.requests, err = usage.Requests(ctx, w.Kube, name); err != nil {
		return err
	}
	if a.answers, err = usage.Answers(ctx, w.Kube, name); err != nil {
		return err
	}
	text, err := firesteel.Fetch(ctx, c.metrics)
	if err != nil {
		return err
	}
	a.own, err = usage.Counts(text, "firesteel_api_requests_total", func(label func(string) string) string {
		return label("firesteel_verb") + " " + label("firesteel_resource")
	})
	return err
}

// verbs are the API server's words in the words of roles. Lists and watches belong to informers, and to no application.
var verbs = map[string]string{
	"POST": "create", "PUT": "update", "PATCH": "patch", "APPLY": "patch", "DELETE": "delete", "GET": "get",
	"DELETECOLLECTION": "deletecollection", "LIST": "list", "WATCH": "watch",
}

// since returns what was spent since then for each of a number of applications.
func (s spent) since(before spent, count int) spent {
	each := func(now, then map[string]float64) map[string]float64 {
		rates := map[string]float64{}
		for name, sum := range now {
			rates[name] = (sum - then[name]) / float64(count)
		}
		return rates
	}
	cpu := map[string]time.Duration{}
	for program, busy := range s.cpu {
		cpu[program] = (busy - before.cpu[program]) / time.Duration(count)
	}
	return spent{
		cpu: cpu, allocated: (s.allocated - before.allocated) / float64(count),
		collections: (s.collections - before.collections) / float64(count), events: (s.events - before.events) / float64(count),
		requests: each(s.requests, before.requests), answers: each(s.answers, before.answers), own: each(s.own, before.own),
	}
}

// dropRare drops the requests that come less than once in ten applications: they belong to none of them, and neither are the lists and
// watches of informers.
func dropRare(batches []spent) {
	for _, of := range []func(spent) map[string]float64{
		func(s spent) map[string]float64 { return s.requests }, func(s spent) map[string]float64 { return s.own },
	} {
		total := map[string]float64{}
		for _, batch := range batches {
			for name, count := range of(batch) {
				total[name] += count
			}
		}
		for name, count := range total {
			if count/float64(len(batches)) >= 0.1 && !strings.HasPrefix(name, "watch ") && !strings.HasPrefix(name, "list ") {
				continue
			}
			for _, batch := range batches {
				delete(of(batch), name)
			}
		}
	}
}

// sum is the number of all requests, or the time of all processes.
func sum[T float64 | time.Duration](of map[string]T) (all T) {
	for _, each := range of {
		all += each
	}
	return all
}
