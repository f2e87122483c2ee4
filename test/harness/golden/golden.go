// Package golden compares what a test makes with a file. go test -update writes the file.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// Update reports whether the flag -update is set.
var Update = flag.Bool("update", false, "write the golden files, and the pages that are generated from Go")

// Manifests returns the objects as a stream of YAML documents.
func Manifests[T any](t testing.TB, objects []T) string {
	t.Helper()
	var documents []string
	for _, object := range objects {
		manifest, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(manifest))
	}
	return strings.Join(documents, "---\n")
}

// Want fails the test if a file has another text.
func Want(t testing.TB, path, got string) {
	t.Helper()
	if *Update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got); go test -update writes it anew:\n%s", path, diff)
	}
}
