package history

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gocloud.dev/blob"
)

// xs is a text of one line that never ends. It counts what is read.
type xs struct{ read int64 }

func (x *xs) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	x.read += int64(len(p))
	return len(p), nil
}

func TestStartIsNotLookedForInALineWithoutEnd(t *testing.T) {
	line := &xs{}
	if found, err := findStart(line, testID); err != nil || found.line != nil || line.read > maxHead+2*readSize {
		t.Errorf("%q was found, %d bytes were read: %v", found.line, line.read, err)
	}
}

// counting is a source that counts the bytes it sends.
type counting struct {
	Source
	sent atomic.Int64
}

func (c *counting) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	in, err := c.Source.Open(ctx, key, offset, length)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(in, c), in}, nil
}

func (c *counting) Write(p []byte) (int, error) {
	c.sent.Add(int64(len(p)))
	return len(p), nil
}

func TestLongLinesAreShownInPart(t *testing.T) {
	const rest = 40 << 20
	e := newEnv(t)
	e.store("a", "log", startLine+strings.Repeat("x", maxShown+rest)+"\nafter\n")
	source := &counting{Source: e.sources[0]}
	e.sources = []Source{source}
	e.refresh()
	path := "/" + newID("a", "log") + "?op=OPEN"
	_, whole := e.request(http.MethodGet, path)
	lines := strings.Split(strings.TrimSuffix(whole, "\n"), "\n")
	if len(lines) != 4 || lines[2] != strings.Repeat("x", maxShown)+strings.Repeat(" ", rest) || lines[3] != "after" {
		t.Fatalf("there are %d lines, the last one is %q", len(lines), lines[len(lines)-1])
	}
	begin := strings.Index(whole, "x")
	for _, offset := range []int{begin + 1, begin + maxShown - 1, begin + maxShown, begin + maxShown + 1, begin + maxShown + rest - 1, begin + maxShown + rest, len(whole) - 1} {
		source.sent.Store(0)
		if status, got := e.request(http.MethodGet, fmt.Sprintf("%s&offset=%d", path, offset)); status != http.StatusOK || got != whole[offset:] {
			t.Errorf("from offset %d: %d, %d bytes, want %d like those from the beginning on", offset, status, len(got), len(whole)-offset)
		}
		// What is searched, what is before the offset in its line, and the rest.
		if most := int64(2*maxShown + 4<<20 + len(whole) - offset + maxHead); source.sent.Load() > most {
			t.Errorf("from offset %d: %d bytes were read, want at most %d", offset, source.sent.Load(), most)
		}
	}
}

func TestFilesOfASourceAreBounded(t *testing.T) {
	object := func(log, n int) *blob.ListObject {
		return &blob.ListObject{Key: fmt.Sprintf("eventlog_v2_%d/events_%d_x", log, n), Size: 1}
	}
	found := listing{namespace: "a", position: map[string]int{}}
	add := func(log, n int) {
		t.Helper()
		if err := found.add(object(log, n)); err != nil {
			t.Fatal(err)
		}
	}
	add(0, 0)
	for n := range 3 * maxLogFiles {
		add(1, n)
	}
	if shown := found.bounded(); len(shown) != 1 || len(shown[0].Files) != 1 {
		t.Errorf("%d logs are shown, want the one with few files", len(shown))
	}
	if found.files > maxLogFiles+2 {
		t.Errorf("%d files take memory", found.files)
	}
	found = listing{namespace: "a", position: map[string]int{}}
	for n := range maxFiles {
		add(n%100, n)
	}
	if err := found.add(object(0, maxFiles)); err == nil {
		t.Errorf("more than %d files are accepted", maxFiles)
	}
	found = listing{namespace: "a", position: map[string]int{}}
	for n := range maxLogs {
		add(n, 0)
	}
	if err := found.add(object(maxLogs, 0)); err == nil {
		t.Errorf("more than %d logs are accepted", maxLogs)
	}
}

// held is a source whose files can be opened when hold is closed.
type held struct {
	Source
	opened atomic.Int64
	hold   chan struct{}
}

func (h *held) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	h.opened.Add(1)
	<-h.hold
	return h.Source.Open(ctx, key, offset, length)
}

func TestFilesThatAreReadAtOnceAreBounded(t *testing.T) {
	e := newEnv(t)
	e.store("a", "log", startLine)
	source := &held{Source: e.sources[0], hold: make(chan struct{})}
	e.sources = []Source{source}
	e.refresh()
	open := func(ctx context.Context) int {
		answer := httptest.NewRecorder()
		e.view.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, prefix+"/"+newID("a", "log")+"?op=OPEN&content=true", nil))
		return answer.Code
	}
	codes := make(chan int, maxReading)
	for range cap(codes) {
		go func() { codes <- open(context.WithoutCancel(t.Context())) }()
	}
	for source.opened.Load() < maxReading {
		<-time.After(time.Millisecond)
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	further := make(chan int, 1)
	go func() { further <- open(left) }()
	select {
	case code := <-further:
		if code == http.StatusOK || source.opened.Load() != maxReading {
			t.Errorf("another file is opened: %d", code)
		}
	case <-time.After(2 * time.Minute):
		t.Error("another file is opened")
	}
	close(source.hold)
	for range cap(codes) {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("got %d", code)
		}
	}
}
