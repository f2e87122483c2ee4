package review_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/access/review"
)

// apiServer answers reviews: tokens are names of users, and each user may do what is listed for it.
type apiServer struct {
	mutex    sync.Mutex
	audience []string
	rights   map[string][]authorizationv1.ResourceAttributes
	// denied is what an authorizer denies that is asked before roles are.
	denied  authorizationv1.ResourceAttributes
	failure *apierrors.StatusError
	// evaluationError is what a refusal names.
	evaluationError string
	// hold keeps reviews waiting until it is closed.
	hold                        chan struct{}
	tokenReviews, accessReviews int
	running, mostRunning        int
}

func (s *apiServer) reviewer(t *testing.T, clock *clocktesting.FakePassiveClock, audiences ...string) *review.Reviewer {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}})
	if err != nil {
		t.Fatal(err)
	}
	return review.NewReviewer(client, func() []string { return audiences }, clock)
}

// ServeHTTP answers a review.
func (s *apiServer) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	s.mutex.Lock()
	s.running++
	s.mostRunning = max(s.mostRunning, s.running)
	s.mutex.Unlock()
	if s.hold != nil {
		<-s.hold
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.running--
	w.Header().Set("Content-Type", "application/json")
	if s.failure != nil {
		w.WriteHeader(int(s.failure.ErrStatus.Code))
		status := s.failure.ErrStatus
		status.APIVersion, status.Kind = "v1", "Status"
		_ = json.NewEncoder(w).Encode(status)
		return
	}
	var tokenReview authenticationv1.TokenReview
	var accessReview authorizationv1.SubjectAccessReview
	if strings.HasSuffix(request.URL.Path, "/tokenreviews") {
		s.tokenReviews++
		_ = json.NewDecoder(request.Body).Decode(&tokenReview)
		_ = json.NewEncoder(w).Encode(s.answerToken(&tokenReview))
		return
	}
	s.accessReviews++
	_ = json.NewDecoder(request.Body).Decode(&accessReview)
	_ = json.NewEncoder(w).Encode(s.answerAccess(&accessReview))
}

func (s *apiServer) answerToken(asked *authenticationv1.TokenReview) *authenticationv1.TokenReview {
	if strings.HasPrefix(asked.Spec.Token, "bad") {
		asked.Status.Error = "invalid bearer token"
		return asked
	}
	asked.Status = authenticationv1.TokenReviewStatus{
		Authenticated: true, Audiences: s.audience, User: authenticationv1.UserInfo{Username: asked.Spec.Token, Groups: []string{"system:authenticated"}},
	}
	return asked
}

func (s *apiServer) answerAccess(given *authorizationv1.SubjectAccessReview) *authorizationv1.SubjectAccessReview {
	asked := *given.Spec.ResourceAttributes
	given.Status.Allowed = slices.ContainsFunc(s.rights[given.Spec.User], func(granted authorizationv1.ResourceAttributes) bool {
		return granted.Verb == asked.Verb && granted.Resource == asked.Resource && granted.Subresource == asked.Subresource &&
			(granted.Namespace == "" || granted.Namespace == asked.Namespace) && (granted.Name == "" || granted.Name == asked.Name)
	})
	if asked == s.denied {
		given.Status = authorizationv1.SubjectAccessReviewStatus{Denied: true}
	}
	if !given.Status.Allowed {
		given.Status.EvaluationError = s.evaluationError
	}
	return given
}

func newClock() *clocktesting.FakePassiveClock {
	return clocktesting.NewFakePassiveClock(time.Unix(1e9, 0))
}

var logs = access.Right{Verb: "get", Resource: "pods", Subresource: "log", Namespace: "team-a", Name: "etl-driver"}

func TestUserOfATokenIsKeptForAMinute(t *testing.T) {
	server, clock := &apiServer{}, newClock()
	reviewer := server.reviewer(t, clock)
	for range 3 {
		user, err := reviewer.Authenticate(t.Context(), "alice")
		if err != nil || user.Name() != "alice" {
			t.Fatalf("got %q and %v, want alice", user.Name(), err)
		}
		clock.SetTime(clock.Now().Add(25 * time.Second))
	}
	if server.tokenReviews != 1 {
		t.Errorf("%d reviews within a minute, want 1", server.tokenReviews)
	}
	if _, err := reviewer.Authenticate(t.Context(), "alice"); err != nil || server.tokenReviews != 2 {
		t.Errorf("%d reviews after a minute (%v), want 2", server.tokenReviews, err)
	}
}

func TestTokensAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		token     string
		audiences []string
		server    *apiServer
	}{
		"none":                                  {server: &apiServer{}},
		"unknown":                               {token: "bad", server: &apiServer{}},
		"too long":                              {token: strings.Repeat("x", 1<<15), server: &apiServer{}},
		"for another audience":                  {token: "alice", audiences: []string{"console"}, server: &apiServer{audience: []string{"vault"}}},
		"of an authenticator without audiences": {token: "alice", audiences: []string{"console"}, server: &apiServer{}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.server.reviewer(t, newClock(), c.audiences...).Authenticate(t.Context(), c.token); !errors.Is(err, access.ErrUnauthenticated) {
				t.Errorf("got %v, want %v", err, access.ErrUnauthenticated)
			}
		})
	}
}

