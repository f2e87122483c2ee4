package target_test

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// application is an object of the first kind, with its resource.
func application() *target.Found {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "spark.apache.org/v1", "kind": "SparkApplication", "metadata": map[string]any{"namespace": "reports", "name": "etl", "uid": "u"},
	}}
	return &target.Found{Unstructured: object, Resource: actions.Kinds[0].WithVersion("v1")}
}

func TestUntilOutlastsAnAPIServerThatDoesNotAnswer(t *testing.T) {
	found := application()
	client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), found.Unstructured)
	failures := 2
	client.PrependReactor("get", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		if failures == 0 {
			return false, nil, nil
		}
		failures--
		return true, nil, errors.New("connection refused")
	})
	seen := 0
	err := target.Until(t.Context(), client, found, func(o *overview.Object) (bool, error) {
		seen++
		return o != nil && o.Name() == "etl", nil
	})
	if err != nil || failures != 0 || seen != 1 {
		t.Errorf("it returns %v after %d versions, and %d requests would still fail", err, seen, failures)
	}
}

func TestUntilEndsAtOnceWithoutTheRightToRead(t *testing.T) {
	found := application()
	client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), found.Unstructured)
	client.PrependReactor("get", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(found.Resource.GroupResource(), "etl", errors.New("no"))
	})
	if err := target.Until(t.Context(), client, found, func(*overview.Object) (bool, error) { return true, nil }); !apierrors.IsForbidden(err) {
		t.Errorf("it returns %v", err)
	}
}

func TestUntilTakesAnotherObjectOfTheNameForTheEnd(t *testing.T) {
	found := application()
	other := found.DeepCopy()
	other.SetUID("other")
	client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), other)
	err := target.Until(t.Context(), client, found, func(o *overview.Object) (bool, error) { return o == nil, nil })
	if err != nil {
		t.Error(err)
	}
}
