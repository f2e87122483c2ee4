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

// FromContext returns the snapshot that a reconcile works with.
func FromContext(ctx context.Context) *Config {
	config, _ := ctx.Value(key{}).(*Config)
	return config
}

// ToContext attaches a snapshot.
func ToContext(ctx context.Context, config *Config) context.Context {
	return context.WithValue(ctx, key{}, config)
}

// Store follows the config maps. What cannot be used ends the process when it starts; later, what was before stays.
type Store struct {
	logger   *zap.SugaredLogger
	onChange func(before, after *Config)
	onReject func(*corev1.ConfigMap, error)
	current  atomic.Pointer[Config]

	mutex sync.Mutex
	// read are the config maps that were read.
	read map[string]bool
}

// NewStore makes a store that is to watch the config maps. onChange is called after each change of one, onReject after
// each that is refused.
func NewStore(logger *zap.SugaredLogger, onChange func(before, after *Config), onReject func(*corev1.ConfigMap, error)) *Store {
	s := &Store{logger: logger, onChange: onChange, onReject: onReject, read: map[string]bool{}}
	s.current.Store(Default())
	return s
}

// WatchConfigs has the store follow the config maps, each of which must exist.
func (s *Store) WatchConfigs(watcher configmap.Watcher) {
	for _, name := range Names() {
		watcher.Watch(name, s.OnConfigChanged)
	}
}

// OnConfigChanged reads a config map.
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
	s.current.Store(&after)
	s.onChange(before, &after)
}

func (s *Store) reject(configMap *corev1.ConfigMap, err error) {
	if !s.read[configMap.Name] {
		// To go on with other settings than those that were meant might delete what was to be kept.
		s.logger.Fatalw("The configuration cannot be used: correct the ConfigMap, and start again",
			"configMap", configMap.Namespace+"/"+configMap.Name, "error", err)
	}
	s.logger.Errorw("A change of the configuration is refused, and what was before stays",
		"configMap", configMap.Namespace+"/"+configMap.Name, "error", err)
	s.onReject(configMap, err)
}

// ToContext attaches the present snapshot.
func (s *Store) ToContext(ctx context.Context) context.Context {
	return ToContext(ctx, s.Load())
}

// Load returns the present snapshot. What was never read has its defaults.
func (s *Store) Load() *Config { return s.current.Load() }
