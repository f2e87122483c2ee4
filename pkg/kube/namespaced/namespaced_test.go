package namespaced

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// soon is longer than an informer takes to list again.
const soon = time.Minute

// inBothModes runs a test with an informer that streams what exists, and with one that lists.
func inBothModes(t *testing.T, test func(t *testing.T, lists listOnly)) {
	t.Helper()
	for name, lists := range map[string]listOnly{"streaming": false, "listing": true} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { test(t, lists) }) })
	}
}

func after(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the time of synctest's bubble
	synctest.Wait()
}

// expect compares the Pods of an informer.
func expect(t *testing.T, when string, informer cache.SharedIndexInformer, want ...string) {
	t.Helper()
	if !informer.HasSynced() {
		t.Errorf("%s: the informer has not synced", when)
	}
	got := informer.GetStore().ListKeys()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: the informer has %v, want %v", when, got, want)
	}
}

// restarts counts what Allowed is called for.
func restarts() (count *int, allowed func()) {
	count = new(int)
	return count, func() { *count++ }
}

func TestInformerHasTheObjectsOfListedNamespaces(t *testing.T) {
	inBothModes(t, func(t *testing.T, lists listOnly) {
		server := newAPIServer()
		for _, namespace := range []string{"a", "b", "unlisted"} {
			server.write(watch.Added, namespace, "same")
		}
		informer := server.informer(t, New([]string{"a", "b", "empty"}, nil), lists)
		after(time.Second)
		expect(t, "at the start", informer, "a/same", "b/same")
		server.write(watch.Added, "empty", "new")
		server.write(watch.Deleted, "a", "same")
		server.write(watch.Added, "unlisted", "new")
		synctest.Wait()
		expect(t, "after changes", informer, "b/same", "empty/new")
		if server.begun["unlisted"]+server.lists["unlisted"] > 0 {
			t.Error("a namespace was asked that is not listed")
		}
		requests := server.requests()
		after(24 * time.Hour)
		if more := server.requests() - requests; more > 0 {
			t.Errorf("%d requests were made while nothing happened", more)
		}
	})
}

// Each namespace has resource versions of its own: those of another one would skip its changes.
func TestEachNamespaceGoesOnWhereItsWatchEnded(t *testing.T) {
	inBothModes(t, func(t *testing.T, lists listOnly) {
		server := newAPIServer()
		server.write(watch.Added, "a", "one")
		informer := server.informer(t, New([]string{"a", "b"}, nil), lists)
		after(time.Hour)
		listed := server.lists["a"]
		server.forbid("b", true) // for the moment between two watches
		server.end("b")
		synctest.Wait()
		server.write(watch.Added, "b", "unseen")
		server.write(watch.Added, "a", "two")
		server.end("a")
		synctest.Wait()
		expect(t, "while one is away", informer, "a/one", "a/two")
		server.forbid("b", false)
		after(soon)
		expect(t, "after both went on", informer, "a/one", "a/two", "b/unseen")
		if more := server.lists["a"] - listed; more > 0 {
			t.Errorf("a was listed %d times more", more)
		}
	})
}

// A namespace in which nothing happens would have to be listed again when its resource version is compacted.
func TestBookmarksKeepAQuietNamespaceCurrent(t *testing.T) {
	inBothModes(t, func(t *testing.T, lists listOnly) {
		server := newAPIServer()
		n := New([]string{"quiet", "busy"}, nil)
		informer := server.informer(t, n, lists)
		after(time.Hour)
		server.write(watch.Added, "busy", "pod")
		server.compact()
		server.bookmarks("quiet")
		requests := server.requests()
		synctest.Wait()
		server.end("quiet")
		after(soon)
		expect(t, "after it went on", informer, "busy/pod")
		if more := server.requests() - requests; more != 1 {
			t.Errorf("%d requests were made, want one that goes on", more)
		}
	})
}

func TestBrokenWatchOfOneNamespaceMakesTheInformerListAgain(t *testing.T) {
	for name, broken := range map[string]func(*apiserver){
		"by an error": func(a *apiserver) { a.breakWith("b", apierrors.NewInternalError(fmt.Errorf("etcd is away"))) },
		"by 410":      func(a *apiserver) { a.breakWith("b", apierrors.NewResourceExpired("too old")) },
		"compacted": func(a *apiserver) {
			a.compact()
			a.end("b")
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBothModes(t, func(t *testing.T, lists listOnly) {
				server := newAPIServer()
				server.write(watch.Added, "a", "one")
				server.write(watch.Added, "b", "one")
				informer := server.informer(t, New([]string{"a", "b"}, nil), lists)
				after(time.Hour)
				deleted := 0
				if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) { deleted++ }}); err != nil {
					t.Fatal(err)
				}
				server.each("b", func(w *serverWatch) { delete(server.watches, w); server.watches[w] = "lost" })
				server.write(watch.Added, "b", "unseen")
				server.each("lost", func(w *serverWatch) { server.watches[w] = "b" })
				broken(server)
				after(soon)
				expect(t, "after it listed again", informer, "a/one", "b/one", "b/unseen")
				if deleted > 0 {
					t.Errorf("the informer reports %d deletions", deleted)
				}
				requests := server.requests()
				after(24 * time.Hour)
				if more := server.requests() - requests; more > 0 {
					t.Errorf("%d requests were made after that", more)
				}
			})
		})
	}
}

