// Bench measures Firesteel against a real API server and etcd, with nodes that are simulated. What it measures it holds
// against what the API server alone can do in the same minutes, on the same machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/firesteel-dev/firesteel/test/bench/report"
)

// bench is a run.
type bench struct {
	*world
	*report.Report
	// count is the number of applications that make a crowd; large says that a very large one is measured too.
	count int
	large bool
	// profiles is the folder for profiles of the controller; empty for none.
	profiles string

	began      time.Time
	yardsticks map[string]*yardstick
}

// part is one of the parts.
type part struct {
	name    string
	measure func(*bench, context.Context) error
}

// parts are those that leave nothing behind, in the order in which they run.
var parts = []part{
	{partYardstick, (*bench).measureYardstick},
	{partThroughput, (*bench).measureThroughput},
	{partCost, (*bench).measureCost},
	{partLatency, (*bench).measureLatency},
	{partReplicas, (*bench).measureReplicas},
	{partApache, (*bench).measureApache},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	b := &bench{began: time.Now(), yardsticks: map[string]*yardstick{}}
	chosen := flag.String("parts", "", "the parts to run, separated by commas; all by default: "+strings.Join(names(), ", "))
	flag.IntVar(&b.count, "n", 1000, "the number of applications")
	flag.BoolVar(&b.large, "large", false, "measure with 10,000 live applications too")
	flag.StringVar(&b.profiles, "profiles", "", "the folder for profiles of the controller; none by default")
	root := flag.String("root", ".", "the folder of Firesteel's source")
	out := flag.String("out", "bench.json", "the file for the report")
	show := flag.Bool("show", false, "show the reports in the files that are named, and measure nothing")
	benchmarks := flag.Bool("benchmarks", false, "show them in Go's benchmark format, for benchstat")
	flag.Parse()
	if *show || *benchmarks {
		return showAll(flag.Args(), *benchmarks)
	}
	wanted, err := find(*chosen)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if b.profiles != "" {
		if err := os.MkdirAll(b.profiles, 0o755); err != nil {
			return err
		}
	}
	err = b.measure(ctx, *root, wanted)
	if b.Report == nil || len(b.Figures) == 0 {
		return err
	}
	if err != nil { // what was measured before is worth as much
		b.Settings["failed"] = err.Error()
	}
	return errors.Join(err, b.Write(*out), b.Table(os.Stdout))
}

// names are those of all parts.
func names() []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return append(names, partMemory, partGrowth)
}

// find finds parts by their names.
func find(chosen string) ([]string, error) {
	if chosen == "" {
		return names(), nil
	}
	wanted := strings.Split(chosen, ",")
	for _, name := range wanted {
		if !slices.Contains(names(), name) {
			return nil, fmt.Errorf("there is no part %q; there are %s", name, strings.Join(names(), ", "))
		}
	}
	return wanted, nil
}

func showAll(files []string, asBenchmarks bool) error {
	for _, file := range files {
		r, err := report.Read(file)
		if err != nil {
			return err
		}
		write := r.Table
		if asBenchmarks {
			write = r.Benchmarks
		}
		if err := write(os.Stdout); err != nil {
			return err
		}
	}
	return nil
}

// measure runs parts.
func (b *bench) measure(ctx context.Context, root string, wanted []string) error {
	if os.Getenv(assets) == "" {
		return fmt.Errorf("%s names no folder with etcd, kube-apiserver and kwok: run make bench, which builds them", assets)
	}
	dir, err := os.MkdirTemp("", "firesteel-bench-")
	if err != nil {
		return err
	}
	b.Report = &report.Report{
		Time: b.began, Commit: commit(ctx, root), Machine: thisMachine(),
		Settings: map[string]string{"n": fmt.Sprint(b.count), "large": fmt.Sprint(b.large)},
	}
	if b.world, err = newWorld(ctx, root, dir); err != nil {
		return fmt.Errorf("%w\nlogs are in %s", err, dir)
	}
	defer b.close()
	if err := b.measureParts(ctx, wanted); err != nil {
		return fmt.Errorf("%w\nlogs are in %s", err, dir)
	}
	b.say("done")
	return os.RemoveAll(dir)
}

// measureParts measures parts one after the other, but for memory and growth, which need the same applications.
func (b *bench) measureParts(ctx context.Context, wanted []string) error {
	for _, p := range parts {
		if !slices.Contains(wanted, p.name) {
			continue
		}
		b.say("%s", p.name)
		if err := p.measure(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	memory, growth := slices.Contains(wanted, partMemory), slices.Contains(wanted, partGrowth)
	if !memory && !growth {
		return nil
	}
	b.say("%s, %s", partMemory, partGrowth)
	return b.measureLevels(ctx, memory, growth)
}

// say tells how far the run is.
func (b *bench) say(format string, arguments ...any) {
	log.Printf("%6.1fs  %s", time.Since(b.began).Seconds(), fmt.Sprintf(format, arguments...))
}
