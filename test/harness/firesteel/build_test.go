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

// The library of Google Cloud Storage takes 20 MB of memory at rest.
func TestControllerAndHandlersHaveNoLibraryOfGoogleCloudStorage(t *testing.T) {
	packages := dependencies(t, "./cmd/controller", "./cmd/handler")
	if slices.Contains(packages, "gocloud.dev/blob/gcsblob") || !slices.Contains(packages, "gocloud.dev/blob/s3blob") {
		t.Error("gcsblob is linked: import package gcs in other programs only, or the list is of something else")
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

// The linker keeps all exported methods of a binary whose templates may call any of them: one that is half as large again, in memory, too.
// The libraries of Azure and of Google Cloud Storage have such templates, by net/rpc, so the controller, which archives to Azure, is not in the list.
func TestBinariesHaveNoTemplatesOfPages(t *testing.T) {
	if packages := dependencies(t, "./cmd/handler", "./cmd/webhook"); slices.Contains(packages, "html/template") || !slices.Contains(packages, "google.golang.org/grpc") {
		t.Error("html/template is linked: find what imports it by go list -deps, or the list is of something else")
	}
}
