// Package pages compares pages with what the code makes of them, and returns their commands, so that tests run them.
package pages

import (
	"fmt"
	"os"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// Current compares a page with what it is generated to, after it wrote the page if write is set. Its error names the command that
// generates the page.
func Current(page string, want []byte, write bool, generate string) error {
	if write {
		if err := os.WriteFile(page, want, 0o644); err != nil {
			return err
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("run %s: %w", generate, err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		return fmt.Errorf("%s is stale: run %s (-want +got):\n%s", page, generate, diff)
	}
	return nil
}

// Command returns the command of a page that begins with a text: a line in an indented block.
func Command(page, begin string) (string, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if command := strings.TrimLeft(line, " "); len(line)-len(command) >= 4 && strings.HasPrefix(command, begin) {
			return command, nil
		}
	}
	return "", fmt.Errorf("%s has no command that begins with %q", page, begin)
}
