package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/access/review"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/pages"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

// user is the user of the kubeconfig. It is a session.Users that knows this user alone, and a console.Reader.
type user struct {
	*review.Self
	name string
	// warn prints that the credentials are not accepted any more. It prints it once.
	warn func()
	// token is what the session holds in the place of a token of the cluster. It is known to this process and its session alone.
	token string
}

// notAccepted is what is said when the credentials of the kubeconfig are over.
const notAccepted = "The API server does not accept the credentials of your kubeconfig any more. Log in again, and start the command again."

// newUser returns the user of a client. Its error is that of the first request to the API server. warn prints a warning.
func newUser(ctx context.Context, client kubernetes.Interface, warn func(string)) (*user, error) {
	u := &user{Self: review.NewSelf(client, clock.RealClock{}), token: rand.Text(), warn: sync.OnceFunc(func() { warn(notAccepted) })}
	var err error
	u.name, err = u.Self.Name(ctx)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) { // the API server is older than this review, or does not allow it
		u.name, err = "the user of the kubeconfig", nil
	}
	return u, err
}

// Reader returns the user of a session.
func (u *user) Reader(_ context.Context, token string) (console.Reader, error) {
	if subtle.ConstantTimeCompare([]byte(token), []byte(u.token)) != 1 {
		return nil, access.ErrUnauthenticated
	}
	return u, nil
}

// Check is that of review.Self.
func (u *user) Check(ctx context.Context, right access.Right) error {
	return u.accepted(u.Self.Check(ctx, right))
}

// Ask is that of review.Self.
func (u *user) Ask(ctx context.Context, right access.Right) error {
	return u.accepted(u.Self.Ask(ctx, right))
}

// accepted returns the error of a review. If the API server does not accept the credentials, nothing helps but others: the pages and the terminal say so.
func (u *user) accepted(err error) error {
	if apierrors.IsUnauthorized(err) {
		u.warn()
		return &pages.Refusal{Status: http.StatusUnauthorized, Message: notAccepted}
	}
	return err
}

// Name returns the name of the user.
func (u *user) Name() string { return u.name }

// Key identifies the user: there is one.
func (u *user) Key() string { return u.name }

// Namespace returns no namespace: on a user's machine there is no archive.
func (u *user) Namespace(context.Context, string) (archive.Namespace, error) {
	return archive.Namespace{}, console.ErrNoNamespace
}

// clients make requests with the identity of the kubeconfig. It is a site.Clients.
type clients struct{ cluster *rest.Config }

// Config returns the connection of the user.
func (c clients) Config(*session.Session) *rest.Config { return rest.CopyConfig(c.cluster) }

// Of returns the client of the user.
func (c clients) Of(s *session.Session) (dynamic.Interface, error) {
	return dynamic.NewForConfig(c.Config(s))
}
