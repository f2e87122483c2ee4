package masterui_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/cluster"
	. "github.com/firesteel-dev/firesteel/pkg/cluster/masterui"
)

const uid = types.UID("5f0a7c9e")

var key = types.NamespacedName{Namespace: "team-a", Name: "pi"}

// masters answer as a test has them, and count.
type masters struct {
	mutex  sync.Mutex
	page   Page
	err    error
	asked  []Master
	told   []types.NamespacedName
	answer func(context.Context)
	// lost says that no cluster is this process's any more.
	lost bool
}

func (m *masters) owned(types.NamespacedName, types.UID) bool { return !m.lost }

func (m *masters) read(ctx context.Context, master Master) (Page, error) {
	m.mutex.Lock()
	m.asked = append(m.asked, master)
	answer := m.answer
	m.mutex.Unlock()
	if answer != nil {
		answer(ctx)
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.page, m.err
}

func (m *masters) news(key types.NamespacedName) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.told = append(m.told, key)
}

// say has the masters answer otherwise from now on.
func (m *masters) say(page Page, err error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.page, m.err = page, err
}

// counts are how often they were asked, and how often there was news, since the last time.
func (m *masters) counts() (asked, told int) {
	synctest.Wait()
	m.mutex.Lock()
	defer m.mutex.Unlock()
	asked, told = len(m.asked), len(m.told)
	m.asked, m.told = nil, nil
	return asked, told
}

// watching runs a test with a watch over masters, on a clock of its own.
func watching(t *testing.T, test func(t *testing.T, w *Watch, m *masters)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		m := &masters{page: Page{Status: "ALIVE", AliveWorkers: 1}}
		test(t, NewWatch(ctx, m.read, m.owned, m.news), m)
	})
}

func (m *masters) expect(t *testing.T, what string, asked, told int) {
	t.Helper()
	if gotAsked, gotTold := m.counts(); gotAsked != asked || gotTold != told {
		t.Errorf("%s: asked %d times with %d news, want %d and %d", what, gotAsked, gotTold, asked, told)
	}
}

func TestAMasterIsAskedInItsIntervalAndNewsIsTold(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		if w.Seen(uid) != nil {
			t.Error("a master was seen that nobody asked")
		}
		w.Follow(uid, key, pi, 10*time.Second)
		m.expect(t, "at once", 1, 1)
		if diff := cmp.Diff(&cluster.Master{Alive: true, Workers: 1}, w.Seen(uid)); diff != "" {
			t.Error(diff)
		}
		time.Sleep(time.Minute)
		m.expect(t, "nothing new", 6, 0)
		m.say(Page{Status: "ALIVE", AliveWorkers: 2}, nil)
		time.Sleep(10 * time.Second)
		m.expect(t, "another worker", 1, 1)
		m.say(Page{Status: "RECOVERING"}, nil)
		time.Sleep(10 * time.Second)
		m.expect(t, "it recovers", 1, 1)
		if seen := w.Seen(uid); seen.Alive || seen.Workers != 0 {
			t.Errorf("seen %+v", seen)
		}
		m.say(Page{}, &Closed{Answer: "it answers 403 Forbidden"})
		time.Sleep(10 * time.Second)
		m.expect(t, "it is closed", 1, 1)
		if diff := cmp.Diff(&cluster.Master{Closed: true, Problem: "it answers 403 Forbidden"}, w.Seen(uid)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestASilentMasterIsAskedEverLessOften(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		began := time.Now()
		m.say(Page{}, errors.New("connection refused"))
		w.Follow(uid, key, pi, 2*time.Second)
		time.Sleep(20 * time.Second)
		m.expect(t, "at first", 11, 1)
		time.Sleep(time.Hour)
		m.counts()
		time.Sleep(time.Hour)
		m.expect(t, "after an hour", 120, 0)
		if seen := w.Seen(uid); !seen.FailingSince.Equal(began) || seen.Problem != "connection refused" {
			t.Errorf("seen %+v, since %s", seen, seen.FailingSince.Sub(began))
		}
		m.say(Page{Status: "ALIVE"}, nil)
		time.Sleep(30 * time.Second)
		m.counts()
		time.Sleep(10 * time.Second)
		m.expect(t, "it answers again", 5, 0)
		if seen := w.Seen(uid); !seen.FailingSince.IsZero() {
			t.Errorf("seen %+v", seen)
		}
	})
}

