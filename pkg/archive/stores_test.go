package archive

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gocloud.dev/blob/memblob"
)

func TestAnArchiveThatHangsDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stores, opened := NewStores(), map[string]int{}
		var of context.Context
		stores.opener = func(ctx context.Context, url string) (*Archive, error) {
			switch opened[url]++; url {
			case "hangs":
				<-ctx.Done()
				return nil, ctx.Err()
			case "panics":
				panic("it broke")
			}
			of = ctx
			time.Sleep(time.Second) //nolint:forbidigo // the time of synctest's bubble
			return New(memblob.OpenBucket(nil)), nil
		}
		began := time.Now()
		hung := make(chan error)
		go func() {
			_, err := stores.For(t.Context(), "hangs")
			hung <- err
		}()
		synctest.Wait()
		first := make(chan *Archive)
		request, leave := context.WithCancel(t.Context())
		go func() {
			archive, _ := stores.For(request, "works")
			first <- archive
		}()
		second, err := stores.For(t.Context(), "works")
		if took := time.Since(began); err != nil || second == nil || second != <-first || took != time.Second || opened["works"] != 1 {
			t.Errorf("it took %v, and was opened %d times: %v", took, opened["works"], err)
		}
		if _, err := stores.For(t.Context(), "panics"); err == nil || !strings.Contains(err.Error(), "it broke") {
			t.Errorf("the panic is %v", err)
		}
		if err, took := <-hung, time.Since(began); took != openTimeout || !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
			t.Errorf("what hangs took %v: %v", took, err)
		}
		leave()
		time.Sleep(time.Hour) //nolint:forbidigo // the time of synctest's bubble
		if of.Err() != nil {
			t.Errorf("an open archive cannot renew its credentials: %v", of.Err())
		}
	})
}
