package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/cli"
)

func TestThePageOfTheCommandLineIsCurrent(t *testing.T) {
	t.Chdir("../..")
	if err := run(true, "", ""); err != nil {
		t.Error(err)
	}
}

func TestEachVerbHasAManPage(t *testing.T) {
	folder := t.TempDir()
	if err := run(false, folder, folder); err != nil {
		t.Fatal(err)
	}
	for _, command := range slices.Concat(newRoot(cli.Plugin).Commands(), newRoot(cli.Sparkctl).Commands()) {
		text, err := os.ReadFile(filepath.Join(folder, strings.ReplaceAll(command.CommandPath(), " ", "-")+".1"))
		if command.IsAvailableCommand() && (err != nil || !strings.Contains(string(text), command.Short)) {
			t.Errorf("%s: %v", command.CommandPath(), err)
		}
	}
}
