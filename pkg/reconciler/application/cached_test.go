package application

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
)

func cachedDrivers(t *testing.T, pods ...*corev1.Pod) drivers.Cache {
	t.Helper()
	cached := drivers.Cache{Indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, drivers.Indexers)}
	for _, pod := range pods {
		addDriver(t, cached, pod)
	}
	return cached
}

func addDriver(t *testing.T, cached drivers.Cache, pod *corev1.Pod) {
	t.Helper()
	kept, err := drivers.Strip(apache.API)(pod.DeepCopy())
	if err == nil {
		err = cached.Add(kept)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// noneRelabelled follows no Pod.
func noneRelabelled(t *testing.T) *drivers.Relabelled {
	return drivers.NewRelabelled(t.Context(), fake.NewClientset(), apache.API, ownsAll, drivers.RelabelledEvents{})
}

// ownsAll is a replica that leads every application.
func ownsAll(types.NamespacedName, types.UID) bool { return true }
