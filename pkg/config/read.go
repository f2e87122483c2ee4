package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// Read returns the settings that the config maps of an installation and of namespaces hold. Those that are absent have their defaults. Config
// maps of other names are ignored, and so are those of namespaces without the label LabelOwnDefaults. An invalid one is an error.
func Read(configMaps []corev1.ConfigMap) (*Config, error) {
	config := Default()
	var errs []error
	own := make([]*corev1.ConfigMap, 0, len(configMaps))
	for i := range configMaps {
		configMap := &configMaps[i]
		if read, ok := parsers[configMap.Name]; ok {
			errs = append(errs, read(configMap, config))
		} else if overlays[configMap.Name] != nil && configMap.Labels[LabelOwnDefaults] == ownDefaultsEnabled {
			own = append(own, configMap)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortStableFunc(own, func(a, b *corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	all := &sync.Map{}
	config.own = all
	for _, configMap := range own {
		settings := *config.In(configMap.Namespace)
		settings.own = nil
		with, err := settings.with(configMap)
		if err != nil {
			errs = append(errs, fmt.Errorf("namespace %s: %w", configMap.Namespace, err))
			continue
		}
		all.Store(configMap.Namespace, &with)
	}
	return config, errors.Join(errs...)
}

// IsSettings reports whether a config map has the name of one that Read reads.
func IsSettings(configMap *corev1.ConfigMap) bool {
	return parsers[configMap.Name] != nil || overlays[configMap.Name] != nil
}
