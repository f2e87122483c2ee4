package integration

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// sharedTests is how many tests use the shared control plane at once. Tests often wait, so these are more than there are
	// processors. With many more, requests to the API server would time out on two of them.
	sharedTests = 5
	// lonePlanes is how many control planes there are besides, for tests that each need one to themselves.
	lonePlanes = 3
)

// controlPlanePool gives control planes to tests. A control plane starts when the first test needs it.
type controlPlanePool struct {
	// dir holds a folder for each control plane, and programs Firesteel's programs.
	dir, programs string
	// shared returns the control plane of all tests that do not call alone.
	shared func() (*suite, error)
	// places has an entry for each test that uses the shared control plane.
	places chan struct{}
	// idle has an entry for each lone control plane that no test uses: nil if it does not run yet.
	idle chan *suite

	mutex   sync.Mutex
	started []*suite
	// used are the control planes that tests use, by the names of the tests.
	used map[string]*suite
}

func newControlPlanePool(dir, programs string) *controlPlanePool {
	p := &controlPlanePool{
		dir: dir, programs: programs,
		places: make(chan struct{}, sharedTests), idle: make(chan *suite, lonePlanes),
		used: map[string]*suite{},
	}
	p.shared = sync.OnceValues(p.start)
	for range lonePlanes {
		p.idle <- nil
	}
	return p
}

// start starts one more control plane.
func (p *controlPlanePool) start() (*suite, error) {
	p.mutex.Lock()
	s := &suite{dir: filepath.Join(p.dir, fmt.Sprintf("plane-%d", len(p.started))), programs: p.programs}
	p.started = append(p.started, s)
	p.mutex.Unlock()
	return s, s.start(context.Background())
}

// stop ends all control planes.
func (p *controlPlanePool) stop() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, s := range p.started {
		s.stop()
	}
}

// of returns the control plane that a test or one of its parents uses. If there is none, the test waits for a place on the
// shared one.
func (p *controlPlanePool) of(t testing.TB) *suite {
	t.Helper()
	if s := p.usedBy(t.Name()); s != nil {
		return s
	}
	began := time.Now()
	p.places <- struct{}{}
	t.Cleanup(func() { <-p.places })
	t.Logf("waited %s for a place on the shared control plane", time.Since(began).Round(time.Second))
	s, err := p.shared()
	if err != nil {
		t.Fatal(err)
	}
	p.use(t, s)
	return s
}

func (p *controlPlanePool) usedBy(test string) *suite {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for {
		if s := p.used[test]; s != nil {
			return s
		}
		parent := strings.LastIndex(test, "/")
		if parent < 0 {
			return nil
		}
		test = test[:parent]
	}
}

// use has a test use a control plane until it ends.
func (p *controlPlanePool) use(t testing.TB, s *suite) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.used[t.Name()] = s
	t.Cleanup(func() {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		delete(p.used, t.Name())
	})
}

// reserve waits until a lone control plane is idle, and leaves it so until a test ends that starts one itself.
func (p *controlPlanePool) reserve(t *testing.T) {
	s := <-p.idle
	t.Cleanup(func() { p.idle <- s })
}

// alone runs a test beside all others, with a control plane that no other test uses meanwhile.
func alone(t *testing.T) {
	t.Helper()
	t.Parallel()
	p, began := controlPlanes, time.Now()
	s := <-p.idle
	t.Cleanup(func() { p.idle <- s })
	t.Logf("waited %s until a control plane was idle", time.Since(began).Round(time.Second))
	if s == nil {
		started, err := p.start()
		if err != nil {
			t.Fatal(err)
		}
		s = started
	}
	p.use(t, s)
}
