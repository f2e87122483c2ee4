package sparkui

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

// Histories know under which IDs the History Server may have the event logs of an application. They answer with the rights of a user.
type Histories interface {
	// History returns what is known of an application; false if there is no such application, or none that the user may read.
	History(ctx context.Context, user *session.Session, ref Ref, wanted Wanted) (*History, bool, error)
}

// Wanted says whose event log is wanted.
type Wanted struct {
	// UID is that of the application; empty for the one that is there or, without it, the newest that had the name.
	UID types.UID
	// Attempt is the number of the attempt; empty for the last ones.
	Attempt string
}

// History is what is known of the event logs of an application.
type History struct {
	// UID is the application's, and Namespace that of its namespace.
	UID, Namespace types.UID
	// IDs are those that the event logs may have, the last attempt first.
	IDs []string
}

// maxDrained bounds what is read of an answer of the History Server that is not shown.
const maxDrained = 64 << 10

// find returns the first of some IDs that the History Server knows; empty if it knows none.
func (s *SparkUIs) find(ctx context.Context, ids []string) (string, error) {
	for _, id := range ids {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.HistoryServer()+"/api/v1/applications/"+url.PathEscape(id), nil)
		if err != nil {
			return "", err
		}
		answer, err := s.transport.RoundTrip(request)
		if err != nil {
			return "", err
		}
		_, _ = io.CopyN(io.Discard, answer.Body, maxDrained) // then the connection can be used again
		_ = answer.Body.Close()
		switch answer.StatusCode {
		case http.StatusOK:
			return id, nil
		case http.StatusNotFound:
		default:
			return "", fmt.Errorf("the History Server answers %s", answer.Status)
		}
	}
	return "", nil
}

// logsRight is the right to download an event log, as the archive asks for it.
func logsRight(namespace string) access.Right {
	return access.Right{Verb: "get", Resource: "pods", Subresource: "log", Namespace: namespace}
}

// pastPath is a path at the History Server.
type pastPath string

// pastPathOf returns the path at the History Server that a visit asks for; false if it is none of the visit's application. Spark's paths need no
// escapes: with one, the History Server could see another path.
func pastPathOf(escaped, visit, id string) (pastPath, bool) {
	path, found := strings.CutPrefix(escaped, visit)
	if !found || !isPlain(path) {
		return "", false
	}
	of := "/api/v1/applications/" + id
	for _, allowed := range []string{"/history/" + id, of} {
		if path == allowed || strings.HasPrefix(path, allowed+"/") {
			return pastPath(path), true
		}
	}
	return pastPath(path), strings.HasPrefix(path, "/static/") || path == "/"
}

// isLog reports whether a path is that of the event log itself.
func (p pastPath) isLog() bool {
	return strings.HasPrefix(string(p), "/api/") && strings.HasSuffix(strings.TrimSuffix(string(p), "/"), "/logs")
}

// isStatic reports whether a path is that of a file of Spark's.
func (p pastPath) isStatic() bool { return strings.HasPrefix(string(p), "/static/") }

// visitPast returns why a request of a visit of the History Server is refused; empty if it is not.
func (s *SparkUIs) visitPast(r *http.Request, h handover, reader console.Reader) (status int, problem string, err error) {
	path, ok := pastPathOf(r.URL.EscapedPath(), pathOf(h.Secret), h.Past)
	switch {
	case s.HistoryServer() == "":
		return http.StatusGone, "The console has no History Server any more.", nil
	case !ok:
		return http.StatusNotFound, "There is nothing of this application here.", nil
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return http.StatusMethodNotAllowed, "The History Server changes nothing.", nil
	case path.isStatic():
		return 0, "", nil
	case path.isLog():
		if err := reader.Check(r.Context(), logsRight(h.Ref.Namespace)); err != nil {
			return 0, "", err
		}
	}
	// A new namespace with the name of an old one inherits nothing.
	namespace, err := reader.Namespace(r.Context(), h.Ref.Namespace)
	if err == nil && namespace.UID != h.Namespace {
		return http.StatusGone, "The application is gone, and so is its namespace.", nil
	}
	return 0, "", err
}
