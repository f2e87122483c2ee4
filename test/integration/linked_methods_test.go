package integration

import (
	"debug/elf"
	"path/filepath"
	"slices"
	"testing"

	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

// If anything in a program may call methods by names that the linker does not know, the linker keeps all exported methods of all types. That
// was a third of the controller, also in memory.
func TestProgramsLinkNoMethodsThatNothingCalls(t *testing.T) {
	t.Parallel()
	programs, err := firesteel.Programs(repository, "integration")
	if err != nil {
		t.Fatal(err)
	}
	const called, notCalled = "go.uber.org/zap.(*SugaredLogger).log", "go.uber.org/zap.(*SugaredLogger).Panicln"
	for _, name := range []string{"archive", "controller", "handler", "webhook"} {
		symbols := symbolsOf(t, filepath.Join(programs, name))
		if slices.Contains(symbols, notCalled) || !slices.Contains(symbols, called) {
			t.Errorf("%s links %s: html/template, text/template, go-cmp and others that use Method of reflect cause that; find which by go build -ldflags=-dumpdep. Or it does not link %s: name another method here",
				name, notCalled, called)
		}
	}
}

// symbolsOf returns the names of all symbols of a program.
func symbolsOf(t *testing.T, program string) []string {
	t.Helper()
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(symbols))
	for _, symbol := range symbols {
		names = append(names, symbol.Name)
	}
	return names
}
