package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/firesteel-dev/firesteel/test/bench/report"
)

// thisMachine describes the machine. What it does not tell stays empty.
func thisMachine() report.Machine {
	load, _, _ := strings.Cut(read("/proc/loadavg"), " ")
	machine := report.Machine{Cores: runtime.NumCPU(), Kernel: strings.TrimSpace(read("/proc/sys/kernel/osrelease")), Load: load}
	machine.CPU = after(read("/proc/cpuinfo"), "model name")
	var kib int
	if _, err := fmt.Sscan(after(read("/proc/meminfo"), "MemTotal"), &kib); err == nil {
		machine.Memory = fmt.Sprintf("%.0f GiB", float64(kib)/(1<<20))
	}
	return machine
}

func read(file string) string {
	text, _ := os.ReadFile(file)
	return string(text)
}

// after is what a line says after a name and a colon.
func after(text, name string) string {
	for line := range strings.Lines(text) {
		if its, value, is := strings.Cut(line, ":"); is && strings.TrimSpace(its) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// commit is that of the source; it says so where there is more than that.
func commit(ctx context.Context, root string) string {
	cmd := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty")
	cmd.Dir = root
	output, err := cmd.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(output))
}
