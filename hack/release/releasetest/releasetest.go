// Package releasetest builds releases for tests.
package releasetest

import (
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"

	"github.com/firesteel-dev/firesteel/hack/release/build"
	"github.com/firesteel-dev/firesteel/hack/release/folder"
)

// New builds a release of the source tree into a temporary folder, with images that hold no programs. registry is the one that the
// manifests name; empty for none. Tests run in a folder of hack/release.
func New(t *testing.T, version, registry string) *build.Release {
	t.Helper()
	release := &build.Release{Source: "../../..", Folder: folder.Dir(t.TempDir()), Version: version, Registry: registry}
	packages, err := release.Packages()
	if err != nil {
		t.Fatal(err)
	}
	images := map[string]v1.ImageIndex{}
	for _, pkg := range packages {
		if images[pkg], err = random.Index(64, 1, 2); err != nil {
			t.Fatal(err)
		}
	}
	if err := release.Assemble(t.Context(), images); err != nil {
		t.Fatal(err)
	}
	return release
}