func TestTokenForOneOfTheAudiencesIsAccepted(t *testing.T) {
	server := &apiServer{audience: []string{"console"}}
	if _, err := server.reviewer(t, newClock(), "other", "console").Authenticate(t.Context(), "alice"); err != nil {
		t.Error(err)
	}
}

func TestRefusalsBecauseOfAFailureAreNotKept(t *testing.T) {
	server := &apiServer{evaluationError: "role not found"}
	reviewer := server.reviewer(t, newClock())
	for range 2 {
		if _, err := reviewer.Authenticate(t.Context(), "bad"); !errors.Is(err, access.ErrUnauthenticated) {
			t.Fatal(err)
		}
	}
	if server.tokenReviews != 2 {
		t.Errorf("%d reviews of a token with an error, want 2", server.tokenReviews)
	}
	alice, err := reviewer.Authenticate(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	if err := reviewer.Check(t.Context(), alice, logs); !errors.Is(err, access.ErrNotAllowed) {
		t.Fatal(err)
	}
	server.evaluationError, server.rights = "", map[string][]authorizationv1.ResourceAttributes{"alice": {{Verb: "get", Resource: "pods", Subresource: "log"}}}
	if err := reviewer.Check(t.Context(), alice, logs); err != nil {
		t.Error(err)
	}
}

func TestFailedReviewsAreNoAnswers(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "authentication.k8s.io", Resource: "tokenreviews"}, "", errors.New("no"))
	for name, c := range map[string]struct {
		failure *apierrors.StatusError
		text    string
	}{
		"gone":          {apierrors.NewInternalError(errors.New("etcd is gone")), "etcd is gone"},
		"overloaded":    {apierrors.NewTooManyRequests("wait", 1), "wait"},
		"without right": {forbidden, "bind it a role"},
	} {
		t.Run(name, func(t *testing.T) {
			server := &apiServer{}
			reviewer := server.reviewer(t, newClock())
			alice, err := reviewer.Authenticate(t.Context(), "alice")
			if err != nil {
				t.Fatal(err)
			}
			server.failure = c.failure
			_, ofToken := reviewer.Authenticate(t.Context(), "bob")
			for _, err := range []error{ofToken, reviewer.Check(t.Context(), alice, logs)} {
				if !errors.Is(err, access.ErrUnavailable) || errors.Is(err, access.ErrNotAllowed) || !strings.Contains(err.Error(), c.text) {
					t.Errorf("got %v, want %v with %q", err, access.ErrUnavailable, c.text)
				}
			}
			server.failure = nil
			if _, err := reviewer.Authenticate(t.Context(), "bob"); err != nil {
				t.Errorf("after the failure: %v", err)
			}
			if err := reviewer.Check(t.Context(), alice, logs); !errors.Is(err, access.ErrNotAllowed) {
				t.Errorf("after the failure: %v", err)
			}
		})
	}
}

func TestRightsAreAskedForOnce(t *testing.T) {
	for name, c := range map[string]struct {
		namespace, name string
		allowed         bool
	}{
		"everywhere":       {allowed: true},
		"in the namespace": {namespace: "team-a", allowed: true},
		"of one object":    {namespace: "team-a", name: "etl-driver", allowed: true},
		"elsewhere":        {namespace: "team-b"},
		"of another":       {namespace: "team-a", name: "other"},
	} {
		t.Run(name, func(t *testing.T) {
			granted := authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Subresource: "log", Namespace: c.namespace, Name: c.name}
			server := &apiServer{rights: map[string][]authorizationv1.ResourceAttributes{"alice": {granted}}}
			reviewer := server.reviewer(t, newClock())
			alice, err := reviewer.Authenticate(t.Context(), "alice")
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := reviewer.Check(t.Context(), alice, logs); (err == nil) != c.allowed || err != nil && !errors.Is(err, access.ErrNotAllowed) {
					t.Errorf("got %v, want allowed: %t", err, c.allowed)
				}
			}
			if server.accessReviews != 1 {
				t.Errorf("%d reviews, want 1", server.accessReviews)
			}
		})
	}
}

// A role allows all logs, and an authorizer that is asked before denies one of them.
func TestDenialOfOneObjectCountsBesideAWiderRight(t *testing.T) {
	everywhere := authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Subresource: "log"}
	server := &apiServer{rights: map[string][]authorizationv1.ResourceAttributes{"alice": {everywhere}}, denied: everywhere}
	server.denied.Namespace, server.denied.Name = logs.Namespace, logs.Name
	reviewer := server.reviewer(t, newClock())
	alice, err := reviewer.Authenticate(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	of := func(namespace, name string) access.Right {
		right := logs
		right.Namespace, right.Name = namespace, name
		return right
	}
	for _, right := range []access.Right{of("", ""), of(logs.Namespace, ""), of(logs.Namespace, "other")} {
		if err := reviewer.Check(t.Context(), alice, right); err != nil {
			t.Errorf("%s: %v", right, err)
		}
	}
	if err := reviewer.Check(t.Context(), alice, logs); !errors.Is(err, access.ErrNotAllowed) {
		t.Errorf("%s, which is denied: %v", logs, err)
	}
}

