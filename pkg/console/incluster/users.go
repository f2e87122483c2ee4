package incluster

import (
	"context"
	"errors"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/access/review"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

// Users lets the API server decide who reads what. It is a session.Users.
type Users struct {
	namespaces *Namespaces
	reviewer   *review.Reviewer
	// proxy makes the credentials of users without a token; nil if there are none. self is the console, which asks in their names.
	proxy *session.Proxy
	self  *review.Self
}

// NewUsers creates a Users.
func NewUsers(namespaces *Namespaces, reviewer *review.Reviewer, proxy *session.Proxy, self *review.Self) *Users {
	return &Users{namespaces, reviewer, proxy, self}
}

// Reader returns the user of a token, or of a credential of a proxy's user.
func (u *Users) Reader(ctx context.Context, token string) (console.Reader, error) {
	user, err := u.user(ctx, token)
	if err != nil {
		return nil, err
	}
	return &reader{u, user}, nil
}

func (u *Users) user(ctx context.Context, token string) (review.User, error) {
	claimed, ofProxy, err := u.proxy.Identity(token)
	switch {
	case err != nil:
		return review.User{}, err
	case !ofProxy:
		return u.reviewer.Authenticate(ctx, token)
	}
	// The console shows nothing to whom it could not ask for in the user's name.
	if err := u.mayImpersonate(ctx, "users", claimed.User); err != nil {
		return review.User{}, err
	}
	for _, group := range claimed.Groups {
		if err := u.mayImpersonate(ctx, "groups", group); err != nil {
			return review.User{}, err
		}
	}
	return review.Impersonated(claimed.User, claimed.Groups)
}

// mayImpersonate returns nil if the console's service account may impersonate a user or a group.
func (u *Users) mayImpersonate(ctx context.Context, resource, name string) error {
	err := u.self.Check(ctx, access.Right{Verb: "impersonate", Resource: resource, Name: name})
	if errors.Is(err, access.ErrNotAllowed) {
		return session.Refused("the console may not impersonate %.64q of %s: the admin gives it the right by config/console-impersonation", name, resource)
	}
	return err
}

// reader is a user of the cluster.
type reader struct {
	*Users
	user review.User
}

// Name returns the name of the user.
func (r *reader) Name() string { return r.user.Name() }

// Key identifies the user with all groups.
func (r *reader) Key() string { return r.user.Key() }

// Ask asks the API server now whether the user has a right.
func (r *reader) Ask(ctx context.Context, right access.Right) error {
	return r.reviewer.Ask(ctx, r.user, right)
}

// Check asks the API server whether the user has a right.
func (r *reader) Check(ctx context.Context, right access.Right) error {
	return r.reviewer.Check(ctx, r.user, right)
}

// Namespace returns the namespace that lives now.
func (r *reader) Namespace(ctx context.Context, name string) (archive.Namespace, error) {
	return r.namespaces.named(ctx, name)
}
