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

// masters answer as a test sets them, and count the requests.
type masters struct {
	mutex   sync.Mutex
	page    Page
	err     error
	asked   []Master
	changed []types.NamespacedName
	answer  func(context.Context)
	// lost makes this process lead no cluster any more.
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
	m.changed = append(m.changed, key)
}

// setAnswer sets the masters' answer from now on.
func (m *masters) setAnswer(page Page, err error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.page, m.err = page, err
}

// counts returns the numbers of requests and of changes since the last call.
func (m *masters) counts() (asked, changed int) {
	synctest.Wait()
	m.mutex.Lock()
	defer m.mutex.Unlock()
	asked, changed = len(m.asked), len(m.changed)
	m.asked, m.changed = nil, nil
	return asked, changed
}

// watching runs a test with a watch over masters and its own clock.
func watching(t *testing.T, test func(t *testing.T, w *Watch, m *masters)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		m := &masters{page: Page{Status: "ALIVE", AliveWorkers: 1}}
		test(t, NewWatch(ctx, m.read, m.owned, m.news), m)
	})
}

func (m *masters) expect(t *testing.T, what string, asked, changed int) {
	t.Helper()
	if gotAsked, gotChanged := m.counts(); gotAsked != asked || gotChanged != changed {
		t.Errorf("%s: asked %d times with %d changes, want %d and %d", what, gotAsked, gotChanged, asked, changed)
	}
}

func TestAMasterIsPolledInItsIntervalAndChangesAreReported(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		if w.Seen(uid) != nil {
			t.Error("a master has an answer before it was polled")
		}
		w.Follow(uid, key, pi, 10*time.Second)
		m.expect(t, "at once", 1, 1)
		if diff := cmp.Diff(&cluster.Master{Alive: true, Workers: 1}, w.Seen(uid)); diff != "" {
			t.Error(diff)
		}
		time.Sleep(time.Minute)
		m.expect(t, "nothing new", 6, 0)
		m.setAnswer(Page{Status: "ALIVE", AliveWorkers: 2}, nil)
		time.Sleep(10 * time.Second)
		m.expect(t, "another worker", 1, 1)
		m.setAnswer(Page{Status: "RECOVERING"}, nil)
		time.Sleep(10 * time.Second)
		m.expect(t, "it recovers", 1, 1)
		if seen := w.Seen(uid); seen.Alive || seen.Workers != 0 {
			t.Errorf("seen %+v", seen)
		}
		m.setAnswer(Page{}, &Closed{Answer: "it answers 403 Forbidden"})
		time.Sleep(10 * time.Second)
		m.expect(t, "it is closed", 1, 1)
		if diff := cmp.Diff(&cluster.Master{Closed: true, Problem: "it answers 403 Forbidden"}, w.Seen(uid)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAMasterThatDoesNotAnswerIsPolledLessAndLessOften(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		began := time.Now()
		m.setAnswer(Page{}, errors.New("connection refused"))
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
		m.setAnswer(Page{Status: "ALIVE"}, nil)
		time.Sleep(30 * time.Second)
		m.counts()
		time.Sleep(10 * time.Second)
		m.expect(t, "it answers again", 5, 0)
		if seen := w.Seen(uid); !seen.FailingSince.IsZero() {
			t.Errorf("seen %+v", seen)
		}
	})
}

func TestAShorterIntervalAndPollNowAskAtOnce(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		w.Follow(uid, key, pi, 10*time.Second)
		m.counts()
		w.Follow(uid, key, pi, 2*time.Second)
		m.expect(t, "more often", 1, 0)
		w.Follow(uid, key, pi, 10*time.Second)
		m.expect(t, "less often", 0, 0)
		w.PollNow(uid)
		m.expect(t, "pollNowed", 1, 0)
		time.Sleep(time.Minute)
		m.expect(t, "in its interval", 6, 0)
		w.PollNow("another")
	})
}

func TestAForgottenClusterIsNotPolled(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		w.Follow(uid, key, pi, 2*time.Second)
		m.counts()
		w.Follow(uid, key, pi, 0)
		time.Sleep(time.Hour)
		m.expect(t, "not followed", 0, 0)
		if w.Seen(uid) != nil {
			t.Error("a forgotten cluster has an answer")
		}
		w.Forget(uid)
	})
}

func TestAClusterForgottenDuringARequestReportsNoChange(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		m.answer = func(ctx context.Context) { <-ctx.Done() }
		w.Follow(uid, key, pi, 2*time.Second)
		m.expect(t, "being asked", 1, 0)
		w.Forget(uid)
		m.expect(t, "forgotten", 0, 0)
	})
}

func TestAMovedMasterIsPolledAtItsNewAddress(t *testing.T) {
	watching(t, func(t *testing.T, w *Watch, m *masters) {
		w.Follow(uid, key, pi, 10*time.Second)
		m.counts()
		moved := pi
		moved.Port = 8099
		m.answer = func(ctx context.Context) { <-ctx.Done() }
		w.Follow(uid, key, moved, 10*time.Second)
		synctest.Wait()
		if w.Seen(uid) != nil {
			t.Error("the answer from the old address is used for the new one")
		}
		if m.asked[0] != moved {
			t.Errorf("asked %+v", m.asked)
		}
	})
}

// A reconcile may be running when another replica becomes the leader, or when its cluster is deleted.
func TestMastersOfOtherReplicasAreNotPolled(t *testing.T) {
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

// A tenant's master may answer slowly on purpose.
func TestMastersOfOneNamespaceDoNotDelayOthers(t *testing.T) {
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

// Masters that do not answer do not delay others for long.
func TestConcurrentRequestsPerNamespaceAreBounded(t *testing.T) {
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
