package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"time"
)

const (
	// flushBytes is the size at which what was read is stored.
	flushBytes = 1 << 20
	// resumes is how often the stored lines of a log are listed, if another writer replaces a chunk meanwhile.
	resumes = 3
	// maxSecond bounds the lines of one second that are remembered. Of more, those with the time of the last one count as stored.
	maxSecond = 1 << 18
)

// LogWriter stores the log of a container as the kubelet sends it, with timestamps. It may be interrupted at any time: the next writer of the same log goes
// on after the last stored line. The kubelet is then asked for the lines since Since, and those that are stored are left out.
type LogWriter struct {
	// From and To are the times of the first and the last line; zero if there is none.
	From, To time.Time
	// ChunkBytes is the size at which what was read is stored: it is held in memory until then.
	ChunkBytes int
	// Gap reports whether lines were lost between two readings: the kubelet had the last stored line no more. What is stored of a log says so, too.
	Gap bool

	file  *File
	limit int64
	// exists reports whether anything is stored, if only an empty file.
	exists bool
	// stored is the size that is stored, and offset where the pending bytes begin; those from offset to stored are in the last chunk.
	offset, stored int64
	pending        bytes.Buffer
	// line is the last line if it does not end yet; of a long one only its size is known.
	line     []byte
	lineSize int
	seed     maphash.Seed
	// refuses reports whether Copy ends at a gap, and latest is when the first line is at the latest.
	refuses bool
	latest  time.Time
	// fences reports whether a first line may be another one than that of another writer, and yields whether what that one stores counts then.
	fences, yields bool
	// second is the second of the last line, and known the lines since then, by their hash.
	second time.Time
	known  map[uint64]int
}

// WriteLog begins or resumes to store a log of at most limit bytes.
func (t *Attempt) WriteLog(ctx context.Context, id LogID, limit int64) (*LogWriter, error) {
	if t.invalid != nil {
		return nil, t.invalid
	}
	w := &LogWriter{ChunkBytes: flushBytes, file: t.File(id.path()...), limit: limit, seed: maphash.MakeSeed(), known: map[uint64]int{}}
	var err error
	for range resumes {
		var info FileInfo
		var ok bool
		if info, ok, err = w.file.stat(ctx); err != nil || !ok {
			return w, err
		}
		w.exists, w.offset, w.stored, w.file.fence, w.Gap = true, info.Size, info.Size, info.fence, info.gap
		if err = w.recall(ctx, info); !IsNotFound(err) {
			break
		}
		// Another writer, which follows the log, has replaced a chunk by a longer one.
	}
	return w, err
}

// recall reads which lines are stored of the last second.
func (w *LogWriter) recall(ctx context.Context, info FileInfo) error {
	t := w.file.attempt
	if len(info.chunks) == 0 {
		return nil
	}
	first, err := t.archive.readChunk(ctx, info.chunks[0])
	if err != nil {
		return err
	}
	w.From, _ = timestamp(first)
	const most = 4 // chunks: more than a second's lines, unless there are too many to remember
	for begin := len(info.chunks) - 1; begin >= 0; begin-- {
		offset, err := t.lineStart(ctx, info, begin)
		if err != nil {
			return err
		}
		w.second, w.known, w.line, w.lineSize = time.Time{}, map[uint64]int{}, nil, 0
		reader := bufio.NewReaderSize(t.Read(ctx, info, offset, -1), lineBuffer)
		oldest, err := w.remember(reader)
		if err != nil {
			return err
		}
		if !oldest.IsZero() && oldest.Before(w.second) || len(info.chunks)-begin >= most {
			return nil
		}
	}
	return nil
}

// remember notes stored lines, and returns the time of the first one.
func (w *LogWriter) remember(reader *bufio.Reader) (oldest time.Time, err error) {
	err = eachPart(reader, func(part []byte, begins bool) error {
		if at, size := timestamp(part); begins && size > 0 {
			if oldest.IsZero() {
				oldest = at
			}
			w.note(at, part)
		}
		w.noteEnd(part)
		return nil
	})
	return oldest, err
}

// note notes a line as stored.
func (w *LogWriter) note(at time.Time, part []byte) {
	if w.From.IsZero() {
		w.From = at
	}
	if at.After(w.To) {
		w.To = at
	}
	if second := at.Truncate(time.Second); second.After(w.second) {
		w.second = second
		clear(w.known)
	}
	if !at.Before(w.second) && len(w.known) < maxSecond {
		w.known[maphash.Bytes(w.seed, part)]++
	}
}

// Since is the time from which the kubelet is asked; zero for the whole log. The kubelet knows whole seconds.
func (w *LogWriter) Since() time.Time { return w.second }

// Begun reports whether a writer has begun to store the log, if only an empty one.
func (w *LogWriter) Begun() bool { return w.exists }

// RefuseGaps lets Copy end with an error before it takes a line in front of which others are missing: one behind a gap, or a first one that is later than
// latest. Another writer may have these, and stores them later. IsGap reports whether an error is that one.
func (w *LogWriter) RefuseGaps(latest time.Time) { w.refuses, w.latest = true, latest }

// FenceFirst lets what is stored never be mixed with what a writer stores that has begun with an earlier line. It is for those who begin when the kubelet
// may have the first line no more.
func (w *LogWriter) FenceFirst() { w.fences = true }

