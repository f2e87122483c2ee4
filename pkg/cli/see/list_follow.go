package see

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// seen is what is known of an object that was read, with -w.
type seen struct {
	// version is that of the object: a list that is read again brings all objects.
	version string
	// identity is the object without spec and status, for the row of its deletion; nil if it has no row.
	identity *unstructured.Unstructured
}

// see stores what is known of an object.
func (t *table) see(resource schema.GroupVersionResource, object *unstructured.Unstructured, hasRow bool) {
	if t.seen[resource] == nil {
		t.seen[resource] = map[types.UID]seen{}
	}
	known := seen{version: object.GetResourceVersion()}
	if hasRow {
		known.identity = identityOf(object)
	}
	t.seen[resource][object.GetUID()] = known
}

func identityOf(object *unstructured.Unstructured) *unstructured.Unstructured {
	identity := &unstructured.Unstructured{Object: map[string]any{}}
	identity.SetGroupVersionKind(object.GroupVersionKind())
	identity.SetNamespace(object.GetNamespace())
	identity.SetName(object.GetName())
	identity.SetUID(object.GetUID())
	identity.SetCreationTimestamp(object.GetCreationTimestamp())
	return identity
}

// follow prints each change of the objects of a table until the context ends.
func (t *table) follow(ctx context.Context) error {
	var lock sync.Mutex
	var group sync.WaitGroup
	for resource, version := range t.versions {
		group.Go(func() {
			w := &watching{
				begin: func(options metav1.ListOptions) (watch.Interface, error) {
					options.LabelSelector = t.selector
					return t.Dynamic.Resource(resource).Namespace(t.listed()).Watch(ctx, options)
				},
				each: func(event watch.Event) {
					object, ok := event.Object.(*unstructured.Unstructured)
					if !ok {
						return
					}
					lock.Lock()
					defer lock.Unlock()
					t.changed(ctx, resource, object, event.Type == watch.Deleted)
				},
				reread: func() (string, error) {
					lock.Lock()
					defer lock.Unlock()
					return t.reread(ctx, resource)
				},
			}
			w.until(ctx, version)
		})
	}
	group.Wait()
	return nil // the user ended it
}

// changed prints an object that was read again, unless it is as it was.
func (t *table) changed(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured, deleted bool) {
	if !deleted && t.isSeen(resource, object) {
		return
	}
	rows := t.read(resource, []unstructured.Unstructured{*object})
	if deleted {
		delete(t.seen[resource], object.GetUID())
		markDeleted(rows)
	}
	if err := t.print(ctx, rows); err != nil {
		t.Warn(fmt.Sprintf("a change cannot be printed: %v", err))
	}
}

// isSeen reports whether the object is as it was read before.
func (t *table) isSeen(resource schema.GroupVersionResource, object *unstructured.Unstructured) bool {
	known, ok := t.seen[resource][object.GetUID()]
	return ok && known.version == object.GetResourceVersion() && known.version != ""
}

func markDeleted(rows []*row) {
	for _, r := range rows {
		r.State, r.Reason, r.Message = "Deleted", "", ""
	}
}

// reread reads all objects of a resource, and prints those that are gone and those that changed. It returns the version of the list.
func (t *table) reread(ctx context.Context, resource schema.GroupVersionResource) (version string, err error) {
	there := map[types.UID]bool{}
	var changed []unstructured.Unstructured
	for options := (metav1.ListOptions{LabelSelector: t.selector, Limit: t.pageSize}); ; {
		page, err := t.Dynamic.Resource(resource).Namespace(t.listed()).List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			there[page.Items[i].GetUID()] = true
			if !t.isSeen(resource, &page.Items[i]) {
				changed = append(changed, page.Items[i])
			}
		}
		version = page.GetResourceVersion()
		if options.Continue = page.GetContinue(); options.Continue == "" {
			break
		}
	}
	return version, t.print(ctx, append(t.gone(resource, there), t.read(resource, changed)...))
}

// gone returns rows of the objects of a resource that are no longer there, and forgets these.
func (t *table) gone(resource schema.GroupVersionResource, there map[types.UID]bool) (rows []*row) {
	for uid, known := range t.seen[resource] {
		if there[uid] {
			continue
		}
		delete(t.seen[resource], uid)
		if known.identity != nil {
			if r, err := rowOf(known.identity); err == nil { // it was read before
				rows = append(rows, r)
			}
		}
	}
	markDeleted(rows)
	slices.SortFunc(rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(a.Namespace(), b.Namespace()), cmp.Compare(a.Name(), b.Name()))
	})
	return rows
}
