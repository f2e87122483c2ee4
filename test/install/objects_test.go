// Package install holds every way to install Firesteel against config: the kustomize base with its components, and the Helm chart. It
// is a module of its own, so that Helm and kustomize stay out of the binaries' dependencies.
package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const (
	root            = "../.."
	systemNamespace = "firesteel-system"
)

// object is an object of a manifest.
type object = unstructured.Unstructured

// objects are manifests by kind, namespace and name.
type objects map[string]*object

func key(o *object) string {
	return fmt.Sprintf("%s %s/%s", o.GroupVersionKind().GroupKind(), o.GetNamespace(), o.GetName())
}

// add adds the objects of a manifest. Two of one name are an error.
func (all objects) add(t *testing.T, place string, manifest []byte) {
	t.Helper()
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 1<<20)
	for {
		o := &object{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", place, err)
		}
		if len(o.Object) == 0 {
			continue
		}
		if o.GetKind() == "" || o.GetName() == "" {
			t.Fatalf("%s: an object without kind or name: %v", place, o.Object)
		}
		if all[key(o)] != nil {
			t.Errorf("%s: there are two objects %s", place, key(o))
		}
		all[key(o)] = o
	}
}

// read reads the manifests of config that match the patterns.
func read(t *testing.T, patterns ...string) objects {
	t.Helper()
	all := objects{}
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, "config", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no manifest matches config/%s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.add(t, file, text)
		}
	}
	return all
}

// kind returns the objects of a kind.
func (all objects) kind(kind string) objects {
	found := objects{}
	for name, o := range all {
		if o.GetKind() == kind {
			found[name] = o
		}
	}
	return found
}

// get returns the object with a kind and a name.
func (all objects) get(t *testing.T, kind, name string) *object {
	t.Helper()
	for _, o := range all.kind(kind) {
		if o.GetName() == name {
			return o
		}
	}
	t.Fatalf("there is no %s %s, but %s", kind, name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	return nil
}

// without returns the objects that drop does not match.
func (all objects) without(drop func(*object) bool) objects {
	rest := maps.Clone(all)
	maps.DeleteFunc(rest, func(_ string, o *object) bool { return drop(o) })
	return rest
}

// mustEqual fails the test for each object that differs.
func mustEqual(t *testing.T, want, got objects) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] == nil {
			t.Errorf("%s is missing", name)
		} else if diff := cmp.Diff(want[name].Object, got[name].Object); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", name, diff)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want[name] == nil {
			t.Errorf("%s is not in config", name)
		}
	}
}

// podSpec returns the spec of the Pods of a Deployment or a Job.
func podSpec(t *testing.T, o *object) map[string]any {
	t.Helper()
	spec, found, err := unstructured.NestedMap(o.Object, "spec", "template", "spec")
	if err != nil || !found {
		t.Fatalf("%s has no Pods: %v", key(o), err)
	}
	return spec
}

func containers(t *testing.T, o *object) []any {
	t.Helper()
	return podSpec(t, o)["containers"].([]any)
}
