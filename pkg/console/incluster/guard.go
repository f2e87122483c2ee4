package incluster

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/access/review"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
)

// Guard lets the API server decide. It is a console.Guard.
type Guard struct {
	client   kubernetes.Interface
	reviewer *review.Reviewer
}

// NewGuard creates a Guard.
func NewGuard(client kubernetes.Interface, reviewer *review.Reviewer) *Guard {
	return &Guard{client, reviewer}
}

// Reader returns the user of the request's bearer token.
func (g *Guard) Reader(request *http.Request) (console.Reader, error) {
	user, err := g.reviewer.Authenticate(request.Context(), bearerToken(request.Header))
	if err != nil {
		return nil, err
	}
	return &reader{g, user}, nil
}

// bearerToken returns the token of a request; empty if it has none. A proxy that signs its own requests passes the user's token on in the
// other header: that one counts alone, so that nobody reads as the proxy.
func bearerToken(header http.Header) string {
	value := header.Get("Authorization")
	if passed := header.Values(api.TokenHeader); len(passed) > 0 {
		value = passed[0]
	}
	scheme, token, found := strings.Cut(value, " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// reader is a user of the cluster.
type reader struct {
	*Guard
	user review.User
}

// Name returns the name of the user.
func (r *reader) Name() string { return r.user.Name() }

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
