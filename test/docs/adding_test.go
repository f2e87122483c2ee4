package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ofTheEarlyAPI matches what a file says that knows the early dialect: the API's group, or an import of its types, dialect or client.
var ofTheEarlyAPI = regexp.MustCompile(`"spark-operator\.k8s\.io["_]|spark-operator\.k8s\.io\)|/(apis|dialect|client/.*)/early\b|EarlyV1alpha1\(`)

// TestAddingADialectNamesEachPlaceThatKnowsTheEarlyOne holds the worked example against the newest dialect: where that one is named, another
// one has to be.
func TestAddingADialectNamesEachPlaceThatKnowsTheEarlyOne(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/contributors/adding.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## A dialect\n")
	if !found {
		t.Fatal("adding.md has no section about dialects")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	places := 0
	check := func(path string, code []byte) {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		for _, made := range []string{"pkg/apis/early/", "pkg/client/", "pkg/dialect/early/", "pkg/reconciler/earlyapplication/", "hack/localcluster/"} {
			if strings.HasPrefix(rel, made) {
				return
			}
		}
		if strings.HasSuffix(path, "_test.go") || !ofTheEarlyAPI.Match(code) {
			return
		}
		places++
		if !strings.Contains(section, "`"+rel+"`") {
			t.Errorf("adding.md does not name %s, which knows the early dialect", rel)
		}
	}
	eachFile(t, ".go", []string{"cmd", "pkg", "hack"}, check)
	eachFile(t, ".sh", []string{"hack"}, check)
	if places < 8 {
		t.Errorf("found %d places only: do they still name the API in this way?", places)
	}
}
