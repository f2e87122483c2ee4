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
	"unicode"

	"github.com/firesteel-dev/firesteel/test/bench/machine"
	"github.com/firesteel-dev/firesteel/test/bench/report"
)

// bench is a run.
type bench struct {
	*env
	*report.Report
	// count is the number of applications that make a workload; large says that a very large one is measured too.
	count int
	large bool
	// batches is the number of batches in which applications are measured. Each is a sample of what one application costs. All are of
	// one process, so reports of several are needed to tell chance from change where the machine matters.
	batches int
	// profiles is the folder for profiles of the controller and of the API server; empty for none.
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
	{partArchive, (*bench).measureArchive},
	{partCost, (*bench).measureCost},
	{partLatency, (*bench).measureLatency},
	{partNeighbours, (*bench).measureNeighbours},
	{partReplicas, (*bench).measureReplicas},
	{partHandover, (*bench).measureHandover},
	{partApache, (*bench).measureApache},
	{partWebhook, (*bench).measureWebhook},
	{partCommandLine, (*bench).measureCommandLine},
	{partConsole, (*bench).measureConsole},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	b := &bench{batches: 6, began: time.Now(), yardsticks: map[string]*yardstick{}}
	chosen := flag.String("parts", "", "the parts to run, separated by commas; all by default: "+strings.Join(names(), ", "))
	flag.IntVar(&b.count, "n", 1000, fmt.Sprintf("the number of applications, at least %d", fewest))
	flag.BoolVar(&b.large, "large", false, "measure with 10,000 live applications too")
	flag.StringVar(&b.profiles, "profiles", "", "the folder for profiles of the controller and of the API server; none by default")
	root := flag.String("root", ".", "the folder of Firesteel's source")
	out := flag.String("out", "bench.json", "the file for the report")
	show := flag.Bool("show", false, "show the reports in the files that are named, and measure nothing")
	benchmarks := flag.Bool("benchmarks", false, "show them in Go's benchmark format, for benchstat")
	flag.Parse()
	if *show || *benchmarks {
		return showAll(flag.Args(), *benchmarks)
	}
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%q is no option: quote a value that has spaces", flag.Arg(0))
	case b.count < fewest:
		return fmt.Errorf("-n=%d: %d is the smallest number of applications that can be measured", b.count, fewest)
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
	partial, err := begin(*out)
	if err != nil {
		return err
	}
	failed := b.measure(ctx, *root, wanted)
	switch {
	case b.Report == nil || len(b.Figures) == 0:
		return errors.Join(failed, os.Remove(partial))
	case failed != nil: // what was measured before is worth as much
		b.Settings[report.Failed], _, _ = strings.Cut(failed.Error(), "\n")
		return errors.Join(failed, b.Write(partial), b.Table(os.Stdout), fmt.Errorf("what was measured until then is in %s", partial))
	}
	if err := b.Write(partial); err != nil {
		return err
	}
	return errors.Join(os.Rename(partial, *out), b.Table(os.Stdout))
}

// fewest is the smallest number of applications that each part can do with.
const fewest = 10

// begin makes the file beside a report's that is to become it, so that a run that fails leaves an earlier report alone, and
// one that has nowhere to write to does not begin.
func begin(out string) (partial string, err error) {
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return "", fmt.Errorf("-out=%s: it is a folder: name a file", out)
	}
	partial = out + ".partial"
	if err := os.WriteFile(partial, nil, 0o644); err != nil {
		return "", fmt.Errorf("-out=%s: %w: name a file in a folder that is there and may be written to", out, err)
	}
	return partial, nil
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
	wanted := strings.FieldsFunc(chosen, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(wanted) == 0 {
		return names(), nil
	}
	for _, name := range wanted {
		if !slices.Contains(names(), name) {
			return nil, fmt.Errorf("there is no part %q; there are %s", name, strings.Join(names(), ", "))
		}
	}
	return wanted, nil
}

func showAll(files []string, asBenchmarks bool) error {
	if len(files) == 0 {
		return errors.New("name the reports to show, as in -show bench.json")
	}
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
	dir, err := os.MkdirTemp("", "firesteel-bench-")
	if err != nil {
		return err
	}
	b.Report = &report.Report{
		Time: b.began, Commit: machine.Commit(ctx, root), Machine: machine.Describe(),
		Settings: map[string]string{"n": fmt.Sprint(b.count), "large": fmt.Sprint(b.large)},
	}
	err = b.measureIn(ctx, root, dir, wanted)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w\nlogs are in %s", err, dir)
	}
	return errors.Join(err, os.RemoveAll(dir)) // the reason of the interrupt does not matter
}

// measureIn runs parts in an env whose files are in a folder.
func (b *bench) measureIn(ctx context.Context, root, dir string, wanted []string) (err error) {
	if b.env, err = newEnv(ctx, root, dir); err != nil {
		return err
	}
	defer b.close()
	if err := b.measureParts(ctx, wanted); err != nil {
		return err
	}
	b.logf("done")
	return nil
}

// measureParts measures parts one after the other, but for memory and growth, which need the same applications.
func (b *bench) measureParts(ctx context.Context, wanted []string) error {
	for _, p := range parts {
		if !slices.Contains(wanted, p.name) {
			continue
		}
		b.logf("%s", p.name)
		if err := p.measure(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	memory, growth := slices.Contains(wanted, partMemory), slices.Contains(wanted, partGrowth)
	if !memory && !growth {
		return nil
	}
	b.logf("%s, %s", partMemory, partGrowth)
	return b.measureLevels(ctx, memory, growth)
}

// logf prints the progress of the run.
func (b *bench) logf(format string, arguments ...any) {
	log.Printf("%6.1fs  %s", time.Since(b.began).Seconds(), fmt.Sprintf(format, arguments...))
}