func TestWhatIsAskedMoreOftenOrHastenedIsAskedAtOnce(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		w.Follow(uid, key, pi, 10*time.Second)
		m.counts()
		w.Follow(uid, key, pi, 2*time.Second)
		m.expect(t, "more often", 1, 0)
		w.Follow(uid, key, pi, 10*time.Second)
		m.expect(t, "less often", 0, 0)
		w.Hasten(uid)
		m.expect(t, "hastened", 1, 0)
		time.Sleep(time.Minute)
		m.expect(t, "in its interval", 6, 0)
		w.Hasten("another")
	})
}

func TestAClusterThatIsForgottenIsNotAsked(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		w.Follow(uid, key, pi, 2*time.Second)
		m.counts()
		w.Follow(uid, key, pi, 0)
		time.Sleep(time.Hour)
		m.expect(t, "not followed", 0, 0)
		if w.Seen(uid) != nil {
			t.Error("what was forgotten is seen")
		}
		w.Forget(uid)
	})
}

func TestWhatWasForgottenInTheMiddleTellsNothing(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		m.answer = func(ctx context.Context) { <-ctx.Done() }
		w.Follow(uid, key, pi, 2*time.Second)
		m.expect(t, "being asked", 1, 0)
		w.Forget(uid)
		m.expect(t, "forgotten", 0, 0)
	})
}

func TestAMasterThatMovedIsAskedWhereItIs(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		w.Follow(uid, key, pi, 10*time.Second)
		m.counts()
		moved := pi
		moved.Port = 8099
		m.answer = func(ctx context.Context) { <-ctx.Done() }
		w.Follow(uid, key, moved, 10*time.Second)
		synctest.Wait()
		if w.Seen(uid) != nil {
			t.Error("what was told at the old place is taken for the new one's")
		}
		if m.asked[0] != moved {
			t.Errorf("asked %+v", m.asked)
		}
	})
}

// A reconcile may be in flight when another replica becomes the leader, or when its cluster is deleted.
func TestMastersOfWhatIsNotOwnedAreNotAsked(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		w.Follow(uid, key, pi, 10*time.Second)
		w.Follow("other", types.NamespacedName{Namespace: "other", Name: "c"}, pi, 10*time.Second)
		m.expect(t, "at first", 2, 2)
		m.lost = true
		w.ForgetWhere(func(gone types.NamespacedName) bool { return gone == key })
		w.Follow(uid, key, pi, 10*time.Second)
		time.Sleep(time.Minute)
		m.expect(t, "then", 6, 0)
		m.lost = false
		w.Follow(uid, key, pi, 10*time.Second)
		m.expect(t, "when it is owned again", 1, 1)
	})
}

// A master is its tenant's, and may keep whoever asks it waiting.
func TestMastersOfOneNamespaceKeepNoOtherWaiting(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		m.answer = func(ctx context.Context) { <-ctx.Done() }
		for i := range 1000 {
			w.Follow(types.UID(fmt.Sprint(i)), types.NamespacedName{Namespace: fmt.Sprint("hostile-", i/100), Name: "c"}, pi, time.Hour)
		}
		m.counts()
		m.answer = nil
		w.Follow(uid, key, pi, time.Hour)
		m.expect(t, "another's", 1, 1)
	})
}

// Masters that do not answer keep no other waiting for long.
func TestMastersAreAskedAFewAtATime(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		m.answer = func(ctx context.Context) {
			select {
			case <-time.After(5 * time.Second):
			case <-ctx.Done():
			}
		}
		for i := range 200 {
			w.Follow(types.UID(fmt.Sprint(i)), key, pi, time.Hour)
		}
		m.expect(t, "at once", 64, 0)
		time.Sleep(5 * time.Second)
		m.expect(t, "then", 64, 64)
		time.Sleep(time.Minute)
		m.expect(t, "all", 200-2*64, 200-64)
	})
}