// FenceFirstOfFollower is FenceFirst for a follower: another one may begin the log, too. What a writer with FenceFirst stores counts in place of theirs.
func (w *LogWriter) FenceFirstOfFollower() { w.fences, w.yields = true, true }

// Bytes is the size of what was read so far.
func (w *LogWriter) Bytes() int64 { return w.offset + int64(w.pending.Len()) }

// Copy stores the lines of a reader that the kubelet sends since Since. It returns the error of the reader, or of the storage; what was read before is
// stored by Flush.
func (w *LogWriter) Copy(ctx context.Context, reader io.Reader) error {
	overlap := make(map[uint64]int, len(w.known)) // what is stored, and is sent again
	for hash, count := range w.known {
		overlap[hash] = count
	}
	resume := resumption{overlap: overlap, since: w.second, last: w.To, full: len(overlap) >= maxSecond, met: len(overlap) == 0}
	skips := false
	return eachPart(bufio.NewReaderSize(reader, lineBuffer), func(part []byte, begins bool) error {
		if begins {
			at, size := timestamp(part)
			continues := w.lineSize > 0 && w.lineSize == len(w.line) && bytes.HasPrefix(part, w.line)
			skips = size > 0 && resume.stored(at, maphash.Bytes(w.seed, part))
			if skips {
				return nil
			}
			gap := !resume.met && !continues
			if w.refuses && (gap || size > 0 && w.From.IsZero() && at.After(w.latest)) {
				return errGap
			}
			if gap || w.fences && w.Bytes() == 0 && w.file.fence == (fence{}) {
				if err := w.fence(ctx, part); err != nil {
					return err
				}
			}
			w.Gap = w.Gap || gap
			resume.met = true
			if size > 0 {
				w.note(at, part)
			}
			switch {
			case continues: // it was interrupted within this line
				part = part[w.lineSize:]
			case w.lineSize > 0:
				part = append([]byte{'\n'}, part...)
			}
		}
		if skips {
			return nil
		}
		return w.add(ctx, part)
	})
}

// resumption finds the lines that are stored among those that are sent again.
type resumption struct {
	overlap     map[uint64]int
	since, last time.Time
	// full reports whether more lines are stored than overlap holds, and met whether one of them was sent again.
	full, met bool
}

func (r *resumption) stored(at time.Time, hash uint64) bool {
	switch {
	case at.Before(r.since):
		return true
	case r.overlap[hash] > 0:
		r.overlap[hash]--
		r.met = true
		return true
	default:
		return r.full && !at.After(r.last)
	}
}

// errTruncated ends the reading of a log that is larger than it may be.
var errTruncated = errors.New("the log is larger than max-log-bytes")

var errGap = errors.New("lines are missing that the node has no more")

// IsGap reports whether Copy ended at a gap.
func IsGap(err error) bool { return errors.Is(err, errGap) }

func (w *LogWriter) add(ctx context.Context, part []byte) error {
	room := max(w.limit-w.Bytes(), 0)
	truncated := int64(len(part)) > room
	if truncated {
		part = part[:room]
	}
	w.pending.Write(part)
	w.noteEnd(part)
	if w.pending.Len() >= w.ChunkBytes {
		if err := w.Flush(ctx); err != nil {
			return err
		}
	}
	if truncated {
		return errTruncated
	}
	return nil
}

// noteEnd notes whether what was read last ends a line.
func (w *LogWriter) noteEnd(part []byte) {
	newline := bytes.LastIndexByte(part, '\n')
	if newline >= 0 {
		w.line, w.lineSize = w.line[:0], 0
	}
	rest := part[newline+1:]
	w.lineSize += len(rest)
	if w.lineSize <= lineBuffer {
		w.line = append(w.line, rest...)
	}
}

// IsTruncated reports whether Copy ended because the log is too large.
func IsTruncated(err error) bool { return errors.Is(err, errTruncated) }

// Flush stores what was read. While a chunk is small, the next Flush stores it again, with more in it.
func (w *LogWriter) Flush(ctx context.Context) error {
	end := w.Bytes()
	if w.exists && end == w.stored {
		return nil
	}
	if err := w.file.Extend(ctx, w.offset, w.pending.Bytes(), w.stored-w.offset); err != nil {
		return err
	}
	w.exists = true
	w.stored = end
	if w.pending.Len() >= w.ChunkBytes {
		w.offset = end
		w.pending.Reset()
	}
	return nil
}

// fence stores what was read, so that what follows is in chunks behind a fence.
func (w *LogWriter) fence(ctx context.Context, line []byte) error {
	if w.Bytes() > 0 {
		if err := w.Flush(ctx); err != nil {
			return err
		}
	}
	w.offset = w.Bytes()
	w.stored = w.offset
	w.pending.Reset()
	w.file.fence = fenceBehind(w.file.fence, w.offset, line, w.yields && w.offset == 0)
	return nil
}

// eachPart calls visit for each line, or for the parts of a line that is longer than the buffer. begins reports whether the part begins a line.
func eachPart(reader *bufio.Reader, visit func(part []byte, begins bool) error) error {
	begins := true
	for {
		part, err := reader.ReadSlice('\n')
		if len(part) > 0 {
			if err := visit(part, begins); err != nil {
				return err
			}
			begins = part[len(part)-1] == '\n'
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull), err == nil:
		case errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}
