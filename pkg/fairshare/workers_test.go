package fairshare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func keyOf(namespace string, n int) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(n)}
}

// started takes workers for keys of a namespace until there are no more, and returns how many there were.
func started(w *Workers, namespace string, keys int) (dones []func()) {
	for n := range keys {
		if done, ok := w.TryStart(keyOf(namespace, n)); ok {
			dones = append(dones, done)
		}
	}
	return dones
}

func TestWorkersAreLeftToOtherNamespaces(t *testing.T) {
	w := NewWorkers(40, func(types.NamespacedName) {})
	for _, step := range []struct {
		namespace string
		want      int
	}{{"slow", 30}, {"slower", 7}, {"slowest", 2}, {"innocent", 1}} {
		if got := len(started(w, step.namespace, 100)); got != step.want {
			t.Errorf("%s holds %d workers, want %d", step.namespace, got, step.want)
		}
	}
}

func TestWorkersEnqueueAKeyThatFoundNoneWhenOneIsFree(t *testing.T) {
	var enqueued []types.NamespacedName
	w := NewWorkers(4, func(key types.NamespacedName) { enqueued = append(enqueued, key) })
	dones := started(w, "a", 5) // 3 of 4
	started(w, "a", 5)          // the same keys again are enqueued once
	if len(dones) != 3 || len(enqueued) != 0 {
		t.Fatalf("%d started, %v enqueued", len(dones), enqueued)
	}
	dones[0]()
	if len(enqueued) != 1 || enqueued[0] != keyOf("a", 3) {
		t.Errorf("%v is enqueued when a worker is free", enqueued)
	}
	dones[1]()
	if len(enqueued) != 2 || enqueued[1] != keyOf("a", 4) {
		t.Errorf("%v are enqueued when two are", enqueued)
	}
}

func TestWorkersEnqueueAKeyWhenAnotherNamespaceLeavesThemMore(t *testing.T) {
	var enqueued []types.NamespacedName
	w := NewWorkers(8, func(key types.NamespacedName) { enqueued = append(enqueued, key) })
	others := started(w, "others", 6)
	if got := len(started(w, "a", 3)); got != 1 {
		t.Fatalf("%d of 2 that are left are held", got)
	}
	for _, done := range others {
		done()
	}
	if len(enqueued) != 2 {
		t.Errorf("%v are enqueued when the others are done, want 2", enqueued)
	}
}

// A key that found no worker is put at the end of the work queue. If a later key took the worker that became free, it might wait for ever.
func TestWorkersStartTheKeysOfANamespaceInTheirOrder(t *testing.T) {
	var queue []types.NamespacedName
	w := NewWorkers(4, func(key types.NamespacedName) { queue = append(queue, key) })
	running := started(w, "a", 3)
	var want, got []types.NamespacedName
	for n := 3; n < 100; n++ {
		queue, want = append(queue, keyOf("a", n)), append(want, keyOf("a", n))
	}
	for next := 0; len(queue) > 0; {
		key := queue[0]
		queue = queue[1:]
		if done, ok := w.TryStart(key); ok {
			got, running = append(got, key), append(running, done)
		}
		if next < len(running) && (len(queue) == 0 || len(queue)%2 == 0) { // some keys come before a worker is free, and some after that
			running[next]()
			next++
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("they start in the order %v", got)
	}
}

// Whatever comes and ends in whatever order, every key is worked on in the end, and none beyond the total.
func TestWorkersForgetNoKey(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var queue []types.NamespacedName
		total := 1 + rng.IntN(8)
		w := NewWorkers(total, func(key types.NamespacedName) { queue = append(queue, key) })
		want := map[types.NamespacedName]bool{}
		for n := range 50 {
			key := keyOf(fmt.Sprint(rng.IntN(4)), n)
			queue, want[key] = append(queue, key), true
		}
		running := map[types.NamespacedName]func(){}
		for len(queue) > 0 || len(running) > 0 {
			if len(queue) > 0 && len(running) < total && (len(running) == 0 || rng.IntN(2) == 0) {
				key := queue[0]
				queue = queue[1:]
				if done, ok := w.TryStart(key); ok {
					running[key] = done
				}
				continue
			}
			for key, done := range running {
				delete(running, key)
				delete(want, key)
				done()
				break
			}
		}
		if len(want) > 0 {
			t.Fatalf("seed %d: no worker took %v", seed, want)
		}
		if w.used != 0 || len(w.held)+len(w.waiting)+len(w.granted) > 0 {
			t.Fatalf("seed %d: workers are still taken: %d, held %v, waiting %v, granted %v", seed, w.used, w.held, w.waiting, w.granted)
		}
	}
}
