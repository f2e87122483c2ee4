package apache_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// TestGoldenHashes fails if the encoding of a spec changes, by whatever: then applications that were not edited would warn of an
// edit. Raise spec.HashVersion, and keep the function of the version before for one release.
func TestGoldenHashes(t *testing.T) {
	want := map[string][2]string{
		"flaky.yaml":      {"6f5fabb8c8a00e8f", "ce5609699f1cd6af"},
		"pi.yaml":         {"5e40c3b78a5f13af", "5c65b6d4684f9cff"},
		"word-count.yaml": {"8afbcfb816917a05", "7d3504cecd8bfb0e"},
	}
	got := map[string][2]string{}
	for _, path := range []string{"../../../examples/pi.yaml", "../../../examples/word-count.yaml", "../../../examples/flaky.yaml"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		app := &sparkv1.SparkApplication{}
		if err := yaml.Unmarshal(text, app); err != nil {
			t.Fatal(err)
		}
		hash := apache.SpecOf(app).Hash
		got[filepath.Base(path)] = [2]string{hash(spec.HashVersionJSON), hash(spec.HashVersion)}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("by JSON of the Go types, and by the current version (-want +got):\n%s", diff)
	}
}
