package fields_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// TestGoldenHashes fails if the encoding of a spec changes, by whatever: then each application that has finished would run again
// after an upgrade and its next edit. Raise spec.HashVersion, and keep the function of the version before for one release.
func TestGoldenHashes(t *testing.T) {
	want := map[string][2]string{
		"monitored-on-volcano.yaml": {"7244d40f1431cc32", "4bd8e1e062d4fef9"},
		"pi.yaml":                   {"06331fff88d1863c", "42a15f35a7af32c7"},
		"python-with-everything-on-its-pods.yaml": {"e6e4cdcaae54912e", "8d51ab159a545d61"},
	}
	got := map[string][2]string{}
	manifests, err := filepath.Glob("testdata/manifests/*.yaml")
	if err != nil || len(manifests) == 0 {
		t.Fatal("no manifests", err)
	}
	for _, path := range manifests {
		hash := fields.SpecOf(decoded(t, path)).Hash
		got[filepath.Base(path)] = [2]string{hash(spec.HashVersionJSON), hash(spec.HashVersion)}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("by JSON of the Go types, and by the current version (-want +got):\n%s", diff)
	}
}
