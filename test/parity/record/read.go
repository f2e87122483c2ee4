package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/test/parity"
)

// podGroupDefinition makes the API server take Volcano's PodGroups, with whatever is in them.
var podGroupDefinition = parity.Object{
	"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
	"metadata": parity.Object{"name": "podgroups.scheduling.volcano.sh"},
	"spec": parity.Object{
		"group": "scheduling.volcano.sh", "scope": "Namespaced",
		"names": parity.Object{"kind": "PodGroup", "plural": "podgroups", "singular": "podgroup", "listKind": "PodGroupList"},
		"versions": []any{parity.Object{
			"name": "v1beta1", "served": true, "storage": true,
			"schema": parity.Object{"openAPIV3Schema": parity.Object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
		}},
	},
}

func (s *server) createNamespace(ctx context.Context, name string) error {
	return s.create(ctx, namespaces, parity.Object{
		"apiVersion": "v1", "kind": "Namespace", "metadata": parity.Object{"name": name},
	})
}

// emptyNamespace deletes all of some kinds: the next submission uses the same namespace.
func (s *server) emptyNamespace(ctx context.Context, name string, found map[string]schema.GroupVersionResource) error {
	now := int64(0)
	for _, resource := range found {
		options := metav1.DeleteOptions{GracePeriodSeconds: &now}
		if err := s.client.Resource(resource).Namespace(name).DeleteCollection(ctx, options, metav1.ListOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// take returns what is in a namespace, and deletes it.
func (s *server) take(ctx context.Context, namespace string) ([]parity.Object, error) {
	var result []parity.Object
	there := map[string]schema.GroupVersionResource{}
	for kind, resource := range kinds {
		found, err := s.client.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", kind, err)
		}
		for _, object := range found.Items {
			result = append(result, plain(object))
			there[kind] = resource
		}
	}
	return result, s.emptyNamespace(ctx, namespace, there)
}

// tryCreate returns objects as the API server would have them, without creating them.
func (s *server) tryCreate(ctx context.Context, namespace string, objects []parity.Object) ([]parity.Object, error) {
	var result []parity.Object
	for _, object := range objects {
		resource := kinds[object["kind"].(string)]
		created, err := s.client.Resource(resource).Namespace(namespace).Create(ctx,
			&unstructured.Unstructured{Object: object}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return nil, err
		}
		result = append(result, plain(*created))
	}
	return result, nil
}

// plain returns an object with its numbers as encoding/json reads them.
func plain(object unstructured.Unstructured) parity.Object {
	return floats(object.Object).(parity.Object)
}

func floats(value any) any {
	switch value := value.(type) {
	case parity.Object:
		for key, entry := range value {
			value[key] = floats(entry)
		}
	case []any:
		for i, entry := range value {
			value[i] = floats(entry)
		}
	case int64:
		return float64(value)
	}
	return value
}
