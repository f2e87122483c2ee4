package incluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/access/review"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
)

// Users lets the API server decide who reads what. It is a session.Users.
type Users struct {
	client   kubernetes.Interface
	reviewer *review.Reviewer
}

// NewUsers creates a Users.
func NewUsers(client kubernetes.Interface, reviewer *review.Reviewer) *Users {
	return &Users{client, reviewer}
}

// Reader returns the user of a token.
func (u *Users) Reader(ctx context.Context, token string) (console.Reader, error) {
	user, err := u.reviewer.Authenticate(ctx, token)
	if err != nil {
		return nil, err
	}
	return &reader{u, user}, nil
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

// Namespace returns the namespace that lives now. It is read each time: another namespace may have the name at any moment.
func (r *reader) Namespace(ctx context.Context, name string) (archive.Namespace, error) {
	if len(validation.ValidateNamespaceName(name, false)) > 0 {
		return archive.Namespace{}, console.ErrNoNamespace
	}
	found, err := r.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return archive.Namespace{}, console.ErrNoNamespace
	}
	if err != nil {
		return archive.Namespace{}, fmt.Errorf("%w: read namespace %s: %w", access.ErrUnavailable, name, err)
	}
	return archive.Namespace{Name: name, UID: found.UID}, nil
}
