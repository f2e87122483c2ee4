package archive

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// Stores opens archives, each of them once.
type Stores struct {
	opener  func(ctx context.Context, url string) (*Archive, error)
	opening singleflight.Group

	mu   sync.Mutex
	open map[string]*Archive
}

// NewStores returns an empty set of archives.
func NewStores() *Stores { return &Stores{opener: Open, open: map[string]*Archive{}} }

const (
	// maxStores bounds the archives that are open at once: URLs come from the settings, which may change often. config-archive takes 1000 namespaces with
	// an archive each, and one for all others. It is twice that, so that each of them may change.
	maxStores = 2 * (1000 + 1)
	// openTimeout bounds the opening of an archive, which may ask the cloud for an identity.
	openTimeout = 30 * time.Second
)

// For returns the archive behind a URL. It stays open. One that takes long to open delays no other.
func (s *Stores) For(ctx context.Context, url string) (*Archive, error) {
	if archive, _ := s.opened(url); archive != nil {
		return archive, nil
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	result := s.opening.DoChan(url, func() (any, error) { return s.openNow(context.WithoutCancel(ctx), url) }) // it outlives the request
	select {
	case opened := <-result:
		if opened.Err != nil {
			return nil, opened.Err
		}
		return opened.Val.(*Archive), nil //nolint:forcetypeassert // openNow returns it
	case <-ctx.Done():
		return nil, fmt.Errorf("open archive %s: %w", redact.Text(url), ctx.Err())
	}
}

// opened returns an archive that is open, nil if it is not, and how many are.
func (s *Stores) opened(url string) (*Archive, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[url], len(s.open)
}

func (s *Stores) openNow(ctx context.Context, url string) (archive *Archive, err error) {
	defer func() {
		if cause := recover(); cause != nil { // this goroutine has no caller that could
			err = fmt.Errorf("open archive %s: it panicked: %v", redact.Text(url), cause)
		}
	}()
	archive, count := s.opened(url)
	switch {
	case archive != nil:
		return archive, nil
	case count >= maxStores:
		return nil, fmt.Errorf("open archive: %d other archives are open: restart this Pod", count)
	}
	// The archive uses the context as long as it is open, to renew its credentials. So it has no deadline.
	ctx, cancel := context.WithCancel(ctx)
	timeout := time.AfterFunc(openTimeout, cancel)
	archive, err = s.opener(ctx, url)
	if inTime := timeout.Stop(); err == nil && !inTime {
		err = context.DeadlineExceeded
		_ = archive.Close() // nothing was written
	}
	if err != nil {
		cancel()
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[url] = archive
	return archive, nil
}