func TestRightsOfUsersAreApart(t *testing.T) {
	server := &apiServer{rights: map[string][]authorizationv1.ResourceAttributes{"alice": {{Verb: "get", Resource: "pods", Subresource: "log"}}}}
	reviewer := server.reviewer(t, newClock())
	for name, allowed := range map[string]bool{"alice": true, "bob": false} {
		user, err := reviewer.Authenticate(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := reviewer.Check(t.Context(), user, logs); (err == nil) != allowed {
			t.Errorf("%s: got %v, want allowed: %t", name, err, allowed)
		}
	}
}

func TestEqualQuestionsAreAskedOnce(t *testing.T) {
	server := &apiServer{hold: make(chan struct{})}
	reviewer := server.reviewer(t, newClock())
	left, leave := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := reviewer.Authenticate(left, "alice")
		first <- err
	}()
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("who leaves gets %v, want %v", err, context.Canceled)
	}
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			if _, err := reviewer.Authenticate(t.Context(), "alice"); err != nil {
				t.Error(err)
			}
		})
	}
	close(server.hold)
	callers.Wait()
	if server.tokenReviews != 1 {
		t.Errorf("%d reviews, want 1", server.tokenReviews)
	}
}

func TestReviewsUnderWayAreBounded(t *testing.T) {
	server := &apiServer{}
	reviewer := server.reviewer(t, newClock())
	var callers sync.WaitGroup
	for i := range 500 {
		callers.Go(func() {
			if _, err := reviewer.Authenticate(t.Context(), strings.Repeat("u", i+1)); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	if server.tokenReviews != 500 || server.mostRunning > 32 {
		t.Errorf("%d reviews, %d at once: want 500, at most 32 at once", server.tokenReviews, server.mostRunning)
	}
}

func TestWithoutTheAPIServerTheLastAnswerLastsThreeMinutes(t *testing.T) {
	server, clock := &apiServer{rights: map[string][]authorizationv1.ResourceAttributes{"alice": {{Verb: "get", Resource: "pods", Subresource: "log"}}}}, newClock()
	reviewer := server.reviewer(t, clock)
	check := func() error {
		user, err := reviewer.Authenticate(t.Context(), "alice")
		if err != nil {
			return err
		}
		return reviewer.Check(t.Context(), user, logs)
	}
	if err := check(); err != nil {
		t.Fatal(err)
	}
	server.failure = apierrors.NewInternalError(errors.New("gone"))
	clock.SetTime(clock.Now().Add(2 * time.Minute))
	if err := check(); err != nil {
		t.Errorf("after two minutes: %v", err)
	}
	clock.SetTime(clock.Now().Add(2 * time.Minute))
	if err := check(); !errors.Is(err, access.ErrUnavailable) {
		t.Errorf("after four minutes: %v", err)
	}
}

func TestAskAsksEachTime(t *testing.T) {
	server, clock := &apiServer{rights: map[string][]authorizationv1.ResourceAttributes{"alice": {{Verb: "get", Resource: "pods", Subresource: "log"}}}}, newClock()
	reviewer := server.reviewer(t, clock)
	user, err := reviewer.Authenticate(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := reviewer.Ask(t.Context(), user, logs); err != nil {
			t.Error(err)
		}
	}
	if server.accessReviews != 2 {
		t.Errorf("%d reviews for two questions", server.accessReviews)
	}
	server.rights = nil
	if err := reviewer.Ask(t.Context(), user, logs); !errors.Is(err, access.ErrNotAllowed) {
		t.Errorf("a right that is gone: %v", err)
	}
}

func TestCallersThatWaitAreBounded(t *testing.T) {
	const most, further = 32 + 512, 20
	server := &apiServer{hold: make(chan struct{})}
	reviewer := server.reviewer(t, newClock())
	results := make(chan error, most+further)
	for i := range cap(results) {
		go func() {
			_, err := reviewer.Authenticate(t.Context(), strings.Repeat("u", i+1))
			results <- err
		}()
	}
	for range further { // nobody else gets an answer yet
		if err := <-results; !errors.Is(err, access.ErrBusy) || errors.Is(err, access.ErrUnavailable) {
			t.Errorf("got %v, want %v", err, access.ErrBusy)
		}
	}
	close(server.hold)
	for range most {
		if err := <-results; err != nil {
			t.Errorf("who waits gets %v", err)
		}
	}
	if _, err := reviewer.Authenticate(t.Context(), "alice"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