func TestNamespaceThatRefusesIsEmptyAndBlocksNoOther(t *testing.T) {
	inBothModes(t, func(t *testing.T, lists listOnly) {
		server := newAPIServer()
		server.write(watch.Added, "a", "one")
		server.write(watch.Added, "refusing", "one")
		server.forbid("refusing", true)
		count, allowed := restarts()
		n := New([]string{"a", "refusing"}, allowed)
		informer := server.informer(t, n, lists)
		after(2 * time.Second)
		expect(t, "while it refuses", informer, "a/one")
		if got := n.Refused(); !slices.Equal(got, []string{"refusing"}) {
			t.Errorf("the namespaces that refuse are %v", got)
		}
		after(time.Hour)
		requests := server.requests()
		after(10 * time.Minute)
		if more := server.requests() - requests; more < 15 || more > 25 {
			t.Errorf("it was asked %d times in 10 minutes, want every 30 s", more)
		}
		server.forbid("refusing", false)
		after(soon)
		if *count != 1 {
			t.Errorf("the informers were started anew %d times", *count)
		}
		if got := n.Refused(); len(got) > 0 {
			t.Errorf("the namespaces that refuse are still %v", got)
		}
		expect(t, "until then", informer, "a/one")
	})
}

func TestNamespacesThatAllRefuseLetTheInformerSync(t *testing.T) {
	inBothModes(t, func(t *testing.T, lists listOnly) {
		server := newAPIServer()
		server.forbid("a", true)
		server.forbid("b", true)
		count, allowed := restarts()
		informer := server.informer(t, New([]string{"a", "b"}, allowed), lists)
		after(time.Minute)
		expect(t, "without rights", informer)
		server.forbid("a", false)
		server.forbid("b", false)
		after(soon)
		if *count != 1 {
			t.Errorf("the informers were started anew %d times for two namespaces", *count)
		}
	})
}

// The objects may still be there: the informer keeps them, and learns later what happened.
func TestNamespaceThatLosesItsRightsKeepsItsObjects(t *testing.T) {
	inBothModes(t, func(t *testing.T, lists listOnly) {
		server := newAPIServer()
		server.write(watch.Added, "a", "kept")
		server.write(watch.Added, "a", "deleted")
		count, allowed := restarts()
		n := New([]string{"a", "b"}, allowed)
		informer := server.informer(t, n, lists)
		after(time.Hour)
		server.forbid("a", true)
		server.end("a")
		synctest.Wait()
		server.write(watch.Deleted, "a", "deleted")
		after(time.Hour)
		expect(t, "without rights", informer, "a/deleted", "a/kept")
		if got := n.Refused(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("the namespaces that refuse are %v", got)
		}
		server.forbid("a", false)
		after(soon)
		expect(t, "with rights", informer, "a/kept")
		if *count != 0 || len(n.Refused()) > 0 {
			t.Errorf("started anew %d times, and %v still refuse", *count, n.Refused())
		}
	})
}

