package config

import (
	"context"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"knative.dev/pkg/configmap"
)

type key struct{}

// FromContext returns the snapshot of a reconcile's settings. It returns nil if the context has none.
func FromContext(ctx context.Context) *Config {
	config, _ := ctx.Value(key{}).(*Config)
	return config
}

// ToContext adds a snapshot to a context.
func ToContext(ctx context.Context, config *Config) context.Context {
	return context.WithValue(ctx, key{}, config)
}

// Store holds the current settings, and follows the config maps. An invalid config map ends the process at its start. Later, the store
// keeps the last valid one.
type Store struct {
	logger   *zap.SugaredLogger
	onChange func(before, after *Config)
	onReject func(*corev1.ConfigMap, error)
	current  atomic.Pointer[Config]

	mutex sync.Mutex
	// read holds the names of the config maps that have been read.
	read map[string]bool
	// own holds the config maps of namespaces, by namespace and name.
	own map[string]map[string]*ownDefaults
}

// NewStore creates a store with the default settings. The store calls onChange after each change of a config map, and onReject after
// each invalid change.
func NewStore(logger *zap.SugaredLogger, onChange func(before, after *Config), onReject func(*corev1.ConfigMap, error)) *Store {
	s := &Store{logger: logger, onChange: onChange, onReject: onReject, read: map[string]bool{}, own: map[string]map[string]*ownDefaults{}}
	s.current.Store(Default())
	return s
}

// WatchConfigs makes the store follow the config maps. Each of them must exist.
func (s *Store) WatchConfigs(watcher configmap.Watcher) {
	for _, name := range Names() {
		watcher.Watch(name, s.OnConfigChanged)
	}
}

// OnConfigChanged reads a config map and updates the settings.
func (s *Store) OnConfigChanged(configMap *corev1.ConfigMap) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before := s.Load()
	after := *before
	if err := parsers[configMap.Name](configMap, &after); err != nil {
		s.reject(configMap, err)
		return
	}
	s.read[configMap.Name] = true
	s.evaluateAll(&after)
	s.current.Store(&after)
	s.onChange(before, &after)
}

func (s *Store) reject(configMap *corev1.ConfigMap, err error) {
	if !s.read[configMap.Name] {
		// With other settings than the intended ones, the controller might delete objects that should be retained.
		s.logger.Fatalw("invalid configuration: correct the ConfigMap and start again",
			"configMap", configMap.Namespace+"/"+configMap.Name, "error", err)
	}
	s.logger.Errorw("invalid change of the configuration is ignored",
		"configMap", configMap.Namespace+"/"+configMap.Name, "error", err)
	s.onReject(configMap, err)
}

// ToContext adds the current snapshot to a context.
func (s *Store) ToContext(ctx context.Context) context.Context {
	return ToContext(ctx, s.Load())
}

// Load returns the current snapshot. Settings that were never read have their defaults.
func (s *Store) Load() *Config { return s.current.Load() }
