package config

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/kube"
)

// Follow watches the config maps of a namespace until ctx ends. It returns when all of them have been read. If some do not exist, it
// returns an error that names them. Follow is for a process without Knative's informers, since those link all types of Kubernetes.
func (s *Store) Follow(ctx context.Context, client dynamic.Interface, namespace string) error {
	informer := cache.NewSharedInformer(DynamicConfigMaps(client, namespace)(func(*metav1.ListOptions) {}), &unstructured.Unstructured{}, 0)
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

// DynamicConfigMaps returns the config maps of a namespace, or of all if it is empty.
func DynamicConfigMaps(client dynamic.Interface, namespace string) kube.Source {
	configMaps := client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(namespace)
	return kube.NewSource(client, configMaps.List, configMaps.Watch)
}

// onEvent reads a config map of the namespace if it holds settings.
func (s *Store) onEvent(object any) {
	if configMap := s.configMapOf(object); configMap != nil && parsers[configMap.Name] != nil {
		s.OnConfigChanged(configMap)
	}
}

// FollowNamespaces watches the config maps of namespaces until ctx ends. It returns when all of them are read. It selects them by name and label:
// so it needs no right to read other config maps. If the right is missing, it logs that, goes on without them, and tries again. changed is called
// for each namespace whose settings may have changed.
func (s *Store) FollowNamespaces(ctx context.Context, source kube.Source, changed func(namespace string)) error {
	for name := range ownKeys {
		if err := s.followNamespaces(ctx, name, source, changed); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) followNamespaces(ctx context.Context, name string, source kube.Source, changed func(namespace string)) error {
	informer := cache.NewSharedInformer(source(func(options *metav1.ListOptions) {
		options.LabelSelector = ownDefaultsSelector
		options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	}), nil, 0)
	var refused kube.WatchErrors
	forbidden := make(chan struct{})
	if err := refused.Follow(informer, func(err error) {
		s.logger.Warnw("defaults of namespaces are not read: grant list and watch on these ConfigMaps", "configMap", name, "error", err)
		close(forbidden)
	}); err != nil {
		return fmt.Errorf("watch the config maps %s: %w", name, err)
	}
	set := func(object any) {
		if configMap := s.configMapOf(object); configMap != nil && s.SetOwnDefaults(configMap) {
			changed(configMap.Namespace)
		}
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    set,
		UpdateFunc: func(_, after any) { set(after) },
		DeleteFunc: func(object any) {
			key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
			if namespace, name, _ := cache.SplitMetaNamespaceKey(key); err == nil && s.DropOwnDefaults(namespace, name) {
				changed(namespace)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watch the config maps %s: %w", name, err)
	}
	go informer.RunWithContext(ctx)
	synced := make(chan struct{})
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
			close(synced)
		}
	}()
	select {
	case <-synced:
	case <-forbidden:
	case <-ctx.Done():
	}
	return nil
}

// configMapOf returns a config map, as typed and as dynamic clients have it.
func (s *Store) configMapOf(object any) *corev1.ConfigMap {
	switch object := object.(type) {
	case *corev1.ConfigMap:
		return object
	case *unstructured.Unstructured:
		configMap := &corev1.ConfigMap{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, configMap); err != nil {
			s.logger.Errorw("cannot decode a ConfigMap", zap.Error(err))
			return nil
		}
		return configMap
	default:
		return nil
	}
}
