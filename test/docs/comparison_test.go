package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/test/bench/peers/result"
)

func TestComparisonInPagesIsThatOfTheCommittedResult(t *testing.T) {
	committed, err := result.Read(filepath.Join(root, "test/bench/peers/result.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"README.md", "docs/operators/benchmarks.md"} {
		page, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		want, err := committed.Insert(string(page))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if diff := cmp.Diff(want, string(page)); diff != "" {
			t.Errorf("%s differs from the result: go run ./test/bench/peers table test/bench/peers/result.json writes it (-want +got):\n%s", path, diff)
		}
	}
}
