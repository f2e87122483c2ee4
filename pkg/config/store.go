package config

import (
	"context"

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

// Store follows the config maps.
type Store struct {
	*configmap.UntypedStore
}

// NewStore makes a store that is to watch the config maps. onChange is called after each change of one.
func NewStore(logger configmap.Logger, onChange ...func(name string, value any)) *Store {
	return &Store{UntypedStore: configmap.NewUntypedStore("firesteel", logger, configmap.Constructors{
		DefaultsName: NewDefaults,
		HandlersName: NewHandlers,
		EventsName:   NewEvents,
	}, onChange...)}
}

// ToContext attaches the present snapshot.
func (s *Store) ToContext(ctx context.Context) context.Context {
	return ToContext(ctx, s.Load())
}

// Load returns the present snapshot. What was never read has its defaults.
func (s *Store) Load() *Config {
	config := Default()
	if defaults, read := s.UntypedLoad(DefaultsName).(*Defaults); read {
		config.Defaults = defaults
	}
	if handlers, read := s.UntypedLoad(HandlersName).(*Handlers); read {
		config.Handlers = handlers
	}
	if events, read := s.UntypedLoad(EventsName).(*Events); read {
		config.Events = events
	}
	return config
}

// Default is the configuration of empty config maps.
func Default() *Config {
	empty := &corev1.ConfigMap{}
	defaults, _ := NewDefaults(empty)
	handlers, _ := NewHandlers(empty)
	events, _ := NewEvents(empty)
	return &Config{Defaults: defaults, Handlers: handlers, Events: events}
}
