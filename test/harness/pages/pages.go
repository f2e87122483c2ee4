// Package pages returns the commands of pages, so that tests run them.
package pages

import (
	"fmt"
	"os"
	"strings"
)

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
