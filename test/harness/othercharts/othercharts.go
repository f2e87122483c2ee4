// Package othercharts has the recorded default values of the other operators' charts.
package othercharts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/firesteel-dev/firesteel/hack/chart/move"
)

// Defaults returns the default values of a chart. root is the folder of the repository.
func Defaults(t testing.TB, root string, chart move.Chart) []byte {
	t.Helper()
	values, err := os.ReadFile(filepath.Join(root, "hack/chart/move/testdata", chart.Name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// Converted returns them as values of Firesteel's chart, for a release in the namespace spark-operator.
func Converted(t testing.TB, root string, chart move.Chart) []byte {
	t.Helper()
	values, _, err := chart.Convert(Defaults(t, root, chart), "spark-operator")
	if err != nil {
		t.Fatal(err)
	}
	text, err := move.Text(values, nil)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
