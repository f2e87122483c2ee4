package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sort"
	"time"
)

// lineBuffer is how much of a line is looked at: its timestamp is at its beginning.
const lineBuffer = 64 << 10

// readBuffer is the buffer of a log that is read.
const readBuffer = 16 << 10

// LogOptions say which part of a log is read, and how.
type LogOptions struct {
	// Timestamps leaves the kubelet's timestamp at the beginning of each line.
	Timestamps bool
	// Since leaves out earlier lines.
	Since time.Time
	// Tail reads the last lines only. Below zero it reads all lines.
	Tail int64
	// Offset and Length are a range of the bytes with timestamps. Length is no bound if it is not positive. Without Timestamps, the range must begin with
	// a line.
	Offset, Length int64
}

// OpenLog opens a log, also while it grows: it reads to the end that it has now.
func (t *Attempt) OpenLog(ctx context.Context, id LogID, options LogOptions) (io.ReadCloser, error) {
	info, err := t.File(id.path()...).Stat(ctx)
	if err != nil {
		return nil, err
	}
	offset, length := options.Offset, options.Length
	if length <= 0 {
		length = -1
	}
	if !options.Since.IsZero() {
		begin, err := t.firstSince(ctx, info, options.Since)
		if err != nil {
			return nil, err
		}
		offset = max(offset, begin)
	}
	if options.Tail >= 0 {
		begin, err := t.lastLines(ctx, info, options.Tail)
		if err != nil {
			return nil, err
		}
		offset = max(offset, begin)
	}
	stored := t.Read(ctx, info, offset, length)
	return &lines{source: bufio.NewReaderSize(stored, readBuffer), closer: stored, strip: !options.Timestamps, since: options.Since, atStart: true}, nil
}

// firstSince returns the offset of a line, before which all lines are older than since. Lines are in the order of time, within a second. It may begin
// too early: the reader leaves out lines that are older.
func (t *Attempt) firstSince(ctx context.Context, info FileInfo, since time.Time) (int64, error) {
	const disorder = time.Second
	var failed error
	first := sort.Search(len(info.chunks), func(i int) bool {
		content, err := t.archive.readChunk(ctx, info.chunks[i])
		if err != nil {
			failed = errors.Join(failed, err)
			return true
		}
		start := 0
		if i > 0 {
			start = bytes.IndexByte(content, '\n') + 1
		}
		at, size := timestamp(content[start:])
		// A chunk in which no line begins, or one without a time, says nothing: the search goes on before it.
		return i > 0 && start == 0 || size == 0 || !at.Add(disorder).Before(since)
	})
	if failed != nil || first == 0 {
		return 0, failed
	}
	return t.lineStart(ctx, info, first-1)
}

// lineStart returns the offset of the first line that begins in a chunk or before it.
func (t *Attempt) lineStart(ctx context.Context, info FileInfo, i int) (int64, error) {
	for ; i > 0; i-- {
		content, err := t.archive.readChunk(ctx, info.chunks[i])
		if err != nil {
			return 0, err
		}
		if newline := bytes.IndexByte(content, '\n'); newline >= 0 {
			return info.chunks[i].offset + int64(newline) + 1, nil
		}
	}
	return 0, nil
}

// lastLines returns the offset at which the last lines begin.
func (t *Attempt) lastLines(ctx context.Context, info FileInfo, count int64) (int64, error) {
	if count == 0 {
		return info.Size, nil
	}
	end := info.Size
	for i := len(info.chunks) - 1; i >= 0; i-- {
		part := info.chunks[i]
		content, err := t.archive.readChunk(ctx, part)
		if err != nil {
			return 0, err
		}
		content = content[:end-part.offset]
		for at := len(content) - 1; at >= 0; at-- {
			if content[at] != '\n' || part.offset+int64(at) == info.Size-1 { // the end of the last line
				continue
			}
			if count--; count == 0 {
				return part.offset + int64(at) + 1, nil
			}
		}
		end = part.offset
	}
	return 0, nil
}

// timestamp returns the time at the beginning of a line, and how many bytes it has with the space behind it; 0 if there is none.
func timestamp(line []byte) (time.Time, int) {
	const longest = len(time.RFC3339Nano) + 1
	space := bytes.IndexByte(line[:min(len(line), longest)], ' ')
	if space < 0 {
		return time.Time{}, 0
	}
	at, err := time.Parse(time.RFC3339Nano, string(line[:space]))
	if err != nil {
		return time.Time{}, 0
	}
	return at, space + 1
}

// lines reads a stored log as people want it.
type lines struct {
	source *bufio.Reader
	closer io.Closer
	strip  bool
	since  time.Time
	// atStart reports whether the next byte begins a line, and skips whether the line is left out.
	atStart, skips bool
	pending        []byte
}

// Read implements io.Reader.
func (l *lines) Read(into []byte) (int, error) {
	for len(l.pending) == 0 {
		part, err := l.source.ReadSlice('\n')
		if len(part) == 0 && err != nil {
			return 0, err
		}
		atStart := l.atStart
		l.atStart = part[len(part)-1] == '\n'
		if atStart {
			at, size := timestamp(part)
			l.skips = size > 0 && at.Before(l.since)
			if l.strip {
				part = part[size:]
			}
		}
		if !l.skips {
			l.pending = part
		}
	}
	count := copy(into, l.pending)
	l.pending = l.pending[count:]
	return count, nil
}

// Close implements io.Closer.
func (l *lines) Close() error { return l.closer.Close() }
