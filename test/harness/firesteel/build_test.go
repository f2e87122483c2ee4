package firesteel

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestBuildFlagsAreThoseOfImages(t *testing.T) {
	text, err := os.ReadFile("../../../.ko.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var ko struct {
		DefaultFlags []string `json:"defaultFlags"`
	}
	if err := yaml.Unmarshal(text, &ko); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(buildFlags, ko.DefaultFlags) {
		t.Errorf("tests build with %q, images with %q", buildFlags, ko.DefaultFlags)
	}
}

// The libraries of Google Cloud Storage and Azure take 25 MB of memory at rest.
func TestControllerAndHandlersHaveNoLargeLibrariesOfClouds(t *testing.T) {
	packages := dependencies(t, "./cmd/controller", "./cmd/handler")
	if slices.Contains(packages, "gocloud.dev/blob/gcsblob") || slices.Contains(packages, "gocloud.dev/blob/azureblob") || !slices.Contains(packages, "gocloud.dev/blob/s3blob") {
		t.Error("gcsblob or azureblob is linked: import package large in other programs only, or the list is of something else")
	}
}

// dependencies returns the packages that programs link.
func dependencies(t *testing.T, programs ...string) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"list", "-deps"}, buildFlags, programs)...)
	list.Dir = "../../.."
	output, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(output))
}
