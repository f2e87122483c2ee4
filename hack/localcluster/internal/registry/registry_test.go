package registry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func TestTheRegistryServesUntilTheContextEnds(t *testing.T) {
	address := freeAddress(t)
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

// freeAddress returns an address at which nothing listens. Its port stays free: the kernel chooses ports for other sockets above 32768.
func freeAddress(t *testing.T) string {
	t.Helper()
	for {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(10_000)))
		if err == nil {
			defer listener.Close()
			return listener.Addr().String()
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatal(err)
		}
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
