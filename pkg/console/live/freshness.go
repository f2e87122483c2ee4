package live

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// flicker is how long the API server may not answer before rows count as stale: a watch that breaks is followed by a list.
const flicker = 2 * time.Second

// freshness knows since when lists and watches fail.
type freshness struct {
	clock clock.PassiveClock
	mutex sync.Mutex
	// failing is since when the requests of an informer fail.
	failing map[*informer]time.Time
}

// note notes the result of a request. A kind that is absent or forbidden is no sign that the API server is gone.
func (f *freshness) note(ctx context.Context, i *informer, err error) {
	answered := err == nil || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
	if !answered && (ctx.Err() != nil || errors.Is(err, context.Canceled)) {
		return
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if answered {
		delete(f.failing, i)
	} else if _, known := f.failing[i]; !known {
		f.failing[i] = f.clock.Now()
	}
}

// forget forgets informers that have ended.
func (f *freshness) forget(ended []*informer) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, i := range ended {
		delete(f.failing, i)
	}
}

// since returns since when the API server does not answer; zero if it does.
func (f *freshness) since() (since time.Time) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	now := f.clock.Now()
	for _, at := range f.failing {
		if now.Sub(at) >= flicker && (since.IsZero() || at.Before(since)) {
			since = at
		}
	}
	return since
}

// StaleSince returns since when the API server does not answer, so that rows may be as they were then. It is zero while it answers.
func (l *Live) StaleSince() time.Time { return l.freshness.since() }

// source is what an informer lists and watches.
type source interface {
	list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error)
	watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// follow returns the lists and watches of a source, whose results are noted. client is what they are made by.
func (f *freshness) follow(i *informer, from source, client any) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := from.list(ctx, options)
			f.note(ctx, i, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			stream, err := from.watch(ctx, options)
			f.note(ctx, i, err)
			return stream, err
		},
	}, client)
}
