package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// Read returns the settings in the config maps of an installation and of namespaces. An absent config map has its defaults. Read ignores config
// maps of other names, and those of namespaces without the label LabelOwnDefaults. An invalid one is an error.
func Read(configMaps []corev1.ConfigMap) (*Config, error) {
	config := Default()
	var errs []error
	for i := range configMaps {
		if read, ok := parsers[configMaps[i].Name]; ok {
			errs = append(errs, read(&configMaps[i], config))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return config.WithOwn(configMaps)
}

// WithOwn returns settings of an installation with the defaults of namespaces, and no others, that have the label LabelOwnDefaults among config maps.
// An invalid one is an error: then it is left out.
func (c *Config) WithOwn(configMaps []corev1.ConfigMap) (*Config, error) {
	namespaces := map[string]map[string]*corev1.ConfigMap{}
	for i := range configMaps {
		configMap := &configMaps[i]
		if parsers[configMap.Name] != nil || overlays[configMap.Name] == nil || configMap.Labels[LabelOwnDefaults] != ownDefaultsEnabled {
			continue
		}
		if namespaces[configMap.Namespace] == nil {
			namespaces[configMap.Namespace] = map[string]*corev1.ConfigMap{}
		}
		namespaces[configMap.Namespace][configMap.Name] = configMap
	}
	config := *c
	config.own = &sync.Map{}
	var errs []error
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		config.own.Store(namespace, config.over(namespaces[namespace], func(_ *corev1.ConfigMap, err error) *corev1.ConfigMap {
			errs = append(errs, fmt.Errorf("namespace %s: %w", namespace, err))
			return nil
		}))
	}
	return &config, errors.Join(errs...)
}

// IsSettings reports whether a config map has the name of one that Read reads.
func IsSettings(configMap *corev1.ConfigMap) bool {
	return parsers[configMap.Name] != nil || overlays[configMap.Name] != nil
}
