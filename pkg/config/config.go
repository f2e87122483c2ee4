package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// The names of the config maps.
const (
	ScopeName    = "config-scope"
	DefaultsName = "config-defaults"
	HandlersName = "config-handlers"
	EventsName   = "config-events"
	KubeflowName = "config-kubeflow"
	ClustersName = "config-clusters"
	// NamespacesName is the config map with the templates of workload namespaces.
	NamespacesName = "config-namespaces"
	// EarlyName is the config map about applications of spark-operator.k8s.io.
	EarlyName = "config-early"
	// AdmissionName is the config map about what may launch.
	AdmissionName = "config-admission"
	// ArchiveName is the config map about what is stored of attempts that ended.
	ArchiveName = "config-archive"
	// ConsoleName is the config map about the console, which the command line reads, too.
	ConsoleName = "config-console"
)

// Config is an immutable snapshot of all settings. None of its exported fields is nil.
type Config struct {
	Scope    *Scope
	Defaults *apache.Defaults
	Handlers *Handlers
	Events   *Events
	Kubeflow *Kubeflow
	Clusters *Clusters
	// Namespaces is what workload namespaces get.
	Namespaces *namespaces.Template
	Early      *Early
	Admission  *Admission
	Archive    *Archive
	Console    *Console

	// own holds the settings of namespaces with defaults of their own, each a *Config. It is nil in the settings of a namespace, and until all
	// config maps of the installation are read. It is the only part of a snapshot that changes.
	own *sync.Map
}

// parsers holds a function for each config map, which reads it into a snapshot.
var parsers = map[string]func(*corev1.ConfigMap, *Config) error{
	ScopeName:      func(m *corev1.ConfigMap, c *Config) (err error) { c.Scope, err = NewScope(m); return err },
	DefaultsName:   func(m *corev1.ConfigMap, c *Config) (err error) { c.Defaults, err = NewDefaults(m); return err },
	HandlersName:   func(m *corev1.ConfigMap, c *Config) (err error) { c.Handlers, err = NewHandlers(m); return err },
	EventsName:     func(m *corev1.ConfigMap, c *Config) (err error) { c.Events, err = NewEvents(m); return err },
	KubeflowName:   func(m *corev1.ConfigMap, c *Config) (err error) { c.Kubeflow, err = NewKubeflow(m); return err },
	ClustersName:   func(m *corev1.ConfigMap, c *Config) (err error) { c.Clusters, err = NewClusters(m); return err },
	NamespacesName: func(m *corev1.ConfigMap, c *Config) (err error) { c.Namespaces, err = NewNamespaces(m); return err },
	EarlyName:      func(m *corev1.ConfigMap, c *Config) (err error) { c.Early, err = NewEarly(m); return err },
	AdmissionName:  func(m *corev1.ConfigMap, c *Config) (err error) { c.Admission, err = NewAdmission(m); return err },
	ArchiveName:    func(m *corev1.ConfigMap, c *Config) (err error) { c.Archive, err = NewArchive(m); return err },
	ConsoleName:    func(m *corev1.ConfigMap, c *Config) (err error) { c.Console, err = NewConsole(m); return err },
}

// Names returns the names of all config maps.
func Names() []string { return slices.Sorted(maps.Keys(parsers)) }

// Check returns why the settings in a config map of the installation are invalid. It returns nil for valid ones, and for other config maps.
func Check(configMap *corev1.ConfigMap) error {
	read, ok := parsers[configMap.Name]
	if !ok {
		return nil
	}
	return read(configMap, Default())
}

// Default returns the configuration of empty config maps.
func Default() *Config {
	config := &Config{}
	for name, read := range parsers {
		if err := read(&corev1.ConfigMap{}, config); err != nil {
			panic(fmt.Sprintf("the defaults of %s: %v", name, err))
		}
	}
	return config
}

// exampleKey is the key whose value documents all other keys. It is not read.
const exampleKey = "_example"

// Keys holds the valid keys of a config map, each with the function that reads its value. A key that ends with * stands for all keys
// with that prefix.
type Keys map[string]func(key, value string) error

// Read reads each value of a config map. Its errors name the config map, the key, the value, and what to write instead. An unknown key
// is an error, since a misspelt key would silently leave its setting at the default.
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

// find returns the function that reads the value of a key. It returns nil for an unknown key.
func (k Keys) find(key string) func(key, value string) error {
	for name, read := range k {
		if prefix, isPrefix := strings.CutSuffix(name, "*"); name == key || isPrefix && strings.HasPrefix(key, prefix) {
			return read
		}
	}
	return nil
}

// InvalidValue returns an error that names a key, its value (redacted), and what to write instead.
func InvalidValue(key, value, remedy string) error {
	return fmt.Errorf("%s is %q: %s", key, clip(redact.Value(key, value)), redact.Text(remedy))
}

// clip cuts a long value, so that the message stays readable.
func clip(value string) string {
	const limit = 256
	return text.Clip(value, limit)
}

// OneOf accepts one of the given values.
func OneOf(values ...string) func(key, value string) error {
	return func(key, value string) error {
		if !slices.Contains(values, value) {
			return InvalidValue(key, value, "write one of "+strings.Join(values, ", "))
		}
		return nil
	}
}
