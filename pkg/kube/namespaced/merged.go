package namespaced

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// merged is the watch of all namespaces.
type merged struct {
	ctx        context.Context
	cancel     context.CancelFunc
	namespaces *Namespaces
	item       runtime.Object
	results    chan watch.Event
	streams    []*stream
	running    sync.WaitGroup
	// initial is the number of namespaces whose initial events have not ended.
	initial atomic.Int64
}

func newMerged(ctx context.Context, n *Namespaces, item runtime.Object) *merged {
	m := &merged{namespaces: n, item: item, results: make(chan watch.Event)}
	m.ctx, m.cancel = context.WithCancel(ctx)
	return m
}

// run passes on the events of all namespaces. initial reports whether they begin with what exists.
func (m *merged) run(initial bool) {
	if initial {
		m.initial.Store(int64(len(m.streams)))
	}
	for _, s := range m.streams {
		m.running.Go(s.run)
	}
	go func() {
		m.running.Wait()
		m.cancel()
		close(m.results)
	}()
}

// abandon ends the watches that have begun, because another could not.
func (m *merged) abandon() {
	m.cancel()
	for _, s := range m.streams {
		s.stop()
	}
}

// ResultChan returns the events.
func (m *merged) ResultChan() <-chan watch.Event { return m.results }

// Stop ends the watch.
func (m *merged) Stop() { m.cancel() }

func (m *merged) send(event watch.Event) {
	select {
	case m.results <- event:
	case <-m.ctx.Done():
	}
}

// fail ends the watch with an error.
func (m *merged) fail(status runtime.Object) {
	m.send(watch.Event{Type: watch.Error, Object: status})
	m.cancel()
}

// expire ends the watch with 410 Gone, after which an informer lists again.
func (m *merged) expire(namespace string, cause error) {
	status := apierrors.NewResourceExpired(fmt.Sprintf("list again: the watch of the namespace %s broke: %v", namespace, cause)).Status()
	m.fail(&status)
}

// initialEnded counts a namespace whose initial events have ended. After the last one, the informer knows what existed.
func (m *merged) initialEnded(resourceVersion string) {
	if m.initial.Add(-1) > 0 {
		return
	}
	bookmark := m.item.DeepCopyObject()
	if accessor, err := meta.Accessor(bookmark); err == nil {
		accessor.SetResourceVersion(resourceVersion)
		accessor.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	m.send(watch.Event{Type: watch.Bookmark, Object: bookmark})
}
