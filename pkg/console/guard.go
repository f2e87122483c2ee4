package console

import (
	"context"
	"errors"
	"net/http"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/archive"
)

// ErrNoNamespace means that a namespace does not exist.
var ErrNoNamespace = errors.New("the namespace does not exist")

// Guard authenticates requests.
type Guard interface {
	// Reader returns who asks. Its errors are access.ErrUnauthenticated, access.ErrBusy and access.ErrUnavailable.
	Reader(request *http.Request) (Reader, error)
}

// Reader is a user who reads.
type Reader interface {
	// Name is the name of the reader.
	Name() string
	// Key identifies everything that the reader's rights depend on: the name, the groups, and the rest.
	Key() string
	// Check returns nil if the reader has a right. Its errors are access.ErrNotAllowed, access.ErrBusy and access.ErrUnavailable.
	Check(ctx context.Context, right access.Right) error
	// Ask is Check, asked now: no answer that was kept.
	Ask(ctx context.Context, right access.Right) error
	// Namespace returns the namespace with a name whose applications are read, or ErrNoNamespace.
	Namespace(ctx context.Context, name string) (archive.Namespace, error)
}

// Archives are the archives of an installation.
type Archives interface {
	// Of returns the archive of a namespace; nil if it has none.
	Of(ctx context.Context, namespace string) (*archive.Archive, error)
	// Namespaces returns the names of all archived namespaces, also of those that are gone.
	Namespaces(ctx context.Context) ([]string, error)
}
