// Package config holds the operator's settings, read from the config maps of its namespace. A reconcile sees
// one immutable snapshot of them.
package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// The config maps.
const (
	ScopeName    = "config-scope"
	DefaultsName = "config-defaults"
	HandlersName = "config-handlers"
	EventsName   = "config-events"
	KubeflowName = "config-kubeflow"
	ClustersName = "config-clusters"
)

// Config is a snapshot of all settings. None of its parts is nil, and none changes.
type Config struct {
	Scope    *Scope
	Defaults *apache.Defaults
	Handlers *Handlers
	Events   *Events
	Kubeflow *Kubeflow
	Clusters *Clusters
}

// parsers read each config map into a snapshot.
var parsers = map[string]func(*corev1.ConfigMap, *Config) error{
	ScopeName:    func(m *corev1.ConfigMap, c *Config) (err error) { c.Scope, err = NewScope(m); return err },
	DefaultsName: func(m *corev1.ConfigMap, c *Config) (err error) { c.Defaults, err = NewDefaults(m); return err },
	HandlersName: func(m *corev1.ConfigMap, c *Config) (err error) { c.Handlers, err = NewHandlers(m); return err },
	EventsName:   func(m *corev1.ConfigMap, c *Config) (err error) { c.Events, err = NewEvents(m); return err },
	KubeflowName: func(m *corev1.ConfigMap, c *Config) (err error) { c.Kubeflow, err = NewKubeflow(m); return err },
	ClustersName: func(m *corev1.ConfigMap, c *Config) (err error) { c.Clusters, err = NewClusters(m); return err },
}

// Names are the names of all config maps.
func Names() []string { return slices.Sorted(maps.Keys(parsers)) }

// Default is the configuration of empty config maps.
func Default() *Config {
	config := &Config{}
	for name, read := range parsers {
		if err := read(&corev1.ConfigMap{}, config); err != nil {
			panic(fmt.Sprintf("the defaults of %s: %v", name, err))
		}
	}
	return config
}

// exampleKey is the key that documents the others.
const exampleKey = "_example"

// Keys are those that a config map may have, each with what reads its value.
type Keys map[string]func(key, value string) error

// Read has each value of a config map read. Its errors name the map, the key, the value, and what to write instead; a
// key that there is not is one, since a misspelt one would otherwise leave a setting at its default.
func (k Keys) Read(name string, configMap *corev1.ConfigMap) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(configMap.Data)) {
		if key == exampleKey {
			continue
		}
		value := configMap.Data[key]
		read := k.find(key)
		if read == nil {
			errs = append(errs, fmt.Errorf("%s: there is no key %q: write one of %s", name, key,
				strings.Join(slices.Sorted(maps.Keys(k)), ", ")))
			continue
		}
		if err := read(key, value); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// find is what reads the value of a key; nil where there is no such key. A name that ends with a star is any that
// begins so.
func (k Keys) find(key string) func(key, value string) error {
	for name, read := range k {
		if prefix, isPrefix := strings.CutSuffix(name, "*"); name == key || isPrefix && strings.HasPrefix(key, prefix) {
			return read
		}
	}
	return nil
}

// InvalidValue says why the value of a key cannot be used, and what to write instead.
func InvalidValue(key, value, remedy string) error {
	return fmt.Errorf("%s is %q: %s", key, clip(redact.Value(key, value)), redact.Text(remedy))
}

// clip keeps a message readable.
func clip(value string) string {
	const limit = 256
	return text.Clip(value, limit)
}

// OneOf takes one of some values.
func OneOf(values ...string) func(key, value string) error {
	return func(key, value string) error {
		if !slices.Contains(values, value) {
			return InvalidValue(key, value, "write one of "+strings.Join(values, ", "))
		}
		return nil
	}
}
