package main

import (
	"fmt"
	"os"
	"strings"
)

// peakMemory returns the largest resident memory that a process has had, in MiB.
func peakMemory(pid int) (float64, error) {
	file := fmt.Sprintf("/proc/%d/status", pid)
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	var kib float64
	if _, err := fmt.Sscan(after, &kib); err != nil {
		return 0, fmt.Errorf("%s does not name the peak of its memory: %w", file, err)
	}
	return kib / 1024, nil
}
