package registry

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func TestTheRegistryServesUntilTheContextEnds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- Serve(ctx, address, t.TempDir()) }()
	if err := Wait(ctx, address); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTheRegistryKnowsTheSizesOfItsBlobs(t *testing.T) {
	dir := t.TempDir()
	digest := v1.Hash{Algorithm: "sha256", Hex: "abc"}
	if err := os.MkdirAll(filepath.Join(dir, "sha256"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sha256", "abc"), []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	blobs := trustingBlobs{dir: dir}
	if size, err := blobs.Stat(t.Context(), "", digest); err != nil || size != 5 {
		t.Errorf("got %d, %v", size, err)
	}
	digest.Hex = "def"
	if _, err := blobs.Stat(t.Context(), "", digest); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("a blob that is not there: %v", err)
	}
}
