package hack

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPartsBesideTheOthersRunAndAreNamedIfTheyFail(t *testing.T) {
	m := newMachine(t)
	m.install(t, "make", `[[ " $FAIL " != *" ${@: -1} "* ]]`)
	output := m.must(t, "hack/test.sh")
	mustContain(t, output, "all tests passed", "test-unit ", "test-alerts ", "test-integration ", "test-e2e ", "test-chaos ")

	for fails, want := range map[string]struct {
		parts []string
		last  string
	}{
		"test-alerts":         {[]string{"unit", "alerts", "e2e", "chaos"}, "failed: alerts\n"},
		"test-e2e":            {[]string{"unit", "alerts", "integration", "e2e", "chaos"}, "failed: e2e\n"},
		"test-e2e test-chaos": {[]string{"unit", "alerts", "integration", "e2e", "chaos"}, "failed: e2e chaos\n"},
		"test-unit":           {[]string{"unit", "e2e", "chaos"}, "failed: unit\n"},
		"test-integration":    {[]string{"unit", "alerts", "integration", "e2e", "chaos"}, "failed: integration\n"},
	} {
		m := newMachine(t)
		m.install(t, "make", `[[ " $FAIL " != *" ${@: -1} "* ]]`)
		m.variables["FAIL"] = fails
		output, ok := m.run(t, "hack/test.sh")
		if ok || !strings.HasSuffix(output, want.last) {
			t.Errorf("%s fails: %t, the output is %q", fails, ok, output)
		}
		var parts []string
		for _, call := range m.calls(t, "make") {
			parts = append(parts, call[strings.LastIndex(call, "-")+1:])
		}
		slices.Sort(parts)
		slices.Sort(want.parts)
		if !slices.Equal(parts, want.parts) {
			t.Errorf("%s fails: the parts %v ran, want %v", fails, parts, want.parts)
		}
	}
}

// A command that passed runs again if a file of the repository is another, also one that is not committed, and if the command is another.
func TestCommandThatPassedRunsAgainOnlyIfAFileHasChanged(t *testing.T) {
	repository, cache := t.TempDir(), t.TempDir()
	script, err := os.ReadFile("unless-passed.sh")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(repository, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bash := func(line string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), "bash", "-c", line)
		command.Dir, command.Env = repository, append(os.Environ(), "FIRESTEEL_CACHE="+cache)
		output, _ := command.CombinedOutput()
		return string(output)
	}
	runs := func(want bool, command string) {
		t.Helper()
		if output := bash("hack/unless-passed.sh part " + command); strings.Contains(output, "it runs") != want {
			t.Errorf("%s prints %q, want it to run: %t", command, output, want)
		}
	}
	if err := os.Mkdir(filepath.Join(repository, "hack"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("hack/unless-passed.sh", string(script))
	runs(true, "echo it runs")
	runs(true, "echo it runs") // this is no repository
	write(".gitignore", "/built\n")
	write("chart", "1")
	bash("git init && git add chart")
	runs(true, "echo it runs")
	runs(false, "echo it runs")
	write("built", "1")
	runs(false, "echo it runs")
	write("chart", "2")
	runs(true, "echo it runs")
	write("another", "1")
	runs(true, "echo it runs")
	runs(false, "echo it runs")
	runs(true, "echo it runs otherwise")
	write("chart", "3")
	failing := "bash -c 'echo it runs; false'"
	runs(true, failing)
	runs(true, failing)
	if staged := bash("git diff --cached --name-only"); strings.TrimSpace(staged) != "chart" {
		t.Errorf("the index has %q, and had chart", staged)
	}
}
