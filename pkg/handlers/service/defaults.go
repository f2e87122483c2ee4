package service

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/config"
)

// defaultsFollower follows the defaults of namespaces.
type defaultsFollower struct {
	client dynamic.Interface

	mutex sync.Mutex
	// store is nil until start.
	store    *config.Store
	followed map[string]bool
}

// start follows the namespaces of the scope. It returns when their defaults are read.
func (f *defaultsFollower) start(ctx context.Context, store *config.Store) error {
	f.mutex.Lock()
	f.store, f.followed = store, map[string]bool{}
	f.mutex.Unlock()
	return f.follow(ctx, store.Load().Scope)
}

// scopeChanged follows the namespaces that are new in the scope.
func (f *defaultsFollower) scopeChanged(ctx context.Context, scope *config.Scope) {
	go func() {
		if err := f.follow(ctx, scope); err != nil {
			logging.FromContext(ctx).Errorw("cannot follow the defaults of namespaces", "error", err)
		}
	}()
}

// follow follows all namespaces at once, or each listed one by itself if nothing else may be read.
func (f *defaultsFollower) follow(ctx context.Context, scope *config.Scope) error {
	names := scope.OnlyNamespaces()
	if names == nil {
		names = []string{metav1.NamespaceAll}
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.store == nil {
		return nil
	}
	for _, name := range names {
		if f.followed[name] {
			continue
		}
		f.followed[name] = true
		if err := f.store.FollowNamespaces(ctx, config.DynamicConfigMaps(f.client, name), func(string) {}); err != nil {
			return err
		}
	}
	return nil
}
