package fakeclient

import (
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/actions"
)

// NewDynamic returns a client with objects, which can list each kind that the command line finds, in each version, and the kinds of others: the kinds of
// their lists, by resource.
func NewDynamic(others map[schema.GroupVersionResource]string, objects ...runtime.Object) *dynamicfake.FakeDynamicClient {
	lists := maps.Clone(others)
	if lists == nil {
		lists = map[schema.GroupVersionResource]string{}
	}
	for _, kind := range actions.Kinds {
		for _, version := range kind.Versions {
			lists[kind.WithVersion(version)] = "List"
		}
	}
	return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, objects...)
}

// Decode returns the object of a manifest in YAML.
func Decode(t testing.TB, manifest string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	text, err := yaml.YAMLToJSON([]byte(manifest))
	if err == nil {
		err = o.UnmarshalJSON(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}
