package config

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// Follow watches the config maps of a namespace until ctx ends. It returns when all of them have been read. If some do not exist, it
// returns an error that names them. Follow is for a process without Knative's informers, since those link all types of Kubernetes.
func (s *Store) Follow(ctx context.Context, client dynamic.Interface, namespace string) error {
	configMaps := client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(namespace)
	lister := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return configMaps.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return configMaps.Watch(ctx, options)
		},
	}, client)
	informer := cache.NewSharedInformer(lister, &unstructured.Unstructured{}, 0)
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    s.onEvent,
		UpdateFunc: func(_, configMap any) { s.onEvent(configMap) },
	})
	if err != nil {
		return fmt.Errorf("watch the config maps: %w", err)
	}
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return fmt.Errorf("read the config maps of %s: %w", namespace, ctx.Err())
	}
	var missing []error
	for _, name := range Names() {
		if _, exists, err := informer.GetStore().GetByKey(namespace + "/" + name); err != nil || !exists {
			missing = append(missing, fmt.Errorf("there is no ConfigMap %s/%s", namespace, name))
		}
	}
	return errors.Join(missing...)
}

// onEvent reads a config map of the namespace if it holds settings.
func (s *Store) onEvent(object any) {
	configMap := &corev1.ConfigMap{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.(*unstructured.Unstructured).Object, configMap)
	switch {
	case err != nil:
		s.logger.Errorw("cannot decode a ConfigMap", zap.Error(err))
	case parsers[configMap.Name] != nil:
		s.OnConfigChanged(configMap)
	}
}
