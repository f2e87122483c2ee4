package archiver

import (
	"context"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
)

func TestAPanicOfASweepEndsNoProcess(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	swept := false
	Retain(ctx, archive.NewStores(), func() (*config.Archive, bool) {
		swept = true
		stop()
		panic("the settings are broken")
	})
	if !swept {
		t.Error("nothing was swept")
	}
}
