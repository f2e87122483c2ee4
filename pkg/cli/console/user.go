package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/access/review"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

// user is the user of the kubeconfig. It is a session.Users that knows this user alone, and a console.Reader.
type user struct {
	*review.Self
	name string
	// token is what the session holds in the place of a token of the cluster. It is known to this process and its session alone.
	token string
}

// newUser returns the user of a client. Its error is that of the first request to the API server.
func newUser(ctx context.Context, client kubernetes.Interface) (*user, error) {
	u := &user{Self: review.NewSelf(client, clock.RealClock{}), token: rand.Text()}
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
