// Package driverstest makes caches and followers of driver Pods for tests.
package driverstest

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
)

// Cached returns a cache with driver Pods.
func Cached(t *testing.T, pods ...*corev1.Pod) drivers.Cache {
	t.Helper()
	return CachedOf(t, apache.API, pods...)
}

// CachedOf returns a cache with driver Pods of an API.
func CachedOf(t *testing.T, api *dialect.API, pods ...*corev1.Pod) drivers.Cache {
	t.Helper()
	cached := drivers.Cache{Indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, drivers.Indexers(api))}
	for _, pod := range pods {
		add(t, api, cached, pod)
	}
	return cached
}

// Add adds a driver Pod to a cache, or updates it.
func Add(t *testing.T, cached drivers.Cache, pod *corev1.Pod) {
	t.Helper()
	add(t, apache.API, cached, pod)
}

func add(t *testing.T, api *dialect.API, cached drivers.Cache, pod *corev1.Pod) {
	t.Helper()
	kept, err := drivers.Strip(api)(pod.DeepCopy())
	if err == nil {
		err = cached.Add(kept)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// NoneRelabelled returns a Relabelled that follows no Pods.
func NoneRelabelled(t *testing.T) *drivers.Relabelled {
	return drivers.NewRelabelled(t.Context(), fake.NewClientset(), apache.API, LeadsAll, drivers.RelabelledEvents{})
}

// LeadsAll reports that this replica leads every application.
func LeadsAll(types.NamespacedName, types.UID) bool { return true }
