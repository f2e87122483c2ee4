// Package registry serves container images on the loopback, where containerd and
// ko use plain HTTP without an option.
package registry

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

// Blobs is the folder inside the registry's in which it keeps blobs.
func Blobs(dir string) string { return filepath.Join(dir, "blobs") }

// Serve serves a registry at the address until the process is asked to end.
// Blobs are stored in the folder, manifests in memory, as long as it runs.
func Serve(ctx context.Context, address, dir string) error {
	if err := os.MkdirAll(Blobs(dir), 0o755); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	onDisk, ok := registry.NewDiskBlobHandler(Blobs(dir)).(blobs)
	if !ok {
		return errors.New("the library's blobs on disk cannot be written")
	}
	handler := registry.New(
		registry.WithBlobHandler(trustingBlobs{onDisk, Blobs(dir)}),
		registry.Logger(log.New(os.Stderr, "", log.LstdFlags)),
	)
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// blobs is what a disk blob handler can do.
type blobs interface {
	registry.BlobHandler
	registry.BlobStatHandler
	registry.BlobPutHandler
}

// trustingBlobs trusts the digest in the file name of a blob. The library itself
// reads and hashes the whole blob, which takes a second for an image of Spark,
// and does so for each tag of an image.
type trustingBlobs struct {
	blobs
	dir string
}

// Stat is the size of a blob.
func (b trustingBlobs) Stat(_ context.Context, _ string, digest v1.Hash) (int64, error) {
	info, err := os.Stat(filepath.Join(b.dir, digest.Algorithm, digest.Hex))
	if errors.Is(err, os.ErrNotExist) {
		return 0, registry.ErrNotFound
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Wait waits until the registry at the address answers.
func Wait(ctx context.Context, address string) error {
	return step.Until(ctx, time.Minute, "the registry at "+address, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/v2/", address), nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("GET /v2/: %s", response.Status)
		}
		return nil
	})
}
