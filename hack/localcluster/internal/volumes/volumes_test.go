package volumes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

func TestServeOpensNewFolders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "volumes")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- Serve(ctx, dir) }()

	volume := filepath.Join(dir, "volume")
	err := step.Until(ctx, 2*time.Minute, "an open volume", func(context.Context) error {
		if err := os.Mkdir(volume, 0o750); err != nil && !os.IsExist(err) {
			return err // not served yet
		}
		info, err := os.Stat(volume)
		if err == nil && info.Mode().Perm() != 0o777 {
			err = fmt.Errorf("its mode is %s", info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
