package namespaced

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/pager"
)

// maxRequests bounds the requests that one list or watch begins at once.
const maxRequests = 16

// client is a typed client of a kind in one namespace, or in all.
type client[L runtime.Object] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// list is a pointer to a typed list.
type list[T any] interface {
	*T
	runtime.Object
	metav1.ListInterface
}

// collection lists and watches a kind in all namespaces.
type collection[T any, L list[T]] struct {
	namespaces *Namespaces
	in         func(namespace string) client[L]
	// item is an empty object of the kind.
	item runtime.Object
}

// collect returns the collection of a kind whose client in a namespace is in.
func collect[T any, L list[T], C client[L]](n *Namespaces, in func(namespace string) C, item runtime.Object) collection[T, L] {
	return collection[T, L]{namespaces: n, in: func(namespace string) client[L] { return in(namespace) }, item: item}
}

// List returns the objects of all namespaces that do not refuse. It is never continued: what has several pages in a namespace is read
// page by page here.
func (c collection[T, L]) List(ctx context.Context, options metav1.ListOptions) (L, error) {
	from, merged := parsePositions(options.ResourceVersion)
	var (
		mutex sync.Mutex
		items []runtime.Object
		reach = positions{}
	)
	err := c.each(ctx, func(ctx context.Context, namespace string) error {
		options := options
		if merged {
			options.ResourceVersion = from[namespace]
		}
		found, version, err := c.listIn(ctx, namespace, options)
		if apierrors.IsForbidden(err) {
			return nil
		}
		if err != nil {
			return err
		}
		mutex.Lock()
		defer mutex.Unlock()
		items, reach[namespace] = append(items, found...), version
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := L(new(T))
	if err := meta.SetList(all, items); err != nil {
		return nil, fmt.Errorf("merge the lists of %d namespaces: %w", len(reach), err)
	}
	all.SetResourceVersion(reach.String())
	return all, nil
}

// listIn lists one namespace.
func (c collection[T, L]) listIn(ctx context.Context, namespace string, options metav1.ListOptions) ([]runtime.Object, string, error) {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return c.in(namespace).List(ctx, options)
	})
	pages.PageSize = options.Limit
	found, _, err := pages.ListWithAlloc(ctx, options)
	if err != nil {
		return nil, "", err
	}
	accessor, err := meta.ListAccessor(found)
	if err != nil {
		return nil, "", fmt.Errorf("read the list of the namespace %s: %w", namespace, err)
	}
	items, err := meta.ExtractList(found)
	if err != nil {
		return nil, "", fmt.Errorf("read the list of the namespace %s: %w", namespace, err)
	}
	return items, accessor.GetResourceVersion(), nil
}

// Watch watches all namespaces. It begins with what exists, or where a merged list ended. Nothing else can be gone on from: the resource
// version of one namespace says nothing of what the informer has seen of the others.
func (c collection[T, L]) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	initial := options.SendInitialEvents != nil && *options.SendInitialEvents
	from, merged := parsePositions(options.ResourceVersion)
	if !initial && !merged && options.ResourceVersion != "" && options.ResourceVersion != "0" {
		return nil, apierrors.NewResourceExpired("list again: a watch of several namespaces begins where a list ended")
	}
	m := newMerged(ctx, c.namespaces, c.item)
	var mutex sync.Mutex
	err := c.each(m.ctx, func(_ context.Context, namespace string) error {
		s := &stream{merged: m, namespace: namespace, options: options, client: c.in(namespace).Watch, initial: initial}
		s.probe = s.probeWatch
		if merged {
			s.at, s.known = from[namespace]
			s.options.ResourceVersion = s.at
		}
		if merged && !s.known {
			s.probe = c.probeList(s)
		} else if err := s.begin(); err != nil && !apierrors.IsForbidden(err) {
			return err
		}
		mutex.Lock()
		defer mutex.Unlock()
		m.streams = append(m.streams, s)
		return nil
	})
	if err != nil {
		m.abandon()
		return nil, err
	}
	m.run(initial)
	return m, nil
}

// probeList returns a function that asks a namespace whether it can be listed.
func (c collection[T, L]) probeList(s *stream) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := c.in(s.namespace).List(ctx, metav1.ListOptions{
			LabelSelector: s.options.LabelSelector, FieldSelector: s.options.FieldSelector, Limit: 1,
		})
		return err
	}
}

// each calls request for each namespace, some at once, and returns the first error.
func (c collection[T, L]) each(ctx context.Context, request func(ctx context.Context, namespace string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxRequests)
	for _, namespace := range c.namespaces.names {
		group.Go(func() error { return request(ctx, namespace) })
	}
	return group.Wait()
}
