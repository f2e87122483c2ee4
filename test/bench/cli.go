package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

const (
	partCommandLine = "command-line"
	// What one command may take as a process, at the median, and its initialisation, in milliseconds; and a folder of manifests.
	commandGoal, initialisationGoal, folderGoal = 50, 15, 2000
	// commandRuns is how often each command is run.
	commandRuns = 50
)

// measureCommandLine is the part that runs kubectl spark as users do: a process for each command.
func (b *bench) measureCommandLine(ctx context.Context) error {
	if err := firesteel.Build(ctx, b.root, b.dir, "cmd/kubectl-spark"); err != nil {
		return err
	}
	program := filepath.Join(b.dir, "kubectl-spark")
	if err := b.measureInitialisation(ctx, program); err != nil {
		return err
	}
	manifest := filepath.Join(b.root, "examples/pi.yaml")
	for _, verb := range []string{"plan", "lint"} {
		var times []time.Duration
		for range commandRuns {
			took, err := timed(ctx, program, verb, "-f", manifest)
			if err != nil {
				return err
			}
			times = append(times, took)
		}
		p50, _, _ := b.AddTimes(partCommandLine, "one manifest", verb, times)
		p50.Below(commandGoal)
	}
	if err := b.measureFolder(ctx, program, manifest); err != nil {
		return err
	}
	if err := b.measureList(ctx, program); err != nil {
		return err
	}
	return b.measureSubmission(ctx, program)
}

// measureInitialisation adds up what Go reports of the packages' initialisation.
func (b *bench) measureInitialisation(ctx context.Context, program string) error {
	figure := b.Add(partCommandLine, "kubectl spark version", "initialisation", "ms")
	for range commandRuns {
		command := exec.CommandContext(ctx, program, "version")
		command.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		var trace bytes.Buffer
		command.Stderr = &trace
		if err := command.Run(); err != nil {
			return err
		}
		took, err := initialisation(trace.String())
		if err != nil {
			return err
		}
		figure.Samples = append(figure.Samples, took)
	}
	figure.Below(initialisationGoal)
	return nil
}

// initialisation returns the milliseconds in a trace with lines such as: init net @0.5 ms, 0.02 ms clock, 1264 bytes, 4 allocs.
func initialisation(trace string) (sum float64, err error) {
	for line := range strings.Lines(trace) {
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[0] != "init" {
			continue
		}
		took, err := strconv.ParseFloat(fields[4], 64)
		if err != nil {
			return 0, fmt.Errorf("a line of the trace is %q: %w", line, err)
		}
		sum += took
	}
	if sum == 0 {
		return 0, errors.New("the trace has no initialisation")
	}
	return sum, nil
}

// measureFolder checks a folder with many manifests.
func (b *bench) measureFolder(ctx context.Context, program, manifest string) error {
	text, err := os.ReadFile(manifest)
	if err != nil {
		return err
	}
	folder := filepath.Join(b.dir, "manifests")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	for i := range b.count {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("pi-%d.yaml", i)), text, 0o644); err != nil {
			return err
		}
	}
	figure := b.Add(partCommandLine, fmt.Sprintf("a folder of %d manifests", b.count), "lint", "ms")
	for range b.batches {
		took, err := timed(ctx, program, "lint", "-f", folder)
		if err != nil {
			return err
		}
		figure.Samples = append(figure.Samples, float64(took.Microseconds())/1000)
	}
	if b.count <= 1000 {
		figure.Below(folderGoal)
	}
	return nil
}

// timed runs a command, and returns how long the process took.
func timed(ctx context.Context, program string, arguments ...string) (time.Duration, error) {
	command := exec.CommandContext(ctx, program, arguments...)
	began := time.Now()
	if output, err := command.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(arguments, " "), err, output)
	}
	return time.Since(began), nil
}
