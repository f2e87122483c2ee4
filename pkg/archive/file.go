package archive

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxChunk is the size of the largest chunk, before it is compressed.
const MaxChunk = 4 << 20

const offsetDigits = 20

// File is a file of an attempt that grows. It is stored in chunks: objects named <offset>-<length>.gz, of compressed bytes. Chunks may overlap, since a
// writer that was interrupted may write again: equal offsets have equal bytes.
type File struct {
	attempt *Attempt
	path    []string
}

// FileInfo describes a file.
type FileInfo struct {
	// Path is its path below the attempt.
	Path []string
	// Size is its size, and Stored the size of its compressed chunks.
	Size, Stored int64
	// Modified is when its last chunk was written.
	Modified time.Time

	chunks []chunk
}

// chunk is a part of a file.
type chunk struct {
	key            string
	offset, length int64
}

func (c chunk) end() int64 { return c.offset + c.length }

// File returns a file of the attempt.
func (t *Attempt) File(path ...string) *File { return &File{t, path} }

func (f *File) folder() string { return f.attempt.prefix + join(f.path...) + "/" }

// Append stores bytes from an offset on, as one chunk. The caller keeps the offsets. Without bytes, at offset 0, it creates an empty file.
func (f *File) Append(ctx context.Context, offset int64, content []byte) error {
	if len(content) > MaxChunk || offset < 0 {
		return fmt.Errorf("write %s: a chunk has at most %d bytes, and its offset is not negative", f.folder(), MaxChunk)
	}
	return f.attempt.put(ctx, f.chunkKey(offset, int64(len(content))), compress(content))
}

func (f *File) chunkKey(offset, length int64) string {
	return fmt.Sprintf("%s%0*d-%d%s", f.folder(), offsetDigits, offset, length, chunkSuffix)
}

func parseChunk(key, name string) (chunk, bool) {
	name, ok := strings.CutSuffix(name, chunkSuffix)
	first, second, both := strings.Cut(name, "-")
	offset, err := strconv.ParseInt(first, 10, 64)
	length, err2 := strconv.ParseInt(second, 10, 64)
	if !ok || !both || errors.Join(err, err2) != nil || len(first) != offsetDigits || offset < 0 || length < 0 || length > MaxChunk {
		return chunk{}, false
	}
	return chunk{key, offset, length}, true
}

// Files returns the files below a folder of the attempt, with one listing.
func (t *Attempt) Files(ctx context.Context, path ...string) ([]FileInfo, error) {
	if err := t.mayRead(ctx); err != nil {
		return nil, err
	}
	return t.files(ctx, t.prefix+join(path...)+"/")
}

func (t *Attempt) files(ctx context.Context, prefix string) ([]FileInfo, error) {
	var files []FileInfo
	last := ""
	err := t.archive.list(ctx, prefix, true, func(found entry) bool {
		slash := strings.LastIndexByte(found.key, '/')
		part, ok := parseChunk(found.key, found.key[slash+1:])
		if !ok {
			return true
		}
		folder := found.key[:slash]
		path, ok := split(folder[len(t.prefix):])
		if !ok {
			return true
		}
		if folder != last {
			files, last = append(files, FileInfo{Path: path}), folder
		}
		file := &files[len(files)-1]
		file.chunks, file.Stored = append(file.chunks, part), file.Stored+found.size
		if found.modified.After(file.Modified) {
			file.Modified = found.modified
		}
		return true
	})
	for i := range files {
		files[i].arrange()
	}
	return files, err
}

// arrange leaves the chunks that are needed, in order, up to the first gap.
func (f *FileInfo) arrange() {
	slices.SortFunc(f.chunks, func(a, b chunk) int { return cmp.Compare(a.offset, b.offset) })
	var needed []chunk
	var next chunk // of those that begin within what is covered, the one that reaches farthest
	use := func() {
		if next.end() > f.Size {
			f.Size, needed = next.end(), append(needed, next)
		}
	}
	for _, part := range f.chunks {
		if part.offset > f.Size {
			use()
		}
		if part.offset > f.Size {
			break
		}
		if part.end() > next.end() {
			next = part
		}
	}
	use()
	f.chunks = needed
}

// Stat describes the file.
func (f *File) Stat(ctx context.Context) (FileInfo, error) {
	if err := f.attempt.mayRead(ctx); err != nil {
		return FileInfo{}, err
	}
	info, ok, err := f.stat(ctx)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", f.folder(), errNotFound)
	}
	return info, err
}

func (f *File) stat(ctx context.Context) (FileInfo, bool, error) {
	files, err := f.attempt.files(ctx, f.folder())
	if err != nil || len(files) == 0 {
		return FileInfo{Path: f.path}, false, err
	}
	return files[0], true, nil
}

// Open opens the file, or a range of it. With a negative length, it reads to the end that the file has now.
func (f *File) Open(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
	info, err := f.Stat(ctx)
	if err != nil {
		return nil, err
	}
	return f.attempt.Read(ctx, info, offset, length), nil
}

// Read reads a range of a file that Files or Stat described, without another listing. With a negative length, it reads to the end.
func (t *Attempt) Read(ctx context.Context, info FileInfo, offset, length int64) io.ReadCloser {
	end := info.Size
	if length >= 0 && length < end-offset { // a sum could be too large for an int64
		end = offset + length
	}
	return &reader{ctx: ctx, archive: t.archive, chunks: info.chunks, position: max(offset, 0), end: end}
}

// reader reads a range of a file, one chunk after the other.
type reader struct {
	ctx      context.Context //nolint:containedctx // a reader takes none
	archive  *Archive
	chunks   []chunk
	position int64
	end      int64
	content  []byte
}

// Read implements io.Reader.
func (r *reader) Read(into []byte) (int, error) {
	if len(r.content) == 0 {
		if r.position >= r.end {
			return 0, io.EOF
		}
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	count := copy(into, r.content)
	r.content, r.position = r.content[count:], r.position+int64(count)
	return count, nil
}

// Close implements io.Closer.
func (r *reader) Close() error {
	r.chunks, r.content, r.end = nil, nil, 0
	return nil
}

// next reads the chunk with the byte at the position.
func (r *reader) next() error {
	for len(r.chunks) > 0 && r.chunks[0].end() <= r.position {
		r.chunks = r.chunks[1:]
	}
	if len(r.chunks) == 0 {
		return io.ErrUnexpectedEOF
	}
	content, err := r.archive.readChunk(r.ctx, r.chunks[0])
	if err != nil {
		return err
	}
	r.content = content[r.position-r.chunks[0].offset:]
	r.content = r.content[:min(int64(len(r.content)), r.end-r.position)]
	return nil
}

// readChunk reads one chunk. It has as many bytes as its name says.
func (a *Archive) readChunk(ctx context.Context, part chunk) ([]byte, error) {
	const overhead = 64 << 10 // what compression may add to what cannot be compressed
	stored, err := a.get(ctx, part.key, MaxChunk+overhead)
	if err != nil {
		return nil, err
	}
	decompressor, err := gzip.NewReader(bytes.NewReader(stored))
	if err != nil {
		return nil, failure("read", part.key, err)
	}
	content := make([]byte, part.length)
	if _, err := io.ReadFull(decompressor, content); err != nil {
		return nil, failure("read", part.key, err)
	}
	return content, nil
}
