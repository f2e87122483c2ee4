package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestThePageOfTheCommandLineIsCurrent(t *testing.T) {
	t.Chdir("../..")
	if err := run(true, ""); err != nil {
		t.Error(err)
	}
}

func TestEachVerbHasAManPage(t *testing.T) {
	folder := t.TempDir()
	if err := run(false, folder); err != nil {
		t.Fatal(err)
	}
	for _, command := range newRoot().Commands() {
		text, err := os.ReadFile(filepath.Join(folder, strings.ReplaceAll(command.CommandPath(), " ", "-")+".1"))
		if command.IsAvailableCommand() && (err != nil || !strings.Contains(string(text), command.Short)) {
			t.Errorf("%s: %v", command.CommandPath(), err)
		}
	}
}
