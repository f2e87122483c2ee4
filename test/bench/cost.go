package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	partCost = "cost"
	// cpuGoal is what one life may cost the controller, in milliseconds.
	cpuGoal = 5
	// livesAtOnce is the number of applications that live at a time where the cost of a life is measured: so few that no
	// life waits for another, and so that the controller does all that it ever does for one.
	livesAtOnce = 8
)

// spent is what a life cost, at the mean.
type spent struct {
	// cpu is the time that each process was busy, by its program's name.
	cpu       map[string]time.Duration
	allocated float64
	events    float64
	// requests are those of everybody, and own those of the controller, where it counts them.
	requests, own map[string]float64
}

// measureCost is the part that says what the controller uses for one life.
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
		its, err := b.costOf(ctx, c.kind, setup{sink: c.sink, counting: true}, c.of)
		if err != nil {
			return err
		}
		cpu := its.cpu["controller"]
		b.say("%s: %s of CPU and %.0f KiB each", c.of, cpu, its.allocated/1024)
		b.Add(partCost, c.of, "CPU of the controller", "ms/application", float64(cpu.Microseconds())/1000).Below(cpuGoal)
		for _, program := range slices.Sorted(maps.Keys(its.cpu)) {
			if program != "controller" {
				b.Add(partCost, c.of, "CPU of "+program, "ms/application", float64(its.cpu[program].Microseconds())/1000)
			}
		}
		b.Add(partCost, c.of, "allocated", "KiB/application", its.allocated/1024)
		b.Add(partCost, c.of, "events", "events/application", its.events)
		for _, request := range slices.Sorted(maps.Keys(its.own)) {
			b.Add(partCost, c.of, "controller: "+request, "requests/application", its.own[request])
		}
		for _, request := range slices.Sorted(maps.Keys(its.requests)) {
			b.Add(partCost, c.of, "everybody: "+request, "requests/application", its.requests[request])
		}
	}
	return nil
}

func (b *bench) costOf(ctx context.Context, k kind, s setup, of string) (spent, error) {
	c, err := b.startController(ctx, s)
	if err != nil {
		return spent{}, err
	}
	defer c.Kill()
	b.profile(ctx, c, partCost+"-"+of)
	its, err := b.spend(ctx, c, k, b.lives())
	if err != nil {
		return spent{}, fmt.Errorf("%w\n%s", err, c.Tail(20))
	}
	return its, nil
}

// lives is the number of lives whose cost is measured.
func (b *bench) lives() int { return max(b.count*3/10, 1) }

// spend has applications live, a few at a time, and says what a life cost.
func (b *bench) spend(ctx context.Context, c *controller, k kind, count int) (spent, error) {
	crowd, err := b.newCrowd(ctx, k, ends, nil)
	if err != nil {
		return spent{}, err
	}
	defer crowd.close()
	before, err := b.account(ctx, c)
	if err != nil {
		return spent{}, err
	}
	err = each(ctx, namesFrom(0, count), livesAtOnce, func(ctx context.Context, name string) error {
		names := []string{name}
		if err := crowd.create(ctx, names); err != nil {
			return err
		}
		if _, err := crowd.untilAll(ctx, names, finished); err != nil {
			return err
		}
		if err := crowd.remove(ctx, names); err != nil {
			return err
		}
		_, err := crowd.untilAll(ctx, names, gone)
		return err
	})
	if err != nil {
		return spent{}, err
	}
	if err := b.untilEmpty(ctx, crowd.namespace); err != nil {
		return spent{}, err
	}
	after, err := b.account(ctx, c)
	return after.since(before, count), err
}

// account is what was spent until now.
func (b *bench) account(ctx context.Context, c *controller) (a spent, err error) {
	now, err := c.usage(ctx)
	if err != nil {
		return a, err
	}
	a = spent{cpu: map[string]time.Duration{"controller": now.cpu}, allocated: now.allocated, events: float64(b.sink.taken.Load())}
	for program, pid := range b.plane.Pids() {
		if a.cpu[program], err = cpuOf(pid); err != nil {
			return a, err
		}
	}
	page, err := b.kube.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return a, fmt.Errorf("metrics of the API server: %w", err)
	}
	if a.requests, err = counts(page, "apiserver_request_total", func(label func(string) string) string {
		resource := label("resource")
		if group := label("group"); group == "events.k8s.io" {
			resource += "." + group
		}
		if sub := label("subresource"); sub != "" {
			resource += "/" + sub
		}
		return verbs[label("verb")] + " " + resource
	}); err != nil || !c.counting {
		return a, err
	}
	text, err := fetch(ctx, c.metrics)
	if err != nil {
		return a, err
	}
	a.own, err = counts([]byte(text), "firesteel_api_requests_total", func(label func(string) string) string {
		return label("firesteel_verb") + " " + label("firesteel_resource")
	})
	return a, err
}

// verbs are the API server's words in the words of roles. Lists and watches are of informers, and are no life's.
var verbs = map[string]string{
	"POST": "create", "PUT": "update", "PATCH": "patch", "APPLY": "patch", "DELETE": "delete", "GET": "get",
	"DELETECOLLECTION": "deletecollection", "LIST": "list", "WATCH": "watch",
}

// counts are the sums of a counter by what name makes of its labels.
func counts(page []byte, counter string, name func(label func(string) string) string) (map[string]float64, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(page))
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	sums := map[string]float64{}
	for _, metric := range families[counter].GetMetric() {
		sums[name(func(label string) string { return labelOf(metric, label) })] += metric.GetCounter().GetValue()
	}
	return sums, nil
}

func labelOf(metric *dto.Metric, name string) string {
	for _, pair := range metric.GetLabel() {
		if pair.GetName() == name {
			return pair.GetValue()
		}
	}
	return ""
}

// since is what was spent since then for each of a number of lives. What comes less than once in ten lives is none of
// theirs.
func (s spent) since(before spent, count int) spent {
	each := func(now, then map[string]float64) map[string]float64 {
		its := map[string]float64{}
		for name, sum := range now {
			share := (sum - then[name]) / float64(count)
			if share >= 0.1 && !strings.HasPrefix(name, "watch ") && !strings.HasPrefix(name, "list ") {
				its[name] = share
			}
		}
		return its
	}
	cpu := map[string]time.Duration{}
	for program, busy := range s.cpu {
		cpu[program] = (busy - before.cpu[program]) / time.Duration(count)
	}
	return spent{
		cpu: cpu, allocated: (s.allocated - before.allocated) / float64(count), events: (s.events - before.events) / float64(count),
		requests: each(s.requests, before.requests), own: each(s.own, before.own),
	}
}

// sum is the number of all requests.
func sum(requests map[string]float64) (all float64) {
	for _, count := range requests {
		all += count
	}
	return all
}
