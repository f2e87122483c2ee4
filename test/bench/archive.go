package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	// archiveMemory is the goal for the memory that the handler adds to the controller, in MiB.
	archiveMemory = 60
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
	for s, its := range on.times.rates(b.count) {
		b.Add(partArchive, of, stageNames[s], rate, its).
			Against(before.times.rates(b.count)[s], after.times.rates(b.count)[s]).RatioAbove(enoughArchived)
	}
	b.Add(partArchive, of, "requests beside log reads", "requests/application", on.requests-after.requests).Below(archiveRequests)
	b.Add(partArchive, of, "resident at most", "MiB", mebibytes(on.peak)).Against(mebibytes(before.peak), mebibytes(after.peak))
	b.Add(partArchive, of, "memory added", "MiB", mebibytes(on.peak-min(before.peak, after.peak))).Below(archiveMemory)
	attempts, err := filepath.Glob(filepath.Join(folder, "*", "*", "*", "*", "*", "manifest.json"))
	if err != nil {
		return err
	}
	b.Add(partArchive, of, "archived", "of all applications", float64(len(attempts))/float64(b.count+1)) // and the one that is not counted
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
	// requests are those of the controller for each application, without those that read logs and those of informers.
	requests float64
	// peak is the largest resident memory of the controller, in bytes.
	peak int
}

// archived has a workload live with the archive in a folder; off without one.
func (b *bench) archived(ctx context.Context, folder string) (cost archiveCost, err error) {
	url := ""
	if folder != "" {
		url = "file://" + folder
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
	b.profile(ctx, c, partArchive+"-"+filepath.Base(folder))
	before, err := b.account(ctx, c, true)
	if err != nil {
		return cost, err
	}
	if cost.times, err = workload.run(ctx, b.count); err != nil {
		return cost, fmt.Errorf("%w\n%s", err, c.Tail(20))
	}
	after, err := b.account(ctx, c, false)
	if err != nil {
		return cost, err
	}
	for request, count := range after.since(before, b.count).own {
		if !strings.HasPrefix(request, "watch ") && !strings.Contains(request, "log") && !strings.HasPrefix(request, "create events") {
			cost.requests += count
		}
	}
	cost.peak, err = c.PeakResident()
	b.logf("with the archive %q, %d applications: %s, %.1f requests each, %.0f MiB at most", url, b.count, cost.times, cost.requests, mebibytes(cost.peak))
	return cost, err
}
