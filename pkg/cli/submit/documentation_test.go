package submit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

// generated is the end of a name that is made for an object.
var generated = regexp.MustCompile(`-[a-z0-9]{5}\n`)

// Users paste the command lines of Spark's documentation.
func TestCommandLinesOfTheDocumentationRunOrAreRefusedWithARemedy(t *testing.T) {
	lines, err := os.ReadFile(filepath.Join("testdata", "documentation.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	for line := range strings.Lines(string(lines)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		code, out, errOut := run(t, cli.Plugin, dry(append([]string{"-o", "name"}, strings.Fields(line)...)...)...)
		if code != 0 && (strings.Count(errOut, "error: ") != 1 || strings.Count(errOut, ": ") < 2) {
			t.Errorf("%sis refused without a remedy, or twice:\n%s", line, errOut)
		}
		fmt.Fprintf(&printed, "$ kubectl spark submit %s%s\n", line, generated.ReplaceAllString(out, "-xxxxx\n")+errOut)
	}
	golden.Want(t, filepath.Join("testdata", "documentation.golden"), printed.String())
}