func TestListReadsAllPagesOfAllNamespaces(t *testing.T) {
	server := newAPIServer()
	for i := range 7 {
		server.write(watch.Added, "a", fmt.Sprint("pod-", i))
		server.write(watch.Added, "b", fmt.Sprint("pod-", i))
	}
	server.write(watch.Added, "c", "pod")
	list, err := collect(New([]string{"a", "b", "c"}, nil), server.in, &corev1.Pod{}).List(t.Context(), metav1.ListOptions{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 15 || list.Continue != "" {
		t.Errorf("the list has %d Pods, and goes on at %q", len(list.Items), list.Continue)
	}
	if want := "namespaces:a=15,b=15,c=15"; list.ResourceVersion != want {
		t.Errorf("the resource version is %s, want %s", list.ResourceVersion, want)
	}
	if server.lists["a"] != 3 || server.lists["c"] != 1 {
		t.Errorf("the namespaces were listed with %v requests, want one for each page of three", server.lists)
	}
}

func TestListIsInEachNamespaceAtLeastAsNewAsTheLast(t *testing.T) {
	for given, want := range map[string]map[string]string{
		"namespaces:a=1,b=30": {"a": "1", "b": "30", "c": ""},
		"12":                  {"a": "12", "b": "12", "c": "12"},
	} {
		server := newAPIServer()
		_, err := collect(New([]string{"a", "b", "c"}, nil), server.in, &corev1.Pod{}).List(t.Context(), metav1.ListOptions{ResourceVersion: given})
		if err != nil || !maps.Equal(server.listed, want) {
			t.Errorf("%s: the namespaces were listed from %v (%v), want %v", given, server.listed, err, want)
		}
	}
}

// An informer lists again with growing delays.
func TestWatchThatEndsAtOnceIsNotBegunAgainAtOnce(t *testing.T) {
	inBothModes(t, func(t *testing.T, lists listOnly) {
		server := newAPIServer()
		server.informer(t, New([]string{"a", "b"}, nil), lists)
		after(time.Hour)
		server.brief = true
		server.end("a")
		requests := server.requests()
		after(time.Hour)
		if more := server.requests() - requests; more > 1500 {
			t.Errorf("%d requests were made in an hour", more)
		}
	})
}

func TestBrokenWatchEndsTheMergedOneWith410(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		initial := true
		merged, err := collect(New([]string{"a", "b"}, nil), server.in, &corev1.Pod{}).Watch(t.Context(), metav1.ListOptions{SendInitialEvents: &initial})
		if err != nil {
			t.Fatal(err)
		}
		bookmark := <-merged.ResultChan()
		if bookmark.Type != watch.Bookmark || bookmark.Object.(*corev1.Pod).Annotations[metav1.InitialEventsAnnotationKey] != "true" {
			t.Errorf("the first event is %v", bookmark)
		}
		server.breakWith("a", apierrors.NewInternalError(fmt.Errorf("etcd is away")))
		event := <-merged.ResultChan()
		if err := apierrors.FromObject(event.Object); event.Type != watch.Error || !apierrors.IsResourceExpired(err) {
			t.Errorf("the watch ends with %v", event)
		}
		if event, ok := <-merged.ResultChan(); ok {
			t.Errorf("after its end it has %v", event)
		}
		if len(server.watches) > 0 {
			t.Errorf("%d watches run on", len(server.watches))
		}
	})
}

func TestWatchBeginsNowhereButWhereAListEnded(t *testing.T) {
	server := newAPIServer()
	pods := collect(New([]string{"a", "b"}, nil), server.in, &corev1.Pod{})
	_, err := pods.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "12"})
	if !apierrors.IsResourceExpired(err) || len(server.begun) > 0 {
		t.Errorf("the answer is %v, and %v were watched", err, server.begun)
	}
}

func TestStoppedWatchEndsThoseOfAllNamespaces(t *testing.T) {
	for name, events := range map[string]int{"at once": 0, "after an event": 1} {
		t.Run(name, func(t *testing.T) { stopsAll(t, events) })
	}
}

func stopsAll(t *testing.T, events int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		for i := range 10 {
			server.write(watch.Added, "a", fmt.Sprint("pod-", i))
		}
		pods := collect(New([]string{"a", "b"}, nil), server.in, &corev1.Pod{})
		merged, err := pods.Watch(context.WithoutCancel(t.Context()), metav1.ListOptions{SendInitialEvents: new(bool)})
		if err != nil {
			t.Fatal(err)
		}
		if events > 0 {
			<-merged.ResultChan()
		}
		merged.Stop()
		merged.Stop()
		synctest.Wait()
		for range merged.ResultChan() {
			t.Error("an event came after the watch was stopped")
		}
		if len(server.watches) > 0 {
			t.Errorf("%d watches run on", len(server.watches))
		}
	})
}

func TestWatchThatCannotBeginEndsTheOthers(t *testing.T) {
	server := newAPIServer()
	n := New([]string{"a", "b", "c"}, nil)
	failing := func(namespace string) client[*corev1.PodList] {
		if namespace == "b" {
			return unavailable{}
		}
		return server.in(namespace)
	}
	initial := true
	_, err := collection[corev1.PodList, *corev1.PodList]{n, failing, &corev1.Pod{}}.Watch(t.Context(), metav1.ListOptions{SendInitialEvents: &initial})
	if !apierrors.IsServiceUnavailable(err) || len(server.watches) > 0 {
		t.Errorf("the error is %v, and %d watches run", err, len(server.watches))
	}
}

type unavailable struct{}

func (unavailable) List(context.Context, metav1.ListOptions) (*corev1.PodList, error) {
	return nil, apierrors.NewServiceUnavailable("starting")
}

func (unavailable) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, apierrors.NewServiceUnavailable("starting")
}

func TestPositionsOfMergedListsAreParsedAndPrinted(t *testing.T) {
	for text, want := range map[string]positions{
		"namespaces:":              {},
		"namespaces:a=1":           {"a": "1"},
		"namespaces:a=1,b=,c-d=30": {"a": "1", "b": "", "c-d": "30"},
	} {
		got, ok := parsePositions(text)
		if !ok || fmt.Sprint(got) != fmt.Sprint(want) || want.String() != text {
			t.Errorf("%s is %v, %t, and %v is %s", text, got, ok, want, want)
		}
	}
	for _, text := range []string{"", "0", "12"} {
		if _, ok := parsePositions(text); ok {
			t.Errorf("%q is taken for that of a merged list", text)
		}
	}
}
