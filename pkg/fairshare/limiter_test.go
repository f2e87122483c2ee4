package fairshare

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// take takes up to most slots for a namespace. It stops when it would have to wait.
func take(t *testing.T, l *Limiter, namespace string, most int) (releases []func()) {
	t.Helper()
	for len(releases) < most {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		release, err := l.Acquire(ctx, namespace)
		cancel()
		if err != nil {
			return releases
		}
		releases = append(releases, release)
	}
	return releases
}

func TestLimiterLetsNoNamespaceWaitForAnother(t *testing.T) {
	for name, test := range map[string]struct {
		total, each, greedy int
		// first is what the first greedy namespace gets, and newcomer what one gets that comes after all of them.
		first, newcomer int
	}{
		"alone":                  {total: 1024, each: 1024, greedy: 1, first: 114, newcomer: 102},
		"alone, with a limit":    {total: 1024, each: 64, greedy: 1, first: 64, newcomer: 64},
		"ten":                    {total: 1024, each: 64, greedy: 10, first: 64, newcomer: 45},
		"a hundred":              {total: 1024, each: 64, greedy: 100, first: 64, newcomer: 1},
		"a thousand":             {total: 1024, each: 64, greedy: 1000, first: 64, newcomer: 1},
		"more than there are":    {total: 8, each: 8, greedy: 20, first: 1, newcomer: 1},
		"one slot, which is had": {total: 1, each: 1, greedy: 1, first: 1, newcomer: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New(test.total, test.each)
				for n := range test.greedy {
					got := len(take(t, l, fmt.Sprint("greedy-", n), test.total))
					if n == 0 && got != test.first || got == 0 {
						t.Fatalf("namespace %d of %d got %d slots, want %d for the first", n+1, test.greedy, got, test.first)
					}
				}
				if got := len(take(t, l, "newcomer", test.each)); got != test.newcomer {
					t.Errorf("a newcomer beside %d got %d slots, want %d", test.greedy, got, test.newcomer)
				}
				if l.used > test.total+test.greedy+1 {
					t.Errorf("%d slots of %d are used by %d namespaces", l.used, test.total, test.greedy+1)
				}
			})
		})
	}
}

func TestLimiterOfAFewSlotsGivesANamespaceItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewShared(16, 8, 1)
		for i, want := range []int{8, 4, 2, 1, 1} {
			if got := len(take(t, l, fmt.Sprint("greedy-", i), 16)); got != want {
				t.Errorf("namespace %d got %d slots, want %d", i+1, got, want)
			}
		}
	})
}

func TestLimiterGrantsReleasedSlotsInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(20, 20)
		var others []func()
		for n := range 11 {
			others = append(others, take(t, l, fmt.Sprint("other-", n), 1)...)
		}
		var order []string
		for _, namespace := range []string{"a", "a", "a", "b", "b"} {
			go func() {
				if _, err := l.Acquire(t.Context(), namespace); err == nil {
					order = append(order, namespace)
				}
			}()
			synctest.Wait()
		}
		if got, want := fmt.Sprint(order), "[a b]"; got != want {
			t.Errorf("served at once are %s, want %s", got, want)
		}
		for _, release := range others[:3] {
			release()
			synctest.Wait()
		}
		if got, want := fmt.Sprint(order), "[a b a b]"; got != want {
			t.Errorf("served then are %s, want %s", got, want)
		}
		for _, release := range others[3:] {
			release()
			synctest.Wait()
		}
	})
}

func TestLimiterServesANamespaceInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1, 1)
		release, err := l.Acquire(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		var order []int
		for n := range 5 {
			go func() {
				release, err := l.Acquire(t.Context(), "a")
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, n) // one holds the only slot
				release()
			}()
			synctest.Wait()
		}
		release()
		synctest.Wait()
		if got, want := fmt.Sprint(order), "[0 1 2 3 4]"; got != want {
			t.Errorf("served %s, want %s", got, want)
		}
	})
}

func TestLimiterForgetsCancelledRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1, 1)
		release, err := l.Acquire(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, err := l.Acquire(ctx, "a")
			failed <- err
		}()
		synctest.Wait()
		if !l.Wanted() {
			t.Error("a slot is waited for, and not wanted")
		}
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("Acquire = %v", err)
		}
		if l.Wanted() {
			t.Error("a slot is wanted that nobody waits for")
		}
		if _, err := l.Acquire(ctx, "c"); !errors.Is(err, context.Canceled) {
			t.Errorf("Acquire of a context that has ended = %v", err)
		}
		release()
		l.isEmpty(t)
	})
}

func TestLimiterTryAcquire(t *testing.T) {
	l := New(100, 2)
	var releases []func()
	for range 2 {
		release, ok := l.TryAcquire("a")
		if !ok {
			t.Fatal("there is no slot")
		}
		releases = append(releases, release)
	}
	if _, ok := l.TryAcquire("a"); ok {
		t.Error("there is a slot beyond the limit")
	}
	other, ok := l.TryAcquire("b")
	if !ok {
		t.Fatal("there is no slot for another namespace")
	}
	for _, release := range append(releases, other) {
		release()
	}
	l.isEmpty(t)
}

func (l *Limiter) isEmpty(t *testing.T) {
	t.Helper()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.used != 0 || len(l.held)+len(l.waiting)+len(l.turns) != 0 {
		t.Errorf("%d slots are used, by %v; %v wait, in turns %v", l.used, l.held, l.waiting, l.turns)
	}
}

// No more slots are used than there are, every request is granted or cancelled, and in the end no slot is in use.
func TestLimiterKeepsItsBoundsUnderRandomLoad(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			l := New(1+rng.IntN(8), 1+rng.IntN(8))
			running, most, gaveUp, served := 0, 0, 0, 0
			for range 500 {
				namespace := fmt.Sprint(rng.IntN(5))
				patience, work := time.Duration(rng.IntN(1000))*time.Second, time.Duration(rng.IntN(10))*time.Second
				go func() {
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					release, err := l.Acquire(ctx, namespace)
					l.mutex.Lock()
					if err != nil {
						gaveUp++
						l.mutex.Unlock()
						return
					}
					running++
					served++
					most = max(most, running)
					l.mutex.Unlock()
					<-time.After(work)
					l.mutex.Lock()
					running--
					l.mutex.Unlock()
					release()
				}()
			}
			<-time.After(24 * time.Hour)
			synctest.Wait()
			if most > l.maxTotal+5 || served+gaveUp != 500 {
				t.Errorf("seed %d: %d slots of %d were used; %d were served and %d gave up", seed, most, l.maxTotal, served, gaveUp)
			}
			l.isEmpty(t)
		})
	}
}
