package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// View is the flat folder that the History Server reads. It is empty until Refresh.
type View struct {
	shown atomic.Pointer[folder]

	// reading has a place for each file that is being read.
	reading     chan struct{}
	makeReading sync.Once

	mutex sync.Mutex
	// lists holds the last list of each source, by its name.
	lists map[string][]Log
}

// folder is a folder of the view: the root, or one of a rolled log.
type folder struct {
	files    map[string]*file
	folders  map[string]*folder
	modified time.Time
}

// file is a file of the view.
type file struct {
	File
	source Source
	id     string
}

func newFolder() *folder { return &folder{files: map[string]*file{}, folders: map[string]*folder{}} }

const (
	// parallel bounds how many sources are listed at once.
	parallel = 8
	// listTimeout bounds the time to list a source. Storage that does not answer keeps the others from being refreshed for no longer.
	listTimeout = 2 * time.Minute
)

// maxReading bounds the files that are read at once: a line of the list, and what it is checked with, takes up to 12 MiB.
const maxReading = 16

// read waits until a file may be read. The caller must call release once.
func (v *View) read(ctx context.Context) (release func(), err error) {
	v.makeReading.Do(func() { v.reading = make(chan struct{}, maxReading) })
	select {
	case v.reading <- struct{}{}:
		return func() { <-v.reading }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Refresh shows what the sources hold now. A source that cannot be listed shows what it held before; Refresh returns its error.
func (v *View) Refresh(ctx context.Context, sources []Source) error {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	logs, errs := make([][]Log, len(sources)), make([]error, len(sources))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, source := range sources {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, listTimeout)
			defer cancel()
			if logs[i], errs[i] = source.Logs(ctx); errs[i] != nil {
				logs[i] = v.lists[source.Name()]
			}
			return nil // the others go on
		})
	}
	_ = group.Wait() // the errors are in errs
	root, lists := newFolder(), map[string][]Log{}
	for i, source := range sources {
		lists[source.Name()] = logs[i]
		for n := range logs[i] {
			root.add(source, &logs[i][n])
		}
	}
	v.lists = lists
	v.shown.Store(root)
	return errors.Join(errs...)
}

