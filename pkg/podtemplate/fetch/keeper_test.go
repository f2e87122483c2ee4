package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate/fetch"
)

// labelledPod is a template whose label the tests look for.
const labelledPod = "apiVersion: v1\nkind: Pod\nmetadata: {labels: {team: a}}\nspec: {serviceAccountName: spark}\n"

// templateServer serves the templates that a keeper of a test fetches.
type templateServer struct {
	*fetch.Keeper
	// answer is what the next fetches bring.
	answer  func(ctx context.Context) ([]byte, error)
	fetched atomic.Int32
	told    chan types.NamespacedName
}

func newTemplateServer(t *testing.T, answer func(context.Context) ([]byte, error)) *templateServer {
	s := &templateServer{answer: answer, told: make(chan types.NamespacedName, 100)}
	s.Keeper = fetch.NewKeeper(t.Context(), func(ctx context.Context, _ podtemplate.Location) ([]byte, error) {
		s.fetched.Add(1)
		return s.answer(ctx)
	}, func(key types.NamespacedName) { s.told <- key })
	return s
}

func gives(text string) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return []byte(text), nil }
}

func fails(err error) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return nil, err }
}

func attempt(number int64) fetch.Attempt {
	return fetch.Attempt{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: "pi"}, UID: "uid-of-pi", Number: number}
}

var here = podtemplate.Location{Scheme: "https", Host: "example.com", Path: "/pi.yaml"}

// ask asks, and says in a word what the answer is.
func (s *templateServer) ask(t *testing.T, number int64) string {
	t.Helper()
	template, _, err := s.Get(attempt(number), here)
	var pending *fetch.Pending
	switch {
	case err == nil && template.Labels["team"] == "a":
		return "there"
	case errors.As(err, &pending) && pending.Trouble != nil:
		return "trouble: " + pending.Trouble.Error()
	case errors.As(err, &pending):
		return "pending"
	case errors.As(err, new(*finding.Finding)):
		return "refused"
	case errors.As(err, new(*fetch.Missed)):
		return "missed: " + err.Error()
	default:
		t.Fatalf("template %+v, error %v", template, err)
		return ""
	}
}

func (s *templateServer) wants(t *testing.T, number int64, want string, fetched, told int) {
	t.Helper()
	if got := int(s.fetched.Load()); got != fetched {
		t.Errorf("it was fetched %d times, want %d", got, fetched)
	}
	if got := len(s.told); got != told {
		t.Errorf("the application was told of %d times, want %d", got, told)
	}
	if got := s.ask(t, number); got != want { // the last, since it may have the template fetched meanwhile
		t.Errorf("the template is %q, want %q", got, want)
	}
}

func TestATemplateIsFetchedOnceForAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTemplateServer(t, gives(labelledPod))
		for range 3 {
			s.ask(t, 0)
		}
		synctest.Wait()
		s.wants(t, 0, "there", 1, 1)
		if key := <-s.told; key != attempt(0).NamespacedName {
			t.Errorf("told of %s", key)
		}
		s.answer = gives("changed")
		s.wants(t, 0, "there", 1, 0)
		s.wants(t, 1, "pending", 1, 0)
		synctest.Wait()
		s.wants(t, 1, "refused", 2, 1)
	})
}

func TestGetHandsOutCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTemplateServer(t, gives(labelledPod))
		s.ask(t, 0)
		synctest.Wait()
		template, _, _ := s.Get(attempt(0), here)
		template.Labels["team"] = "changed"
		s.wants(t, 0, "there", 1, 1)
	})
}

func TestGetReportsDroppedFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTemplateServer(t, gives("apiVersion: v1\nkind: Pod\nmetadata: {labels: {team: a}}\nspecs: {}\n"))
		s.ask(t, 0)
		synctest.Wait()
		s.wants(t, 0, "there", 1, 1)
		if _, dropped, _ := s.Get(attempt(0), here); len(dropped) != 1 {
			t.Errorf("dropped %q", dropped)
		}
	})
}

func TestGetReportsAFailureOnceAndThenTheEndOfItsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTemplateServer(t, fails(errors.New("connection refused")))
		s.wants(t, 0, "pending", 0, 0)
		synctest.Wait()
		s.wants(t, 0, "trouble: connection refused", 1, 1)
		s.answer = fails(errors.New("connection reset"))
		time.Sleep(time.Minute)
		synctest.Wait()
		s.wants(t, 0, "trouble: connection refused", 6, 1)
		time.Sleep(time.Hour)
		s.wants(t, 0, "missed: connection reset", 8, 2)
	})
}

func TestGetRetriesATemporaryFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTemplateServer(t, fails(errors.New("connection refused")))
		s.ask(t, 0)
		synctest.Wait()
		s.answer = gives(labelledPod)
		time.Sleep(1500 * time.Millisecond)
		s.wants(t, 0, "there", 2, 2)
	})
}

func TestGetDoesNotRetryARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTemplateServer(t, fails(&finding.Finding{Message: "is not there", Remedy: "put it there"}))
		s.ask(t, 0)
		time.Sleep(time.Hour)
		s.wants(t, 0, "refused", 1, 1)
	})
}

func TestGetEndsARequestWithoutResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTemplateServer(t, func(ctx context.Context) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		s.ask(t, 0)
		time.Sleep(10*time.Second - 1)
		s.wants(t, 0, "pending", 1, 0)
		time.Sleep(time.Second)
		s.wants(t, 0, "trouble: context deadline exceeded", 1, 1)
	})
}

func TestForgottenTemplateIsFetchedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTemplateServer(t, gives(labelledPod))
		s.ask(t, 0)
		synctest.Wait()
		s.Forget("uid-of-pi")
		s.Forget("nobody's")
		s.wants(t, 0, "pending", 1, 1)
		synctest.Wait()
		s.wants(t, 0, "there", 2, 2)
	})
}

// An application that still waits for a template that was forgotten to save memory asks again.
func TestForgottenTemplateEndsItsFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTemplateServer(t, func(ctx context.Context) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		s.ask(t, 0)
		synctest.Wait()
		s.Forget("uid-of-pi")
		synctest.Wait()
		if told := len(s.told); told != 1 {
			t.Errorf("the application was told of %d times, want once", told)
		}
		s.answer = gives(labelledPod)
		s.ask(t, 0)
		synctest.Wait()
		s.wants(t, 0, "there", 2, 2)
	})
}

func TestSlowTemplatesOfOneNamespaceDelayNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := newTemplateServer(t, func(context.Context) ([]byte, error) {
			<-release
			return []byte(labelledPod), nil
		})
		for i := range 60 {
			asks := attempt(0)
			asks.UID, asks.Namespace = types.UID(fmt.Sprint("slow-", i)), "slow"
			if _, _, err := s.Get(asks, here); err == nil {
				t.Fatal("a template is there that was not fetched")
			}
		}
		synctest.Wait()
		before := s.fetched.Load()
		s.ask(t, 0)
		synctest.Wait()
		if got := s.fetched.Load() - before; got != 1 {
			t.Errorf("the template of another namespace was fetched %d times, want once", got)
		}
		close(release)
		synctest.Wait()
	})
}

func TestFetchesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := newTemplateServer(t, func(context.Context) ([]byte, error) {
			<-release
			return []byte(labelledPod), nil
		})
		const many = 100
		for i := range many {
			asks := attempt(0)
			asks.UID = types.UID(rune('a' + i))
			if _, _, err := s.Get(asks, here); err == nil {
				t.Fatal("a template is there that was not fetched")
			}
		}
		synctest.Wait()
		if fetched := s.fetched.Load(); fetched != 32 {
			t.Errorf("%d are fetched at once, want 32", fetched)
		}
		close(release)
		synctest.Wait()
		if told := len(s.told); told != many {
			t.Errorf("%d applications were told of, want %d", told, many)
		}
	})
}

func TestAttemptsThatWaitForTemplatesDoNotEvictEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const attempts, namespaces = 3000, 100
		var fetched, told atomic.Int32
		answers := make(chan struct{})
		keeper := fetch.NewKeeper(t.Context(), func(ctx context.Context, _ podtemplate.Location) ([]byte, error) {
			fetched.Add(1)
			<-answers
			return []byte(labelledPod), nil
		}, func(types.NamespacedName) { told.Add(1) })
		ask := func(n int) error {
			name := types.NamespacedName{Namespace: fmt.Sprint("team-", n%namespaces), Name: fmt.Sprint("pi-", n)}
			_, _, err := keeper.Get(fetch.Attempt{NamespacedName: name, UID: types.UID(name.Name)}, here)
			return err
		}
		for range 2 {
			for n := range attempts {
				if err := ask(n); !errors.As(err, new(*fetch.Pending)) {
					t.Fatalf("attempt %d: %v", n, err)
				}
			}
			synctest.Wait()
		}
		if told.Load() != 0 {
			t.Errorf("%d applications are to ask again while all of them wait", told.Load())
		}
		close(answers)
		synctest.Wait()
		if fetched.Load() != attempts || told.Load() != attempts {
			t.Errorf("%d templates are fetched, and %d applications told, of %d", fetched.Load(), told.Load(), attempts)
		}
	})
}
