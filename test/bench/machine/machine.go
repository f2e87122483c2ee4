// Package machine describes the machine that benchmarks run on.
package machine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/firesteel-dev/firesteel/test/bench/report"
)

// Describe describes this machine. Facts that it cannot read stay empty.
func Describe() report.Machine {
	load, _, _ := strings.Cut(read("/proc/loadavg"), " ")
	machine := report.Machine{
		CPU: field(read("/proc/cpuinfo"), "model name"), Cores: runtime.NumCPU(),
		Kernel: strings.TrimSpace(read("/proc/sys/kernel/osrelease")), Load: load,
	}
	var kib int
	if _, err := fmt.Sscan(field(read("/proc/meminfo"), "MemTotal"), &kib); err == nil {
		machine.Memory = fmt.Sprintf("%.0f GiB", float64(kib)/(1<<20))
	}
	return machine
}

// Commit returns the commit of a Git working tree, with -dirty if files differ from it.
func Commit(ctx context.Context, root string) string {
	cmd := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty")
	cmd.Dir = root
	output, err := cmd.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(output))
}

func read(file string) string {
	text, _ := os.ReadFile(file)
	return string(text)
}

// field returns the value in the first line "name: value" with that name; empty if there is none.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
