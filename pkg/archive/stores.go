package archive

import (
	"context"
	"fmt"
	"sync"
)

// Stores opens archives, each of them once.
type Stores struct {
	mu   sync.Mutex
	open map[string]*Archive
}

// NewStores returns an empty set of archives.
func NewStores() *Stores { return &Stores{open: map[string]*Archive{}} }

// maxStores bounds the archives that are open at once: URLs come from the settings, which may change often.
const maxStores = 256

// For returns the archive behind a URL. It stays open.
func (s *Stores) For(ctx context.Context, url string) (*Archive, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if archive, ok := s.open[url]; ok {
		return archive, nil
	}
	if len(s.open) >= maxStores {
		return nil, fmt.Errorf("open archive: %d other archives are open: restart this Pod", maxStores)
	}
	archive, err := Open(context.WithoutCancel(ctx), url) // it outlives the request
	if err != nil {
		return nil, err
	}
	s.open[url] = archive
	return archive, nil
}
