package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Attempt is what is stored of one attempt. Nothing that it does leaves the folder of the attempt.
type Attempt struct {
	archive *Archive
	id      ID
	prefix  string
	invalid error

	mu sync.Mutex
	// readable reports whether it is known that the application is that of the namespace's uid.
	readable bool
	// written holds the sizes of the objects that were written; nil if they are not checked.
	written map[string]int64
}

// Attempt returns an attempt of an application.
func (a *Archive) Attempt(id ID, attempt int64) *Attempt {
	t := &Attempt{archive: a, id: id, prefix: id.folder() + itoa(attempt) + "/", written: map[string]int64{}, invalid: id.check()}
	if attempt < 0 {
		t.invalid = errors.Join(t.invalid, fmt.Errorf("there is no attempt %d", attempt))
	}
	return t
}

// Unchecked lets the attempt not remember what is written, for a writer that writes much and does not call Check.
func (t *Attempt) Unchecked() *Attempt {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written = nil
	return t
}

// mayRead returns nil if the application is one of the namespace that was named, by the namespace's uid.
func (t *Attempt) mayRead(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.readable {
		return nil
	}
	if _, err := t.archive.Application(ctx, t.id); err != nil {
		return err
	}
	t.readable = true
	return nil
}

func (t *Attempt) put(ctx context.Context, key string, content []byte) error {
	if t.invalid != nil {
		return t.invalid
	}
	if err := t.archive.put(ctx, key, content, false); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.written != nil {
		t.written[key] = int64(len(content))
	}
	return nil
}

func (t *Attempt) delete(ctx context.Context, key string) error {
	err := t.archive.delete(ctx, key)
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.written, key)
	return err
}

// Put stores an object. It is compressed if its name ends with .gz.
func (t *Attempt) Put(ctx context.Context, content []byte, path ...string) error {
	if strings.HasSuffix(path[len(path)-1], compressed) {
		content = compress(content)
	}
	return t.put(ctx, t.prefix+join(path...), content)
}

// Get reads an object of at most limit bytes, and decompresses it if its name ends with .gz.
func (t *Attempt) Get(ctx context.Context, limit int64, path ...string) ([]byte, error) {
	if err := t.mayRead(ctx); err != nil {
		return nil, err
	}
	return t.archive.get(ctx, t.prefix+join(path...), limit)
}

// WriteManifest stores the manifest, and returns the one that the archive has then. Two writers may archive an attempt at once: the manifest of the first
// one stays, since what it says may be recorded already. One of another launch, or one that cannot be read, is replaced.
func (t *Attempt) WriteManifest(ctx context.Context, manifest *Manifest) (*Manifest, error) {
	manifest.Format = Format
	slices.SortFunc(manifest.Logs, Log.Compare)
	if t.invalid != nil {
		return nil, t.invalid
	}
	key := t.prefix + manifestFile
	err := t.archive.putDescription(ctx, key, manifest, true)
	if !isThere(err) {
		return manifest, err
	}
	var stored Manifest
	err = t.archive.getJSON(ctx, key, &stored)
	switch {
	case err == nil && stored.ApplicationID == manifest.ApplicationID:
		return &stored, nil
	case err != nil && IsStorage(err) && !IsNotFound(err):
		return nil, err
	}
	return manifest, t.archive.putDescription(ctx, key, manifest, false)
}

// Manifest returns the manifest. It is not found before the attempt is archived.
func (t *Attempt) Manifest(ctx context.Context) (*Manifest, error) {
	if err := t.mayRead(ctx); err != nil {
		return nil, err
	}
	var manifest Manifest
	if err := t.archive.getJSON(ctx, t.prefix+manifestFile, &manifest); err != nil {
		return nil, err
	}
	return &manifest, nil
}

// Check lists what is stored, and returns the objects that were written and are not there, or have another size.
func (t *Attempt) Check(ctx context.Context) ([]string, error) {
	stored := map[string]int64{}
	if err := t.archive.list(ctx, t.prefix, true, func(found entry) bool {
		stored[found.key] = found.size
		return true
	}); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var lost []string
	for key, size := range t.written {
		if there, ok := stored[key]; !ok || there != size {
			lost = append(lost, key[len(t.prefix):])
		}
	}
	slices.Sort(lost)
	return lost, nil
}

// LogInfo is a stored log.
type LogInfo struct {
	LogID
	// Bytes is its size, with the kubelet's timestamps.
	Bytes int64
	// Gap reports whether lines are missing in between.
	Gap bool
}

// Logs returns the logs of which anything is stored, also while the attempt runs.
func (t *Attempt) Logs(ctx context.Context) ([]LogInfo, error) {
	files, err := t.Files(ctx, logsFolder)
	return logsIn(files), err
}

// Written is Logs for those who write the attempt.
func (t *Attempt) Written(ctx context.Context) ([]LogInfo, error) {
	if t.invalid != nil {
		return nil, t.invalid
	}
	files, err := t.files(ctx, t.prefix+logsFolder+"/")
	return logsIn(files), err
}

// DescribeFollowed stores the description of a log that was followed. The Pod may be gone before its attempt is archived.
func (t *Attempt) DescribeFollowed(ctx context.Context, log Log) error {
	encoded, err := json.Marshal(log)
	if err != nil {
		return fmt.Errorf("encode the description of a log: %w", err)
	}
	return t.Put(ctx, encoded, append(log.path(), followedFile)...)
}

// Followed returns the description of a log that was followed. It is not found if the log was not followed to its end.
func (t *Attempt) Followed(ctx context.Context, id LogID) (*Log, error) {
	if t.invalid != nil {
		return nil, t.invalid
	}
	var log Log
	if err := t.archive.getJSON(ctx, t.prefix+join(append(id.path(), followedFile)...), &log); err != nil {
		return nil, err
	}
	return &log, nil
}

func logsIn(files []FileInfo) []LogInfo {
	var logs []LogInfo
	for _, file := range files {
		if len(file.Path) != len(LogID{}.path()) {
			continue
		}
		restart, err := strconv.ParseInt(file.Path[4], 10, 32)
		if err != nil {
			continue
		}
		logs = append(logs, LogInfo{LogID{file.Path[1], types.UID(file.Path[2]), file.Path[3], int32(restart)}, file.Size, file.gap})
	}
	return logs
}
