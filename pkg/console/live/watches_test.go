package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
)

// watched is a Live on the fake clients, and the namespaces that these were asked for.
type watched struct {
	*Live
	mutex      sync.Mutex
	namespaces []string
	// refused is the namespace in which nothing may be listed.
	refused string
}

func newWatched(t *testing.T, objects ...app) *watched {
	t.Helper()
	return newWatchedIn(t, nil, objects...)
}

// newWatchedIn returns a watched of an API server that serves kinds in other versions, by resource.
func newWatchedIn(t *testing.T, versions map[string]string, objects ...app) *watched {
	t.Helper()
	w := &watched{}
	lists, existing, podObjects := map[schema.GroupVersionResource]string{}, []runtime.Object{}, []runtime.Object{}
	for _, k := range kinds {
		k.Version = cmp.Or(versions[k.name()], k.Version)
		lists[k.GroupVersion().WithResource(k.resource)] = k.Kind + "List"
	}
	for _, a := range objects {
		source := a.object(1)
		if version := versions[apacheApps]; version != "" {
			source.SetAPIVersion("spark.apache.org/" + version)
		}
		existing = append(existing, source)
		podObjects = append(podObjects, newPodOf(a, "driver", "", corev1.PodRunning))
	}
	client, pods := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, existing...), fake.NewClientset(podObjects...)
	note := func(action clienttesting.Action) (bool, runtime.Object, error) {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.namespaces = append(w.namespaces, action.GetNamespace())
		if w.refused != "" && action.GetNamespace() == w.refused {
			return true, nil, apierrors.NewForbidden(action.GetResource().GroupResource(), "", errors.New("no right"))
		}
		return false, nil, nil
	}
	client.PrependReactor("list", "*", note)
	pods.PrependReactor("list", "*", note)
	w.Live = New(Options{
		Dynamic: client, Kubernetes: pods, Versions: versions, Clock: clock.RealClock{}, Logger: zap.NewNop().Sugar(), Settings: func() Settings { return Settings{} },
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return w
}

// until waits until the names are shown.
func (w *watched) until(t *testing.T, want ...string) {
	t.Helper()
	var names []string
	err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		names = nil
		for _, row := range w.Page(everything{}, Query{Sort: "name", Ascending: true}).Rows {
			names = append(names, row.Name)
		}
		return w.HasSynced() && slices.Equal(names, want), nil
	})
	if err != nil {
		t.Fatalf("the names are %q, want %q", names, want)
	}
}

func TestOnlyListedNamespacesAreRead(t *testing.T) {
	w := newWatched(t, app{namespace: "a", name: "one", states: runningStates}, app{namespace: "b", name: "two", states: runningStates})
	w.Watch([]string{"a"})
	w.until(t, "one")
	w.mutex.Lock()
	if others := slices.DeleteFunc(slices.Clone(w.namespaces), func(name string) bool { return name == "a" }); len(others) > 0 {
		t.Errorf("%q are read, too", others)
	}
	w.mutex.Unlock()
	w.Watch([]string{"b"})
	w.until(t, "two")
	if len(w.pods) != 1 {
		t.Errorf("Pods of a namespace that is no longer read are kept: %d", len(w.pods))
	}
	w.Watch(nil)
	w.until(t, "one", "two")
}

func TestNamespaceThatIsDroppedWhileItIsReadShowsNothing(t *testing.T) {
	apps := []app{{namespace: "b", name: "two", states: runningStates}}
	for n := range 500 {
		apps = append(apps, app{namespace: "a", name: fmt.Sprint("one-", n), states: runningStates})
	}
	w := newWatched(t, apps...)
	for range 3 {
		w.Watch([]string{"a"})
		for len(w.Page(everything{}, Query{}).Rows) == 0 {
			goruntime.Gosched()
		}
		w.Watch([]string{"b"})
		w.until(t, "two")
		if len(w.pods) != 1 {
			t.Errorf("Pods of a namespace that is no longer read are kept: %d", len(w.pods))
		}
	}
}

func TestKindIsReadInTheVersionThatIsServed(t *testing.T) {
	w := newWatchedIn(t, map[string]string{apacheApps: "v1beta1"}, app{namespace: "a", name: "one", states: runningStates})
	w.Watch(nil)
	w.until(t, "one")
	if rows := w.Page(everything{}, Query{}).Rows; rows[0].APIVersion != "spark.apache.org/v1beta1" || rows[0].State != runningStates[len(runningStates)-1] {
		t.Errorf("the row is %+v", rows[0])
	}
}

func TestNamespaceThatRefusesDelaysNoOther(t *testing.T) {
	w := newWatched(t, app{namespace: "a", name: "one", states: runningStates})
	w.refused = "b"
	w.Watch([]string{"a", "b"})
	w.until(t, "one")
	if since := w.StaleSince(); !since.IsZero() {
		t.Errorf("a namespace that refuses makes rows stale since %s", since)
	}
}

func TestRowsAreStaleWhileTheAPIServerDoesNotAnswer(t *testing.T) {
	e := newEnv(t)
	one, two := &informer{}, &informer{}
	gone := errors.New("connection refused")
	e.freshness.note(t.Context(), one, gone)
	if since := e.StaleSince(); !since.IsZero() {
		t.Errorf("a watch that is opened again makes rows stale since %s", since)
	}
	e.clock.Step(3 * time.Second)
	e.freshness.note(t.Context(), two, gone)
	e.freshness.note(t.Context(), one, gone)
	if since := e.StaleSince(); !since.Equal(now) {
		t.Errorf("stale since %s, want %s", since, now)
	}
	e.freshness.note(t.Context(), one, nil)
	e.clock.Step(3 * time.Second)
	if since := e.StaleSince(); !since.Equal(now.Add(3 * time.Second)) {
		t.Errorf("stale since %s", since)
	}
	e.freshness.note(t.Context(), two, apierrors.NewForbidden(schema.GroupResource{}, "", gone))
	if since := e.StaleSince(); !since.IsZero() {
		t.Errorf("a refusal is an answer, but stale since %s", since)
	}
}
