package archive

import (
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
// writer that was interrupted may write again: equal offsets have equal bytes. What may differ is behind a fence, which the names of its chunks have.
type File struct {
	attempt *Attempt
	path    []string
	// fence is the one behind which chunks are written.
	fence fence
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
	// fence is the last one, and gap reports whether one of them is behind other bytes.
	fence fence
	gap   bool
}

// chunk is a part of a file. Large files have many: their keys are not kept.
type chunk struct {
	// folder is that of the file, which all of its chunks share.
	folder string
	// length is how much of it counts, of the stored bytes.
	offset, length, stored int64
	fence                  fence
}

func (c chunk) end() int64 { return c.offset + c.length }

func (c chunk) key() string {
	fenced := ""
	if c.fence != (fence{}) {
		fenced = fmt.Sprintf("-%d-%016x-%016x", c.fence.offset, c.fence.id, c.fence.behind)
	}
	return fmt.Sprintf("%s%0*d-%d%s%s", c.folder, offsetDigits, c.offset, c.stored, fenced, chunkSuffix)
}

// Last returns where the last chunk of the file begins, and its length.
func (f FileInfo) Last() (offset, length int64) {
	if len(f.chunks) == 0 {
		return 0, 0
	}
	last := f.chunks[len(f.chunks)-1]
	return last.offset, last.length
}

// File returns a file of the attempt.
func (t *Attempt) File(path ...string) *File { return &File{attempt: t, path: path} }

func (f *File) folder() string { return f.attempt.prefix + join(f.path...) + "/" }

// Append stores bytes from an offset on, as one chunk. The caller keeps the offsets. Without bytes, at offset 0, it creates an empty file.
func (f *File) Append(ctx context.Context, offset int64, content []byte) error {
	if len(content) > MaxChunk || offset < 0 {
		return fmt.Errorf("write %s: a chunk has at most %d bytes, and its offset is not negative", f.folder(), MaxChunk)
	}
	return f.attempt.put(ctx, f.chunkKey(offset, int64(len(content))), compress(content))
}

// Extend stores the chunk at an offset again, with more in it, and deletes the one of the earlier length. Without one, that length is 0.
func (f *File) Extend(ctx context.Context, offset int64, content []byte, before int64) error {
	if err := f.Append(ctx, offset, content); err != nil {
		return err
	}
	if before <= 0 || before >= int64(len(content)) {
		return nil
	}
	if err := f.attempt.delete(ctx, f.chunkKey(offset, before)); err != nil {
		return fmt.Errorf("after a longer chunk was written: %w", err)
	}
	return nil
}

func (f *File) chunkKey(offset, length int64) string {
	return chunk{f.folder(), offset, length, length, f.fence}.key()
}

// parseChunk returns the chunk with a name in a folder.
func parseChunk(folder, name string) (chunk, bool) {
	first, rest, _ := strings.Cut(name, "-")
	rest, _ = strings.CutSuffix(rest, chunkSuffix)
	second, fenced, _ := strings.Cut(rest, "-")
	offset, err := strconv.ParseInt(first, 10, 64)
	length, err2 := strconv.ParseInt(second, 10, 64)
	part := chunk{folder, offset, length, length, parseFence(fenced)}
	ok := errors.Join(err, err2) == nil && offset >= 0 && length >= 0 && length <= MaxChunk && part.key() == folder+name
	return part, ok
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
		slash := strings.LastIndexByte(found.key, '/') + 1
		folder := found.key[:slash]
		if folder == last {
			folder = last // one text for all chunks
		}
		part, ok := parseChunk(folder, found.key[slash:])
		if !ok {
			return true
		}
		path, ok := split(folder[len(t.prefix) : slash-1])
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

// arrange leaves the chunks that are needed, in order, up to the first hole. Where a fence begins, the chunks behind it count.
func (f *FileInfo) arrange() {
	slices.SortFunc(f.chunks, func(a, b chunk) int { return cmp.Compare(a.offset, b.offset) })
	segments := map[fence][]chunk{}
	for _, part := range f.chunks {
		segments[part.fence] = append(segments[part.fence], part)
	}
	f.chunks = nil
	for {
		f.cover(segments[f.fence])
		delete(segments, f.fence)
		next, ok := f.nextFence(segments)
		if !ok {
			return
		}
		f.truncate(next.offset)
		f.fence, f.gap = next, f.gap || next.offset > 0
	}
}

// cover adds the chunks that are needed, of those behind one fence.
func (f *FileInfo) cover(parts []chunk) {
	var next chunk // of those that begin within what is covered, the one that reaches farthest
	use := func() {
		if next.end() > f.Size {
			f.Size, f.chunks = next.end(), append(f.chunks, next)
		}
	}
	for _, part := range parts {
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

// reader reads a range of a file, one chunk after the other. Who reads slowly takes little memory: no chunk is ever held as a whole.
type reader struct {
	ctx      context.Context //nolint:containedctx // a reader takes none
	archive  *Archive
	chunks   []chunk
	position int64
	end      int64
	// open is the chunk that is being read, if any.
	open *chunkReader
}

// Read implements io.Reader.
func (r *reader) Read(into []byte) (int, error) {
	for len(r.chunks) > 0 && r.chunks[0].end() <= r.position {
		r.chunks = r.chunks[1:]
		r.closeChunk()
	}
	switch {
	case r.position >= r.end:
		return 0, io.EOF
	case len(r.chunks) == 0:
		return 0, io.ErrUnexpectedEOF
	}
	into = into[:min(int64(len(into)), r.end-r.position, r.chunks[0].end()-r.position)]
	for progress := r.open != nil; ; progress = false {
		count, err := r.readChunk(into)
		r.position += int64(count)
		if count > 0 || err == nil {
			return count, nil
		}
		r.closeChunk()
		if !progress {
			return 0, failure("read", r.chunks[0].key(), err)
		}
		// Storage ends the connection of who reads slowly: another one goes on from here.
	}
}

// readChunk reads from the chunk with the byte at the position.
func (r *reader) readChunk(into []byte) (int, error) {
	if r.open == nil {
		open, err := r.archive.openChunk(r.ctx, r.chunks[0])
		if err != nil {
			return 0, err
		}
		r.open = open
		if _, err := io.CopyN(io.Discard, open, r.position-r.chunks[0].offset); err != nil {
			return 0, noEOF(err)
		}
	}
	count, err := r.open.Read(into)
	return count, noEOF(err)
}

// noEOF returns the error of something that ends before its end.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (r *reader) closeChunk() {
	if r.open != nil {
		r.open.close()
		r.open = nil
	}
}

// Close implements io.Closer.
func (r *reader) Close() error {
	r.closeChunk()
	r.chunks, r.end = nil, 0
	return nil
}

// chunkReader reads a chunk from its beginning.
type chunkReader struct {
	stored       io.ReadCloser
	decompressed *gzip.Reader
	// cancel ends the request to the storage, and timer does if the storage sends nothing for long.
	cancel func()
	timer  *time.Timer
}

// openChunk opens a chunk. Its reader must be closed.
func (a *Archive) openChunk(ctx context.Context, part chunk) (*chunkReader, error) {
	ctx, cancel := context.WithCancel(ctx)
	r := &chunkReader{cancel: cancel, timer: time.AfterFunc(requestTimeout, cancel)}
	stored, err := a.bucket.NewReader(ctx, part.key(), nil)
	if err != nil {
		r.close()
		return nil, err
	}
	r.stored = stored
	if r.decompressed, err = gzip.NewReader(stored); err != nil {
		r.close()
		return nil, noEOF(err)
	}
	r.timer.Stop()
	return r, nil
}

// Read implements io.Reader.
func (r *chunkReader) Read(into []byte) (int, error) {
	r.timer.Reset(requestTimeout)
	defer r.timer.Stop()
	return r.decompressed.Read(into)
}

func (r *chunkReader) close() {
	r.timer.Stop()
	r.cancel()
	if r.stored != nil {
		_ = r.stored.Close() // nothing was written
	}
}

// readChunk reads one chunk. It has as many bytes as its name says.
func (a *Archive) readChunk(ctx context.Context, part chunk) ([]byte, error) {
	reader, err := a.openChunk(ctx, part)
	if err != nil {
		return nil, failure("read", part.key(), err)
	}
	defer reader.close()
	content := make([]byte, part.length)
	if _, err := io.ReadFull(reader, content); err != nil {
		return nil, failure("read", part.key(), err)
	}
	return content, nil
}
