package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
)

const (
	partArchive = "archive"
	// enoughArchived is the share of the throughput that is left with the archive on.
	enoughArchived = 0.95
	// archiveRequests is the goal for the requests that the archive takes for an application, beside those that read logs.
	archiveRequests = 6
	// archiveDeletion is the goal for the requests of the controller that the deletion of a finished application takes.
	archiveDeletion = 0
	// archiveMemory is the goal for the memory that the handler adds to the controller, in MiB.
	archiveMemory = 60
	// allProcesses is the name of all processes among those whose CPU time is reported.
	allProcesses = "all processes"
	// listEvents is the name of the requests that list Kubernetes Events.
	listEvents = "list events"
	// logLines is the length of the log of each container.
	logLines = 200
)

// measureArchive is the part that measures what it costs to archive each application into a folder: throughput, requests and memory with the archive on,
// against those with it off. It measures with the archive off before and after, for the machine changes.
func (b *bench) measureArchive(ctx context.Context) error {
	began := time.Now()
	logs := kubelet.ServeLogs(began, func(namespace, pod, container string) []string {
		lines := make([]string, logLines)
		for i := range lines {
			lines[i] = fmt.Sprintf("INFO %s/%s/%s writes line %d of its log", namespace, pod, container, i)
		}
		return lines
	})
	defer logs.Close()
	for i := range nodes {
		if err := logs.Attach(ctx, b.Kube, fmt.Sprintf("node-%d", i)); err != nil {
			return err
		}
	}
	if err := b.permitArchive(ctx); err != nil {
		return err
	}
	before, err := b.archived(ctx, "")
	if err != nil {
		return err
	}
	folder := filepath.Join(b.dir, "archive")
	on, err := b.archived(ctx, folder)
	if err != nil {
		return err
	}
	after, err := b.archived(ctx, "")
	if err != nil {
		return err
	}
	of := "Apache, in a folder"
	for s, value := range on.times.rates(b.count) {
		figure := b.Add(partArchive, of, stageNames[s], rate, value).Against(before.times.rates(b.count)[s], after.times.rates(b.count)[s])
		if figure.Higher = true; stage(s) != gone { // it takes a few seconds at most, and no request of Firesteel: chance is all that differs
			figure.RatioAbove(enoughArchived)
		}
	}
	for _, program := range slices.Sorted(maps.Keys(on.cpu)) {
		b.Add(partArchive, of, "CPU of "+program, "ms/application", milliseconds(on.cpu[program])).
			Against(milliseconds(before.cpu[program]), milliseconds(after.cpu[program]))
	}
	b.Add(partArchive, of, "requests beside log reads", "requests/application", on.requests-after.requests).Below(archiveRequests)
	for _, request := range slices.Sorted(maps.Keys(on.own)) {
		if more := on.own[request] - after.own[request]; math.Abs(more) >= 0.05 {
			b.Add(partArchive, of, "more: "+request, "requests/application", more)
		}
	}
	b.Add(partArchive, of, "size of lists of Kubernetes Events", "KiB/application", on.eventBytes/(1<<10))
	b.Add(partArchive, of, "requests of the deletion", "requests/application", on.deletion).Against(before.deletion, after.deletion).Below(archiveDeletion)
	b.Add(partArchive, of, "resident at most", "MiB", mebibytes(on.peak)).Against(mebibytes(before.peak), mebibytes(after.peak))
	b.Add(partArchive, of, "memory added", "MiB", mebibytes(on.peak-min(before.peak, after.peak))).Below(archiveMemory)
	attempts, err := filepath.Glob(filepath.Join(folder, "*", "*", "*", "*", "*", "manifest.json"))
	if err != nil {
		return err
	}
	b.Add(partArchive, of, "archived", "of all applications", float64(len(attempts))/float64(b.count))
	return os.RemoveAll(folder)
}

func mebibytes(bytes int) float64 { return float64(bytes) / (1 << 20) }

// permitArchive gives the controller the rights of the archive's handler.
func (b *bench) permitArchive(ctx context.Context) error {
	_, err := b.Plane.Kubectl(ctx, "", "apply", "--server-side", "--force-conflicts", "--filename="+filepath.Join(b.root, "config/archive/rbac.yaml"))
	return err
}

// archiveCost is what a run cost.
type archiveCost struct {
	times stageTimes
	// requests are those of the controller for each application, without those that read logs and those of informers; deletion are those after its
	// release.
	requests, deletion float64
	// own are the requests of the controller for each application, by verb and resource.
	own map[string]float64
	// eventBytes is what the API server answered to the lists of Kubernetes Events for each application.
	eventBytes float64
	// cpu is the time that each process was busy for an application, by its program's name, and that of all processes.
	cpu map[string]time.Duration
	// peak is the largest resident memory of the controller, in bytes.
	peak int
}

// archived has a workload live with the archive in a folder; off without one.
func (b *bench) archived(ctx context.Context, folder string) (cost archiveCost, err error) {
	url, profiled := "", partArchive+"-off"
	if folder != "" {
		url, profiled = "file://"+folder, partArchive+"-on"
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return cost, err
		}
	}
	if err := b.Configure(ctx, "config-archive", map[string]string{"url": url}); err != nil {
		return cost, err
	}
	c, err := b.startController(ctx, setup{})
	if err != nil {
		return cost, err
	}
	defer c.Kill()
	workload, err := b.newWorkload(ctx, apacheKind, ends, nil)
	if err != nil {
		return cost, err
	}
	defer b.profile(ctx, c, profiled)()
	before, err := b.account(ctx, c, true)
	if err != nil {
		return cost, err
	}
	var released spent
	cost.times, err = workload.runWith(ctx, b.count, func() (err error) {
		released, err = b.account(ctx, c, false)
		return err
	})
	if err != nil {
		return cost, fmt.Errorf("%w\n%s", err, c.Tail(20))
	}
	after, err := b.account(ctx, c, false)
	if err != nil {
		return cost, err
	}
	all := after.since(before, b.count)
	cost.cpu, cost.requests, cost.deletion = all.cpu, requestsOf(all.own), requestsOf(after.since(released, b.count).own)
	cost.cpu[allProcesses] = sum(cost.cpu)
	cost.own, cost.eventBytes = all.own, all.answers[listEvents]
	cost.peak, err = c.PeakResident()
	b.logf("with the archive %q, %d applications: %s, %.1f requests each, %.2f of them for the deletion and %.2f lists of Kubernetes Events (%.0f KiB), "+
		"%s of CPU of the controller and %s of the API server, %.0f MiB at most", url, b.count, cost.times, cost.requests, cost.deletion, cost.own[listEvents],
		cost.eventBytes/(1<<10), cost.cpu["controller"], cost.cpu["kube-apiserver"], mebibytes(cost.peak))
	return cost, err
}

// requestsOf is the number of requests without those that read logs, those of informers and those for Kubernetes Events.
func requestsOf(own map[string]float64) (all float64) {
	for request, count := range own {
		if !strings.HasPrefix(request, "watch ") && !strings.Contains(request, "log") && !strings.HasPrefix(request, "create events") {
			all += count
		}
	}
	return all
}