// add adds a log to the root folder. The History Server fails on a folder without status file or events, such as one whose driver just begins.
func (f *folder) add(source Source, log *Log) {
	in, names := f, map[string]*file{}
	for _, logFile := range log.Files {
		names[shownName(logFile.Name, log)] = &file{File: logFile, source: source, id: log.ID}
	}
	for name := range names {
		// Storage does not rename: the file of a run in progress may be there beside the final one.
		if final, inProgress := strings.CutSuffix(name, inProgressSuffix); inProgress && names[final] != nil {
			delete(names, name)
		}
	}
	if log.Rolled {
		if !isComplete(names) {
			return
		}
		in = newFolder()
		f.folders[rolledPrefix+log.ID] = in
	}
	maps.Copy(in.files, names)
	for _, shown := range names {
		in.modified = latest(in.modified, shown.Modified)
	}
	f.modified = latest(f.modified, in.modified)
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// isComplete reports whether a folder has a status file and events.
func isComplete(names map[string]*file) bool {
	status, events := false, false
	for name := range names {
		isStatus := strings.HasPrefix(name, statusPrefix)
		status, events = status || isStatus, events || !isStatus
	}
	return status && events
}

var rolledName = regexp.MustCompile(`^(events_[0-9]+_|` + statusPrefix + `).*?(\.inprogress|\.compact)?$`)

// shownName returns the name of a file in the view, with the ID in the place of the application's.
func shownName(name string, log *Log) string {
	if log.Rolled {
		return rolledName.ReplaceAllString(name, "${1}"+log.ID+"${2}")
	}
	if strings.HasSuffix(name, inProgressSuffix) {
		return log.ID + inProgressSuffix
	}
	return log.ID
}

// status is what the view knows of a path.
type status struct {
	name     string
	isFolder bool
	size     int64
	modified time.Time
	children int
}

// stat returns what a path is.
func (v *View) stat(name string) (status, error) {
	if folder, err := v.folder(name); err == nil {
		return folder.status(""), nil
	}
	file, err := v.file(name)
	if err != nil {
		return status{}, err
	}
	return file.status(""), nil
}

// list returns what a folder holds, or the one file that a path names.
func (v *View) list(name string) ([]status, error) {
	folder, err := v.folder(name)
	if err != nil {
		file, err := v.file(name)
		if err != nil {
			return nil, err
		}
		return []status{file.status("")}, nil
	}
	statuses := make([]status, 0, len(folder.folders)+len(folder.files))
	for _, name := range slices.Sorted(maps.Keys(folder.folders)) {
		statuses = append(statuses, folder.folders[name].status(name))
	}
	for _, name := range slices.Sorted(maps.Keys(folder.files)) {
		statuses = append(statuses, folder.files[name].status(name))
	}
	return statuses, nil
}

func (f *folder) status(name string) status {
	return status{name: name, isFolder: true, modified: f.modified, children: len(f.files) + len(f.folders)}
}

func (f *file) status(name string) status {
	return status{name: name, size: f.length(), modified: f.Modified}
}

// folder returns the root or a folder in it.
func (v *View) folder(name string) (*folder, error) {
	root := v.shown.Load()
	if root == nil {
		root = newFolder()
	}
	if name = path.Clean("/" + name); name == "/" {
		return root, nil
	}
	if folder := root.folders[name[1:]]; folder != nil {
		return folder, nil
	}
	return nil, ErrNotFound
}

// file returns the file with a path.
func (v *View) file(name string) (*file, error) {
	dir, base := path.Split(path.Clean("/" + name))
	folder, err := v.folder(dir)
	if err != nil {
		return nil, err
	}
	if file := folder.files[base]; file != nil {
		return file, nil
	}
	return nil, ErrNotFound
}

// open opens a file from an offset to its end. It returns the number of bytes from there, too.
func (v *View) open(ctx context.Context, name string, offset int64) (io.ReadCloser, int64, error) {
	f, err := v.file(name)
	if err != nil {
		return nil, 0, err
	}
	length := f.length() - offset
	if offset < 0 || length < 0 {
		return nil, 0, fmt.Errorf("offset %d is outside of %s, which has %d bytes", offset, name, f.length())
	}
	if length == 0 {
		return io.NopCloser(strings.NewReader("")), 0, nil
	}
	s, err := f.start(ctx)
	if err != nil {
		return nil, 0, err
	}
	parts, closer, err := f.open(ctx, s, offset)
	if err != nil {
		return nil, 0, err
	}
	return struct {
		io.Reader
		io.Closer
	}{parts, closer}, length, nil
}

// length returns the length that the view shows. An empty file stays empty: it is a status.
func (f *file) length() int64 {
	if f.Size == 0 {
		return 0
	}
	return f.Size + growth
}

// start finds the start of the application in the file.
func (f *file) start(ctx context.Context) (start, error) {
	in, err := f.source.Open(ctx, f.Key, 0, f.Size)
	if err != nil {
		return start{}, err
	}
	s, err := findStart(in, f.id)
	return s, errors.Join(err, in.Close())
}

// open opens the parts that the view shows, from an offset on: a line that is ignored, what is before the start, the start, and what follows it.
func (f *file) open(ctx context.Context, s start, offset int64) (io.Reader, io.Closer, error) {
	grown := int64(len(s.line)) - (s.to - s.from)
	// Behind the start, an offset is growth behind that of the stored file.
	if from := offset - growth; from >= s.to {
		begin, found, err := f.lineStart(ctx, from)
		if err != nil {
			return nil, nil, err
		}
		in, err := f.source.Open(ctx, f.Key, begin, f.Size-begin)
		if err != nil {
			return nil, nil, err
		}
		if !found {
			return newBlankReader(in), in, nil
		}
		return skip(newLineReader(in), in, from-begin)
	}
	in, err := f.source.Open(ctx, f.Key, 0, f.Size)
	if err != nil {
		return nil, nil, err
	}
	head, before := bytes.NewReader(filler(int(growth-grown))), newLineReader(io.LimitReader(in, s.from))
	after := &later{func() (io.Reader, error) {
		_, err := io.CopyN(io.Discard, in, s.to-s.from)
		return newLineReader(in), err
	}, nil}
	return skip(io.MultiReader(head, before, bytes.NewReader(s.line), after), in, offset)
}

// skip skips the beginning of what is read. It closes the file if that fails.
func skip(in io.Reader, closer io.Closer, length int64) (io.Reader, io.Closer, error) {
	if _, err := io.CopyN(io.Discard, in, length); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("skip %d bytes: %w", length, err), closer.Close())
	}
	return in, closer, nil
}

// later is a reader that begins when it is read.
type later struct {
	begin func() (io.Reader, error)
	in    io.Reader
}

// Read implements io.Reader.
func (l *later) Read(p []byte) (n int, err error) {
	if l.in == nil {
		if l.in, err = l.begin(); err != nil {
			return 0, err
		}
	}
	return l.in.Read(p)
}

// lineStart returns where the line begins that holds an offset; the offset, and false, if more of the line is before it than is shown.
func (f *file) lineStart(ctx context.Context, offset int64) (int64, bool, error) {
	const window, maxWindow = 4 << 10, 1 << 20
	for size, end := int64(window), offset; end > 0; size = min(2*size, maxWindow) {
		if offset-end > maxShown {
			return offset, false, nil
		}
		start := max(0, end-size)
		text, err := f.read(ctx, start, end-start)
		if err != nil {
			return 0, false, err
		}
		if at := bytes.LastIndexByte(text, '\n'); at >= 0 {
			begin := start + int64(at) + 1
			if offset-begin > maxShown {
				return offset, false, nil
			}
			return begin, true, nil
		}
		end = start
	}
	return 0, true, nil
}

func (f *file) read(ctx context.Context, offset, length int64) ([]byte, error) {
	in, err := f.source.Open(ctx, f.Key, offset, length)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(in)
	return text, errors.Join(err, in.Close())
}
