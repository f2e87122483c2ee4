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

// The linker keeps all exported methods of a binary whose templates may call any of them: one that is half as large again, in memory, too.
func TestBinariesHaveNoTemplatesOfPages(t *testing.T) {
	arguments := slices.Concat([]string{"list", "-deps"}, buildFlags, []string{"./cmd/controller", "./cmd/handler", "./cmd/webhook"})
	list := exec.CommandContext(t.Context(), "go", arguments...)
	list.Dir = "../../.."
	output, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	if packages := strings.Fields(string(output)); slices.Contains(packages, "html/template") || !slices.Contains(packages, "google.golang.org/grpc") {
		t.Error("html/template is linked: find what imports it by go list -deps, or the list is of something else")
	}
}
