// Package reader serves an archive to kubectl spark, with the user's own credentials.
package reader

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds" // the storage that archives are in
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds/large"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/upload"
	"go.uber.org/zap"
)

// headerTimeout bounds the time until a request's header has arrived.
const headerTimeout = 10 * time.Second

// Serve serves the archive behind a URL at a port of this machine until in ends. It prints an upload.Serving to out.
func Serve(ctx context.Context, url string, in io.Reader, out io.Writer) error {
	stored, err := archive.Open(ctx, url)
	if err != nil {
		return report(out, err)
	}
	defer func() { _ = stored.Close() }() // nothing was written
	token := os.Getenv(upload.TokenVariable)
	if token == "" {
		return report(out, fmt.Errorf("$%s is empty: set it to the token that requests have", upload.TokenVariable))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return report(out, err)
	}
	server := &http.Server{
		Handler: console.NewHandler(guard{stored, token}, one{stored}, zap.NewNop().Sugar()), ReadHeaderTimeout: headerTimeout,
	}
	if err := json.NewEncoder(out).Encode(upload.Serving{Address: "http://" + listener.Addr().String()}); err != nil {
		return errors.Join(err, listener.Close())
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, in) // the other program has ended
	}()
	go func() {
		select {
		case <-ctx.Done():
		case <-ended:
		}
		_ = server.Close() // nobody reads on
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// report prints why nothing is served.
func report(out io.Writer, err error) error {
	return errors.Join(err, json.NewEncoder(out).Encode(upload.Serving{Message: err.Error()}))
}

// one is the only archive.
type one struct{ *archive.Archive }

// Of returns the archive.
func (o one) Of(context.Context, string) (*archive.Archive, error) { return o.Archive, nil }

// guard lets the user of this machine read all that their credentials can. It is a console.Guard and a console.Reader.
type guard struct {
	stored *archive.Archive
	token  string
}

// Reader checks the token.
func (g guard) Reader(request *http.Request) (console.Reader, error) {
	if subtle.ConstantTimeCompare([]byte(request.Header.Get("Authorization")), []byte("Bearer "+g.token)) != 1 {
		return nil, access.ErrUnauthenticated
	}
	return g, nil
}

// Name returns the same name for all requests.
func (guard) Name() string { return "user" }

// Key identifies the rights of the reader.
func (guard) Key() string { return "user" }

// Ask allows everything: the storage decides.
func (guard) Ask(context.Context, access.Right) error { return nil }

// Check allows everything: the storage decides.
func (guard) Check(context.Context, access.Right) error { return nil }

// Namespace returns the last of the namespaces that had the name: the one with the newest application.
func (g guard) Namespace(ctx context.Context, name string) (archive.Namespace, error) {
	uids, err := g.stored.NamespaceUIDs(ctx, name)
	if err != nil {
		return archive.Namespace{}, err
	}
	var last archive.Namespace
	var newest time.Time
	for _, uid := range uids {
		namespace := archive.Namespace{Name: name, UID: uid}
		found, err := g.stored.List(ctx, namespace, archive.Filter{}, archive.Page{Limit: 1})
		if err != nil {
			return archive.Namespace{}, err
		}
		if len(found.Items) > 0 && !found.Items[0].Created.Before(newest) {
			last, newest = namespace, found.Items[0].Created
		}
	}
	if last.UID == "" {
		return archive.Namespace{}, console.ErrNoNamespace
	}
	return last, nil
}
